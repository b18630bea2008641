#include <octobloom/statistics.h>

#include <algorithm>
#include <cmath>

#include <octobloom/detail/block_fpr.h>
#include <octobloom/detail/block_meter.h>
#include <octobloom/detail/popcount.h>
#include <octobloom/plan.h>

#include "zero_bits.h"

namespace octobloom {

namespace {

/// What chance explains, in standard deviations.
constexpr double chance = 4;

constexpr std::uint32_t piece_blocks = 64;  // 4 KiB
constexpr std::uint32_t sampled_blocks = 16'384;

/// Keys a block, when a share `fill` of the bits is set.
double keys_per_block(double fill, std::uint32_t k) noexcept {
  const std::uint32_t rounds = k / rot8::words_per_block;
  const std::uint32_t rest = k % rot8::words_per_block;
  const double missed = detail::power(63.0 / 64.0, rounds) * (1.0 - rest / 512.0);
  return -std::log1p(-fill) / (1.0 - missed);
}

/// Full, over-full: from which on.
saturation by_level(double value, double full, double over_full) noexcept {
  if (value >= over_full) return saturation::over_full;
  return value >= full ? saturation::full : saturation::fine;
}

}  // namespace

namespace detail {

void block_meter::add(const std::uint64_t* words) noexcept {
  word_fills fills;
  for (double& fill : fills.share) {
    const auto set = popcount(*words++);
    bits_ += set;
    fill = static_cast<double>(set) / 64.0;
  }
  const double rate = block_fpr(fills, shape_.k);
  rates_ += rate;
  squares_ += rate * rate;
  ++blocks_;
}

filter_statistics block_meter::result() const noexcept {
  const auto blocks = static_cast<double>(blocks_);
  const double all_bits = blocks * rot8::bits_per_block;
  filter_statistics result;
  result.fill = static_cast<double>(bits_) / all_bits;
  result.current_fpr = rates_ / blocks;

  const double spread = std::max(squares_ - rates_ * result.current_fpr, 0.0);
  const double of_mean = blocks > 1 ? spread / (blocks - 1) / blocks : 0;
  // The rate goes with the k-th power of the fill; what sets bits one by one, and each at most
  // once, varies less than draws with replacement.
  const double of_fill = result.fill == 0 ? 0
                                          : result.current_fpr * shape_.k *
                                                std::sqrt((1 / result.fill - 1) / all_bits);
  result.fpr_error = std::sqrt(of_mean + of_fill * of_fill);

  if (bits_ == blocks_ * rot8::bits_per_block) return result;
  const double keys = keys_per_block(result.fill, shape_.k) * blocks;
  filter_shape seen = shape_;
  seen.blocks = static_cast<std::uint32_t>(blocks_);
  const zero_bits model(seen);
  const double slope = model.slope(keys);
  double variance = std::max(slope * slope * model.covariance(keys, keys, keys), 0.0);
  const double scale = shape_.blocks / blocks;
  if (scale > 1) variance += keys;  // how many of all keys are in these blocks varies, too
  result.estimated_keys = keys * scale;
  result.keys_error = std::sqrt(variance) * scale;
  return result;
}

}  // namespace detail

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
  return shape.blocks * keys_per_block(static_cast<double>(bits_set) / bits, shape.k);
}

filter_statistics statistics_of(const const_filter_view& view) noexcept {
  detail::block_meter meter(view.shape());
  const std::uint64_t* words = view.words();
  for (std::uint32_t b = 0; b < view.blocks(); ++b, words += rot8::words_per_block) {
    meter.add(words);
  }
  return meter.result();
}

filter_statistics sampled_statistics_of(const const_filter_view& view) noexcept {
  if (view.blocks() <= sampled_blocks) return statistics_of(view);
  constexpr std::uint64_t pieces = sampled_blocks / piece_blocks;
  const std::uint64_t last_start = view.blocks() - piece_blocks;
  detail::block_meter meter(view.shape());
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    const std::uint64_t* words =
        view.words() + last_start * piece / (pieces - 1) * rot8::words_per_block;
    for (std::uint32_t b = 0; b < piece_blocks; ++b, words += rot8::words_per_block) {
      meter.add(words);
    }
  }
  return meter.result();
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

plan_use use_of_plan(const filter_statistics& statistics, const filter_record& record) {
  if (record.planned_keys == 0) return plan_use::unplanned;
  const auto planned = static_cast<double>(record.planned_keys);
  const double target_fpr = record.target_fpr;
  // The estimate is a little biased in filters of one block: by less than half a key, or less than
  // its error.
  const double margin = chance * statistics.keys_error + 0.5;
  const std::optional<double>& keys = statistics.estimated_keys;
  if (!keys || *keys > 2 * planned + margin) return plan_use::doubled;
  if (*keys > planned + margin) return plan_use::exceeded;
  if (target_fpr == 0 || statistics.current_fpr <= target_fpr) return plan_use::within;
  // Folded filters and untrue headers plan for more keys than the size bears. Plans that were made
  // on another machine may differ in the last digits.
  return expected_fpr(planned, record.shape.blocks, record.shape.k) <= 1.001 * target_fpr
             ? plan_use::within
             : plan_use::exceeded;
}

double highest_full_rate(double target_fpr) noexcept {
  return std::min(2 * target_fpr, (1 + target_fpr) / 2);
}

saturation judge(const filter_statistics& statistics, double target_fpr, plan_use use,
                 key_room room) noexcept {
  const double rate = statistics.current_fpr;
  const double fill = statistics.fill;
  if (rate >= 1) return saturation::over_full;
  saturation verdict = saturation::fine;
  if (target_fpr > 0) {
    const bool by_chance =
        use == plan_use::within && rate - target_fpr <= chance * statistics.fpr_error;
    if (rate > target_fpr && !by_chance) {
      verdict = rate <= highest_full_rate(target_fpr) ? saturation::full : saturation::over_full;
    }
  } else if (use == plan_use::doubled) {
    verdict = saturation::over_full;
  } else if (use == plan_use::exceeded) {
    verdict = saturation::full;
  }
  if (room == key_room::slots) return std::max(verdict, by_level(fill, 0.95, 0.98));
  return target_fpr > 0 ? verdict : std::max(verdict, by_level(fill, 0.6, 0.9));
}

}  // namespace octobloom
