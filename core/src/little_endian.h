#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

/// A body in memory is 64-bit words of this machine, a body in a file is little-endian ones.
namespace octobloom::detail {

/// From this machine's words to little-endian ones, or back. `bytes` is whole words. O(size) on a
/// big-endian machine, nothing on a little-endian one.
inline void swap_to_little_endian(std::span<std::byte> bytes) noexcept {
  if constexpr (std::endian::native != std::endian::little) {
    for (; !bytes.empty(); bytes = bytes.subspan(sizeof(std::uint64_t))) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data(), sizeof word);
      word = __builtin_bswap64(word);
      std::memcpy(bytes.data(), &word, sizeof word);
    }
  }
}

/// Calls `use(piece)` with the little-endian bytes of `words`, piece by piece, each of whole 64
/// bytes when `words` is: copies on a big-endian machine, one piece and none of them on a
/// little-endian one.
template <class Use>
void for_little_endian(std::span<const std::byte> words, Use use) {
  if constexpr (std::endian::native == std::endian::little) {
    use(words);
  } else {
    std::array<std::byte, std::size_t{1} << 14> copy;
    while (!words.empty()) {
      const auto piece = std::span(copy).first(std::min(words.size(), copy.size()));
      std::memcpy(piece.data(), words.data(), piece.size());
      swap_to_little_endian(piece);
      use(std::span<const std::byte>(piece));
      words = words.subspan(piece.size());
    }
  }
}

}  // namespace octobloom::detail
