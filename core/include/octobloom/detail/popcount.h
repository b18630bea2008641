#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace octobloom::detail {

/// std::popcount for loops over many words. That one is a call for each of them where the compiler
/// may not count on an instruction, as on plain x86-64; this is arithmetic that it turns into
/// vectors.
constexpr std::uint64_t popcount(std::uint64_t word) noexcept {
  word -= word >> 1 & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
  word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
  word += word >> 8;
  word += word >> 16;
  word += word >> 32;
  return word & 0x7F;
}

/// The bits that are set in a bitmap of `bytes` bytes.
inline std::uint64_t popcount(const std::uint8_t* bitmap, std::size_t bytes) noexcept {
  std::uint64_t bits = 0;
  const std::size_t whole = bytes / sizeof(std::uint64_t) * sizeof(std::uint64_t);
  for (std::size_t i = 0; i < whole; i += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, bitmap + i, sizeof word);
    bits += popcount(word);
  }
  for (std::size_t i = whole; i < bytes; ++i) bits += popcount(bitmap[i]);
  return bits;
}

}  // namespace octobloom::detail
