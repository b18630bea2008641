#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <octobloom/filter_record.h>

/// What the bits of a filter say about it, and the verdict that follows. Whatever reads all bits is
/// O(blocks). Everything here is thread safe.
namespace octobloom {

struct filter_statistics {
  double fill = 0;  ///< share of the bits that are set, 0 to 1
  /// Distinct keys, estimated from the fill; empty when every bit is set.
  std::optional<double> estimated_keys;
  /// The chance that a new, random key is taken for a known one, from the actual blocks.
  double current_fpr = 0;
  /// How far chance alone moves current_fpr: its standard deviation over seeds, or a few times that
  /// at high rates. From the spread of the blocks' own rates, and, since that says little in
  /// filters of few blocks, from the spread of the number of bits that are set.
  double fpr_error = 0;
  /// The standard deviation of estimated_keys around the true number, over seeds.
  double keys_error = 0;
};

[[nodiscard]] filter_statistics statistics_of(const const_filter_view& view) noexcept;

/// The same from at most 16,384 blocks, in pieces of 4 KiB spread over the filter: a millisecond
/// at any size. The errors count the sampling.
[[nodiscard]] filter_statistics sampled_statistics_of(const const_filter_view& view) noexcept;

/// Bits set in `view`.
[[nodiscard]] std::uint64_t popcount_of(const const_filter_view& view) noexcept;

/// Distinct keys that would set `bits_set` bits on average: the inverse of
/// fill = 1 - exp(-n/blocks * (1 - (63/64)^a * (1 - r/512))), k = 8a + r. Empty when all bits are
/// set.
[[nodiscard]] std::optional<double> estimate_keys(std::uint64_t bits_set,
                                                  const filter_shape& shape) noexcept;

enum class saturation : std::uint8_t {
  fine,       ///< it keeps its target rate, or misses it by chance alone
  full,       ///< beyond, up to twice the target rate
  over_full,  ///< beyond that: most answers "seen" may be wrong
};

/// "fine", "full", "over-full".
[[nodiscard]] std::string_view to_string(saturation s) noexcept;

/// How the keys that are in a filter, by its bits, stand to those that it was planned for.
enum class plan_use : std::uint8_t {
  unplanned,  ///< no number of keys was planned
  within,     ///< at most the planned keys, and the filter is large enough for those
  exceeded,   ///< more than planned, or the plan does not fit the size
  doubled,    ///< more than twice the planned keys
};

/// The plan of a filter of `shape` held against its bits. A target of 0 says nothing about the
/// size. Microseconds; a few milliseconds for the first filter of its k that is above its target.
[[nodiscard]] plan_use use_of_plan(const filter_statistics& statistics,
                                   const filter_record& record);

/// What a filter holds keys in.
enum class key_room : std::uint8_t { bits, slots };

/// The rule by which all filters are judged, whatever their kind.
/// - Every bit set, or every key taken for a known one: over-full.
/// - With a target rate: fine while the rate is at most the target; also while it is at most four
///   standard deviations above it and the plan's keys are not exceeded. Then full up to
///   highest_full_rate(), over-full beyond.
/// - Without one: by the fill, full from 0.6, over-full from 0.9, and by the planned keys where
///   there are any, full beyond them and over-full beyond twice as many; the worse of both.
/// - Slots also by how many are taken: full from 0.95, when inserts begin to find no room,
///   over-full from 0.98; their fill says nothing else.
[[nodiscard]] saturation judge(const filter_statistics& statistics, double target_fpr, plan_use use,
                               key_room room = key_room::bits) noexcept;

/// Twice the target; for targets above 1/3, where that has no meaning, the rate at which half as
/// many new keys are told as the target promises.
[[nodiscard]] double highest_full_rate(double target_fpr) noexcept;

}  // namespace octobloom
