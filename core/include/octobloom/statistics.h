#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <octobloom/filter_view.h>

/// What the bits of a filter say about it. Everything here reads the whole filter once: O(blocks).
namespace octobloom {

struct filter_statistics {
  double fill = 0;  ///< share of the bits that are set, 0 to 1
  /// Distinct keys, estimated from the fill; empty when every bit is set.
  std::optional<double> estimated_keys;
  /// The chance that a new, random key is taken for a known one, from the actual blocks.
  double current_fpr = 0;
};

[[nodiscard]] filter_statistics statistics_of(const const_filter_view& view) noexcept;

/// Bits set in `view`.
[[nodiscard]] std::uint64_t popcount_of(const const_filter_view& view) noexcept;

/// Distinct keys that would set `bits_set` bits on average: the inverse of
/// fill = 1 - exp(-n/blocks * (1 - (63/64)^a * (1 - r/512))), k = 8a + r. Empty when all bits are
/// set.
[[nodiscard]] std::optional<double> estimate_keys(std::uint64_t bits_set,
                                                  const filter_shape& shape) noexcept;

enum class saturation : std::uint8_t {
  fine,       ///< up to the planned keys or the target rate
  full,       ///< beyond, up to twice the target rate
  over_full,  ///< beyond that: most answers "seen" may be wrong
};

/// "fine", "full", "over-full".
[[nodiscard]] std::string_view to_string(saturation s) noexcept;

/// Judges a filter against its plan: fine while at most the planned keys are in it, by the count of
/// calls or by the estimate. Filters without a target rate are judged by fill: full from 0.6,
/// over-full from 0.9.
[[nodiscard]] saturation judge(const filter_statistics& statistics, std::uint64_t inserted_keys,
                               std::uint64_t planned_keys, double target_fpr) noexcept;

}  // namespace octobloom
