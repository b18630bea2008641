#pragma once

#include <cstdint>

#include <octobloom/detail/host_device.h>
#include <octobloom/rot8.h>

namespace octobloom::detail {

/// The share of bits set in each word of a block, 0 to 1.
struct word_fills {
  double share[rot8::words_per_block];
};

OCTOBLOOM_HOST_DEVICE constexpr double power(double base, std::uint32_t exponent) noexcept {
  double result = 1;
  for (; exponent > 0; --exponent) result *= base;
  return result;
}

/// The chance that a random pattern of k bits lies in a block that is filled like this.
OCTOBLOOM_HOST_DEVICE constexpr double block_fpr(const word_fills& fills,
                                                 std::uint32_t k) noexcept {
  const std::uint32_t rounds = k / rot8::words_per_block;
  const std::uint32_t rest = k % rot8::words_per_block;
  double full = 1;
  if (rounds > 0) {
    for (const double share : fills.share) full *= share;
    full = power(full, rounds);
  }
  if (rest == 0 || full == 0) return full;
  double partial = 0;
  for (std::uint32_t start = 0; start < rot8::words_per_block; ++start) {
    double window = 1;
    for (std::uint32_t i = 0; i < rest; ++i) {
      window *= fills.share[(start + i) % rot8::words_per_block];
    }
    partial += window;
  }
  return full * partial / rot8::words_per_block;
}

}  // namespace octobloom::detail
