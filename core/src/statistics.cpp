#include <octobloom/statistics.h>

#include <cmath>

#include <octobloom/detail/block_fpr.h>
#include <octobloom/detail/popcount.h>

namespace octobloom {

std::uint64_t popcount_of(const const_filter_view& view) noexcept {
  std::uint64_t bits = 0;
  for (std::uint64_t i = 0; i < view.shape().word_count(); ++i) {
    bits += detail::popcount(view.words()[i]);
  }
  return bits;
}

std::optional<double> estimate_keys(std::uint64_t bits_set, const filter_shape& shape) noexcept {
  const double bits = 8.0 * static_cast<double>(shape.bytes());
  if (static_cast<double>(bits_set) >= bits) return std::nullopt;
  const std::uint32_t rounds = shape.k / rot8::words_per_block;
  const std::uint32_t rest = shape.k % rot8::words_per_block;
  const double missed = detail::power(63.0 / 64.0, rounds) * (1.0 - rest / 512.0);
  return -static_cast<double>(shape.blocks) * std::log1p(-static_cast<double>(bits_set) / bits) /
         (1.0 - missed);
}

filter_statistics statistics_of(const const_filter_view& view) noexcept {
  std::uint64_t bits = 0;
  double fpr_sum = 0;
  const std::uint64_t* word = view.words();
  for (std::uint32_t b = 0; b < view.blocks(); ++b) {
    detail::word_fills fills;
    for (double& fill : fills.share) {
      const auto set = detail::popcount(*word++);
      bits += set;
      fill = static_cast<double>(set) / 64.0;
    }
    fpr_sum += detail::block_fpr(fills, view.k());
  }
  return {static_cast<double>(bits) / (8.0 * static_cast<double>(view.shape().bytes())),
          estimate_keys(bits, view.shape()), fpr_sum / view.blocks()};
}

std::string_view to_string(saturation s) noexcept {
  switch (s) {
    case saturation::fine:
      return "fine";
    case saturation::full:
      return "full";
    case saturation::over_full:
      return "over-full";
  }
  return "unknown";
}

saturation judge(const filter_statistics& statistics, std::uint64_t inserted_keys,
                 std::uint64_t planned_keys, double target_fpr) noexcept {
  const bool within_plan = inserted_keys <= planned_keys ||
                           (statistics.estimated_keys &&
                            *statistics.estimated_keys <= static_cast<double>(planned_keys));
  if (planned_keys > 0 && within_plan) return saturation::fine;
  if (target_fpr > 0) {
    if (statistics.current_fpr <= target_fpr) return saturation::fine;
    return statistics.current_fpr <= 2 * target_fpr ? saturation::full : saturation::over_full;
  }
  if (statistics.fill >= 0.9) return saturation::over_full;
  return statistics.fill >= 0.6 ? saturation::full : saturation::fine;
}

}  // namespace octobloom
