#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <octobloom/hash.h>
#include <octobloom/rot8.h>

namespace octobloom {

/// Whether the body of a filter file, little-endian words, can be used in place. Filters in memory
/// are words of this machine everywhere, and saving and loading swap them where it needs that.
inline constexpr bool files_can_be_used_in_place = std::endian::native == std::endian::little;

/// Who turns keys into hashes; the number is the file's hash id.
enum class key_hashing : std::uint8_t {
  caller = 0,  ///< only ready, well-mixed 64-bit hashes are accepted
  xxh64 = 1,   ///< XXH64 with the filter's seed
};

/// What decides the bits of a key: two filters of one shape can be merged and compared.
struct filter_shape {
  std::uint32_t blocks = 0;  ///< 1 <= blocks < 2^32, of 64 bytes
  std::uint32_t k = 0;       ///< bits per key, 1 to 24
  std::uint64_t seed = 0;
  key_hashing hashing = key_hashing::xxh64;

  [[nodiscard]] constexpr std::uint64_t bytes() const noexcept {
    return std::uint64_t{blocks} * rot8::bytes_per_block;
  }
  [[nodiscard]] constexpr std::uint64_t word_count() const noexcept {
    return std::uint64_t{blocks} * rot8::words_per_block;
  }
  friend constexpr bool operator==(const filter_shape&, const filter_shape&) noexcept = default;
};

/// A filter in somebody else's memory: read only. Trivially copyable. `words` is 64-byte aligned
/// and holds shape.word_count() words of this machine. Concurrent reads are safe.
class const_filter_view {
 public:
  constexpr const_filter_view(const std::uint64_t* words, const filter_shape& shape) noexcept
      : words_(words), shape_(shape) {}

  [[nodiscard]] constexpr const std::uint64_t* words() const noexcept { return words_; }
  [[nodiscard]] constexpr const filter_shape& shape() const noexcept { return shape_; }
  [[nodiscard]] constexpr std::uint32_t blocks() const noexcept { return shape_.blocks; }
  [[nodiscard]] constexpr std::uint32_t k() const noexcept { return shape_.k; }
  [[nodiscard]] constexpr std::uint64_t seed() const noexcept { return shape_.seed; }

  /// Whether a key of this hash may have been inserted: never a false "no". One cache line.
  [[nodiscard]] constexpr bool may_contain_hash(std::uint64_t hash) const noexcept {
    const std::uint64_t* block = words_ + block_offset(hash);
    const std::uint32_t x = rot8::pattern_source(hash);
    for (unsigned w = 0; w < rot8::words_per_block; ++w) {
      if ((rot8::pattern_word(x, shape_.k, w) & ~block[w]) != 0) return false;
    }
    return true;
  }

 protected:
  [[nodiscard]] constexpr std::size_t block_offset(std::uint64_t hash) const noexcept {
    return std::size_t{rot8::block_index(hash, shape_.blocks)} * rot8::words_per_block;
  }

 private:
  const std::uint64_t* words_;
  filter_shape shape_;
};

/// A filter in somebody else's memory. Trivially copyable. Writers need the filter to themselves.
class filter_view : public const_filter_view {
 public:
  constexpr filter_view(std::uint64_t* words, const filter_shape& shape) noexcept
      : const_filter_view(words, shape), words_(words) {}

  [[nodiscard]] constexpr std::uint64_t* words() const noexcept { return words_; }

  constexpr void insert_hash(std::uint64_t hash) const noexcept { (void)insert_new_hash(hash); }

  /// Inserts, and tells whether the key was absent before (false: a repeat, or a false positive).
  constexpr bool insert_new_hash(std::uint64_t hash) const noexcept {
    std::uint64_t* block = words_ + block_offset(hash);
    const std::uint32_t x = rot8::pattern_source(hash);
    std::uint64_t absent = 0;
    for (unsigned w = 0; w < rot8::words_per_block; ++w) {
      const std::uint64_t pattern = rot8::pattern_word(x, k(), w);
      absent |= pattern & ~block[w];
      block[w] |= pattern;
    }
    return absent != 0;
  }

 private:
  std::uint64_t* words_;
};

/// Bytes of a result bitmap for `keys` keys: bit i mod 8 of byte i / 8 is key i, the rest of the
/// last byte is zero.
[[nodiscard]] constexpr std::size_t bitmap_bytes(std::size_t keys) noexcept {
  return keys / 8 + (keys % 8 != 0 ? 1 : 0);
}

[[nodiscard]] constexpr bool bitmap_get(const std::uint8_t* bitmap, std::size_t i) noexcept {
  return (bitmap[i / 8] >> (i % 8) & 1) != 0;
}

}  // namespace octobloom
