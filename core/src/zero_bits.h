#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <octobloom/filter_view.h>

namespace octobloom::detail {

/// How many zero bits filters of known sizes have, as random variables over the hash. Keys choose
/// blocks independently; within a block the chance that a key misses two bits depends on where they
/// are.
class zero_bits {
 public:
  explicit zero_bits(const filter_shape& shape) noexcept : blocks_(shape.blocks) {
    const std::uint32_t rounds = shape.k / rot8::words_per_block;  // whole ones
    const double rest = shape.k % rot8::words_per_block;
    const double in_window = rest / words;  // the chance that a word is in the partial round
    const double misses_one = std::pow(1 - 1 / cells, rounds) * (1 - in_window / cells);
    log_q_ = std::log1p(-(1 - misses_one) / blocks_);
    const auto add_pairs = [&](double pairs, double misses_both) {
      kinds_[used_++] = {pairs * blocks_, std::log1p(-(1 - misses_both) / blocks_) - 2 * log_q_};
    };
    add_pairs(block_bits * (cells - 1),
              std::pow(1 - 2 / cells, rounds) * (1 - in_window * 2 / cells));
    for (unsigned distance = 1; distance < rot8::words_per_block; ++distance) {
      const double both_in_window =
          (std::max(0.0, rest - distance) + std::max(0.0, rest - (words - distance))) / words;
      add_pairs(block_bits * cells,
                std::pow(1 - 1 / cells, 2 * rounds) *
                    (1 - 2 * in_window / cells + both_in_window / (cells * cells)));
    }
    if (blocks_ > 1) {
      kinds_[used_++] = {block_bits * block_bits * blocks_ * (blocks_ - 1),
                         std::log1p(-2 * (1 - misses_one) / blocks_) - 2 * log_q_};
    }
  }

  /// The covariance of the zero bits of two filters of `s` and `t` keys, `common` of them in both.
  [[nodiscard]] double covariance(double s, double t, double common) const noexcept {
    double sum = block_bits * blocks_ * std::expm1(-common * log_q_);  // a bit with itself
    for (std::size_t i = 0; i < used_; ++i) {
      sum += kinds_[i].pairs * std::expm1(common * kinds_[i].log_ratio);
    }
    return std::exp((s + t) * log_q_) * sum;
  }

  /// d(keys) / d(zero bits) of the estimate, at `s` keys.
  [[nodiscard]] double slope(double s) const noexcept {
    return 1 / (block_bits * blocks_ * std::exp(s * log_q_) * log_q_);
  }

 private:
  static constexpr double words = rot8::words_per_block;
  static constexpr double cells = 64;
  static constexpr double block_bits = rot8::bits_per_block;

  struct kind {
    double pairs;
    double log_ratio;  // of the chance to miss both to that of missing each, for one key
  };
  double blocks_;
  double log_q_;  // of the chance that a key misses a given bit
  std::array<kind, rot8::words_per_block + 1> kinds_{};
  std::size_t used_ = 0;
};

}  // namespace octobloom::detail
