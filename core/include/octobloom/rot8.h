#pragma once

#include <cstdint>

#include <octobloom/detail/host_device.h>

/// From hash to bits: layout `rot8`. A block is 512 bits, one cache line, eight 64-bit words. The
/// upper half of the hash chooses the block, the lower half the bits, so the two share nothing.
namespace octobloom::rot8 {

inline constexpr unsigned words_per_block = 8;
inline constexpr unsigned bits_per_block = 512;
inline constexpr unsigned bytes_per_block = 64;
inline constexpr unsigned max_k = 24;
inline constexpr std::uint32_t start_multiplier = 0x99489901u;

/// Salt i of 24: odd 32-bit multipliers. The first eight are those of Parquet's split-block filter.
OCTOBLOOM_HOST_DEVICE constexpr std::uint32_t salt(unsigned i) noexcept {
  constexpr std::uint32_t table[max_k] = {
      0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du, 0x705495c7u, 0x2df1424bu,
      0x9efc4947u, 0x5c6bfb31u, 0xa9d111a1u, 0xf713f8edu, 0x80e6721du, 0x5c3f42cbu,
      0x980d78ebu, 0xd933f62fu, 0x0cb38e43u, 0x6820371du, 0x583ab917u, 0xce53fecfu,
      0x42571d85u, 0x5c0b9817u, 0x44b5f865u, 0x05269a55u, 0x8ae3fd11u, 0xd1caf6b7u};
  return table[i];  // NOLINT(clang-analyzer-core.uninitialized.UndefReturn): k is at most 24
}

/// The block of hash `h` among `blocks`, 1 <= blocks < 2^32: the upper 32 bits scaled to the range
/// (Lemire, "Fast random integer generation in an interval", without the rejection step).
OCTOBLOOM_HOST_DEVICE constexpr std::uint32_t block_index(std::uint64_t h,
                                                          std::uint32_t blocks) noexcept {
#if defined(__CUDA_ARCH__)
  // The upper half of a 32-bit product, which a device's compiler does not see in the line below.
  if (!__builtin_is_constant_evaluated()) {
    return __umulhi(static_cast<std::uint32_t>(h >> 32), blocks);
  }
#endif
  return static_cast<std::uint32_t>(((h >> 32) * blocks) >> 32);
}

/// The part of the hash that chooses bits.
OCTOBLOOM_HOST_DEVICE constexpr std::uint32_t pattern_source(std::uint64_t h) noexcept {
  return static_cast<std::uint32_t>(h);
}

/// The bit, 0 to 63, that the multiplier `salt` chooses in its word.
OCTOBLOOM_HOST_DEVICE constexpr unsigned salted_bit(std::uint32_t x, std::uint32_t salt) noexcept {
  return (x * salt) >> 26;
}

/// The bit, 0 to 63, that salt `i` chooses in its word.
OCTOBLOOM_HOST_DEVICE constexpr unsigned bit_index(std::uint32_t x, unsigned i) noexcept {
  return salted_bit(x, salt(i));
}

/// The first word, 0 to 7, of a partial round.
OCTOBLOOM_HOST_DEVICE constexpr unsigned partial_start(std::uint32_t x) noexcept {
  return (x * start_multiplier) >> 29;
}

/// Whether word `w` gets a bit in the partial round of `rest` words, 0 <= rest <= 8 (all of them
/// for 8).
OCTOBLOOM_HOST_DEVICE constexpr bool in_partial_round(std::uint32_t x, unsigned rest,
                                                      unsigned w) noexcept {
  return ((w - partial_start(x)) & 7u) < rest;
}

/// Word `w` of the pattern of `x` with `k` bits, 1 <= k <= 24: one bit from each full round, and
/// one more when `w` is among the k mod 8 words from `partial_start(x)` on, cyclically. Rounds may
/// choose the same bit, so a pattern has at most k bits.
OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t pattern_word(std::uint32_t x, unsigned k,
                                                           unsigned w) noexcept {
  const unsigned rounds = k / words_per_block;
  const unsigned rest = k % words_per_block;
  std::uint64_t word = 0;
  for (unsigned t = 0; t < rounds; ++t) {
    word |= std::uint64_t{1} << bit_index(x, words_per_block * t + w);
  }
  if (rest > 0 && in_partial_round(x, rest, w)) {
    word |= std::uint64_t{1} << bit_index(x, words_per_block * rounds + w);
  }
  return word;
}

}  // namespace octobloom::rot8
