#pragma once

#include <cstdint>

#include <octobloom/rot8.h>

/// Sizing: how many blocks and which k for how many keys at which false-positive rate (fpr). All
/// rates are exact for this layout, uneven loads of blocks and self-collisions counted; see
/// docs/format.md for the formula. Thread safe. The first use of a k costs a few milliseconds once,
/// later calls well under one.
namespace octobloom {

/// The textbook numbers of an unblocked Bloom filter, for comparison.
struct classic_plan {
  std::uint64_t bits = 0;  ///< m = -n ln p / (ln 2)^2, rounded up
  std::uint32_t k = 0;     ///< m / n * ln 2, rounded, at least 1
  double fpr = 0;          ///< (1 - e^(-k n / m))^k with that k and m
};

/// A sized filter, before any memory is taken.
struct plan {
  std::uint64_t expected_keys = 0;  ///< n, 0 = unplanned
  double target_fpr = 0;            ///< p, 0 = unplanned
  std::uint32_t blocks = 0;
  std::uint32_t k = 0;
  double expected_fpr = 0;  ///< at n distinct keys; 0 when n is unplanned
  classic_plan classic;     ///< zeros when n or p is unplanned

  [[nodiscard]] constexpr std::uint64_t bytes() const noexcept {
    return std::uint64_t{blocks} * rot8::bytes_per_block;
  }
  /// Bits of the filter for each expected key; 0 when n is unplanned.
  [[nodiscard]] constexpr double bits_per_key() const noexcept {
    return expected_keys == 0
               ? 0.0
               : 8.0 * static_cast<double>(bytes()) / static_cast<double>(expected_keys);
  }
};

/// The lowest target that a plan accepts: 32 bits of the hash choose a pattern, which sets a floor.
inline constexpr double min_target_fpr = 1e-8;

/// The smallest filter for `n` keys at rate `p`: the fewest blocks for which some k has an expected
/// rate of at most p, and of those k the smallest.
/// Throws error{invalid_argument} when n is 0, when p is not in [1e-8, 1), or when the filter would
/// need 2^32 blocks (256 GiB) or more. Nothing is allocated.
[[nodiscard]] plan plan_for(std::uint64_t n, double p);

/// The filter with the lowest rate for `n` keys in at most `bytes` bytes (whole blocks).
/// Throws error{invalid_argument} when n is 0 or `bytes` holds no block; sizes of 2^32 blocks and
/// more are cut to the largest there is.
[[nodiscard]] plan plan_with_memory(std::uint64_t bytes, std::uint64_t n);

/// A filter of `total_bits` bits, rounded up to whole blocks, with k bits a key; unplanned.
/// Throws error{invalid_argument} when total_bits is 0 or too large, or k is not in 1 to 24.
[[nodiscard]] plan plan_with_bits(std::uint64_t total_bits, std::uint32_t k);

/// A filter of `blocks` blocks with k bits a key; unplanned. Throws as above.
[[nodiscard]] plan plan_with_blocks(std::uint64_t blocks, std::uint32_t k);

/// The classic numbers for n >= 1 keys at rate 0 < p < 1.
[[nodiscard]] classic_plan classic_plan_for(std::uint64_t n, double p);

/// The exact expected rate after `n` distinct keys (n need not be whole). Blocks are taken as
/// loaded by a Poisson process, which overstates the rate of filters of a few blocks.
[[nodiscard]] double expected_fpr(double n, std::uint32_t blocks, std::uint32_t k);

/// How many of the distinct keys that took a filter from `from` to `to` keys were taken for
/// repeats: the integral of expected_fpr. An expectation, not a bound.
[[nodiscard]] double expected_lost(double from, double to, std::uint32_t blocks, std::uint32_t k);

}  // namespace octobloom
