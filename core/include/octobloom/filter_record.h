#pragma once

#include <algorithm>
#include <cstdint>

#include <octobloom/filter_view.h>

namespace octobloom {

/// The sum, or 2^64 - 1 when it is larger.
[[nodiscard]] constexpr std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) noexcept {
  return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/// What a filter knows of itself beside its bits: it goes with them to files, copies and devices.
struct filter_record {
  /// Growing: of the newest level. Cuckoo: lines for blocks, bits of a fingerprint for k. Windowed:
  /// of one layer.
  filter_shape shape;
  std::uint64_t planned_keys = 0;   ///< 0: unplanned. Growing: of the first level
  double target_fpr = 0;            ///< 0: unplanned
  std::uint64_t inserted_keys = 0;  ///< calls, less removals. Saturates at 2^64 - 1

  void count_inserted(std::uint64_t keys) noexcept {
    inserted_keys = saturating_sum(inserted_keys, keys);
  }
  /// Stops at 0, and a saturated count stays.
  void count_removed(std::uint64_t keys) noexcept {
    if (inserted_keys != UINT64_MAX) inserted_keys -= std::min(keys, inserted_keys);
  }
};

}  // namespace octobloom
