#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <octobloom/rot8.h>

namespace octobloom {

/// Where the fingerprints of a cuckoo filter lie, as docs/format-kinds.md defines it: lines of 64
/// bytes, in each whole buckets of four fingerprints. Trivially copyable; thread safe.
class cuckoo_shape {
 public:
  static constexpr unsigned slots_per_bucket = 4;
  static constexpr unsigned words_per_line = 8;

  /// The two buckets that may hold a key, and what is in a slot when they do.
  struct place {
    std::uint64_t fingerprint;  ///< never 0
    std::uint32_t first;
    std::uint32_t second;
  };
  struct bucket_place {
    std::size_t word;  ///< the first one of the line, from the filter's first word on
    unsigned bit;      ///< of the line
  };

  constexpr cuckoo_shape() = default;
  /// `bits` of a fingerprint: 8 to 32. At least one line, and fewer than 2^32 buckets.
  constexpr cuckoo_shape(std::uint32_t lines, std::uint32_t bits) noexcept
      : lines_(lines),
        bits_(bits),
        buckets_per_line_(buckets_in_line(bits)),
        buckets_(lines * buckets_per_line_),
        inverse_(~std::uint64_t{0} / buckets_per_line_ + 1),
        lane_ones_(low_bits(lanes() * bits) / low_bits(bits)) {}

  [[nodiscard]] static constexpr std::uint32_t buckets_in_line(std::uint32_t bits) noexcept {
    return 512 / (slots_per_bucket * bits);
  }
  /// `count`: 1 to 64.
  [[nodiscard]] static constexpr std::uint64_t low_bits(unsigned count) noexcept {
    return ~std::uint64_t{0} >> (64 - count);
  }

  [[nodiscard]] constexpr std::uint32_t lines() const noexcept { return lines_; }
  [[nodiscard]] constexpr std::uint32_t fingerprint_bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr std::uint32_t buckets_per_line() const noexcept {
    return buckets_per_line_;
  }
  [[nodiscard]] constexpr std::uint32_t buckets() const noexcept { return buckets_; }
  [[nodiscard]] constexpr std::uint64_t slots() const noexcept {
    return std::uint64_t{buckets_} * slots_per_bucket;
  }
  [[nodiscard]] constexpr std::uint64_t bytes() const noexcept {
    return std::uint64_t{lines_} * 64;
  }
  [[nodiscard]] constexpr std::uint64_t word_count() const noexcept {
    return std::uint64_t{lines_} * words_per_line;
  }

  [[nodiscard]] constexpr place place_of(std::uint64_t hash) const noexcept {
    const std::uint64_t fingerprint = 1 + ((hash & 0xFFFFFFFFu) * low_bits(bits_) >> 32);
    const std::uint32_t first = rot8::block_index(hash, buckets_);
    return {fingerprint, first, other_bucket(first, fingerprint)};
  }

  /// From either of a fingerprint's buckets to the other: they add up to a number that the
  /// fingerprint decides.
  [[nodiscard]] constexpr std::uint32_t other_bucket(std::uint32_t bucket,
                                                     std::uint64_t fingerprint) const noexcept {
    auto z = static_cast<std::uint32_t>(fingerprint) * first_factor;
    z = (z ^ z >> 15) * second_factor;
    const auto sum = static_cast<std::uint32_t>(std::uint64_t{z} * buckets_ >> 32);
    return sum >= bucket ? sum - bucket : sum + (buckets_ - bucket);
  }
  static constexpr std::uint32_t first_factor = 0x9E3779B1u;
  static constexpr std::uint32_t second_factor = 0x85EBCA77u;

  [[nodiscard]] constexpr bucket_place where_is(std::uint32_t bucket) const noexcept {
    // The product is off by less than bucket / 2^64: right for 32-bit numbers.
    __extension__ using wide = unsigned __int128;
    const auto line = static_cast<std::uint32_t>(static_cast<wide>(bucket) * inverse_ >> 64);
    return {std::size_t{line} * words_per_line,
            (bucket - line * buckets_per_line_) * slots_per_bucket * bits_};
  }
  /// floor(2^64 / buckets_per_line()) + 1, or 2^64 / buckets_per_line() when that is whole.
  [[nodiscard]] constexpr std::uint64_t inverse_of_buckets_per_line() const noexcept {
    return inverse_;
  }

  /// Fingerprints that are compared at a time: the four of a bucket when one word holds them, or
  /// two.
  [[nodiscard]] constexpr unsigned lanes() const noexcept {
    return bits_ * slots_per_bucket <= 64 ? slots_per_bucket : slots_per_bucket / 2;
  }
  /// 1 in each of the lanes.
  [[nodiscard]] constexpr std::uint64_t lane_ones() const noexcept { return lane_ones_; }

 private:
  std::uint32_t lines_ = 0;
  std::uint32_t bits_ = 0;
  std::uint32_t buckets_per_line_ = 0;
  std::uint32_t buckets_ = 0;
  std::uint64_t inverse_ = 0;
  std::uint64_t lane_ones_ = 0;
};

/// A cuckoo filter in somebody else's memory: read only, what engines probe. Trivially copyable.
/// `words` is 64-byte aligned and holds shape.word_count() words. Concurrent reads are safe.
class cuckoo_view {
 public:
  static constexpr unsigned no_slot = cuckoo_shape::slots_per_bucket;

  constexpr cuckoo_view(const std::uint64_t* words, const cuckoo_shape& shape,
                        std::uint64_t seed) noexcept
      : words_(words), shape_(shape), seed_(seed) {}

  [[nodiscard]] constexpr const std::uint64_t* words() const noexcept { return words_; }
  [[nodiscard]] constexpr const cuckoo_shape& shape() const noexcept { return shape_; }
  [[nodiscard]] constexpr std::uint64_t seed() const noexcept { return seed_; }

  /// Whether a key of this hash may have been inserted: never a false "no". Two cache lines.
  [[nodiscard]] constexpr bool may_contain_hash(std::uint64_t hash) const noexcept {
    const cuckoo_shape::place where = shape_.place_of(hash);
    const cuckoo_shape::bucket_place first = shape_.where_is(where.first);
    const cuckoo_shape::bucket_place second = shape_.where_is(where.second);
    std::uint64_t found = 0;
    for (unsigned lane = 0; lane < cuckoo_shape::slots_per_bucket; lane += shape_.lanes()) {
      found |= matches(first, lane, where.fingerprint) | matches(second, lane, where.fingerprint);
    }
    return found != 0;
  }

  /// The lowest slot of the bucket that holds `fingerprint`, 0 for an empty one; no_slot when none
  /// does.
  [[nodiscard]] constexpr unsigned find(std::uint32_t bucket,
                                        std::uint64_t fingerprint) const noexcept {
    const cuckoo_shape::bucket_place spot = shape_.where_is(bucket);
    for (unsigned lane = 0; lane < cuckoo_shape::slots_per_bucket; lane += shape_.lanes()) {
      const std::uint64_t found = matches(spot, lane, fingerprint);
      if (found != 0) {
        return lane + static_cast<unsigned>(std::countr_zero(found)) / shape_.fingerprint_bits();
      }
    }
    return no_slot;
  }

  /// What is in a slot; 0 when it is empty.
  [[nodiscard]] constexpr std::uint64_t fingerprint_at(const cuckoo_shape::bucket_place& bucket,
                                                       unsigned slot) const noexcept {
    const std::uint32_t bits = shape_.fingerprint_bits();
    return read_bits(words_ + bucket.word, bucket.bit + slot * bits) & cuckoo_shape::low_bits(bits);
  }

 private:
  /// The 64 bits from bit `at` of a line on, as far as it goes.
  static constexpr std::uint64_t read_bits(const std::uint64_t* line, unsigned at) noexcept {
    const unsigned word = at / 64;
    const unsigned shift = at % 64;
    const unsigned next = std::min(word + 1, cuckoo_shape::words_per_line - 1);
    return line[word] >> shift | line[next] << 1 << (63 - shift);
  }

  /// Of the lanes from `lane` on, the top bits of those that hold `fingerprint`. The lowest of
  /// these bits is right: x - 1 borrows only through lanes that are zero.
  [[nodiscard]] constexpr std::uint64_t matches(const cuckoo_shape::bucket_place& bucket,
                                                unsigned lane,
                                                std::uint64_t fingerprint) const noexcept {
    const std::uint32_t bits = shape_.fingerprint_bits();
    const std::uint64_t ones = shape_.lane_ones();
    const std::uint64_t slots = read_bits(words_ + bucket.word, bucket.bit + lane * bits);
    const std::uint64_t x = (slots ^ fingerprint * ones) & ones * cuckoo_shape::low_bits(bits);
    return (x - ones) & ~x & ones << (bits - 1);
  }

  const std::uint64_t* words_;
  cuckoo_shape shape_;
  std::uint64_t seed_;
};

}  // namespace octobloom
