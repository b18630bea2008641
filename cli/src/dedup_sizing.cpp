#include "dedup_sizing.h"

#include <algorithm>

#include <octobloom/error.h>

#include "line_estimate.h"
#include "numbers.h"

namespace octobloom::cli {

namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw error(error_code::invalid_argument, why);
}

/// What a growing filter of lines starts with when nothing tells how many come.
constexpr std::uint64_t default_start_keys = 1'000'000;
/// The lines that it must be able to take then.
constexpr std::uint64_t far_enough = 100'000'000;

/// Of the rate, for a first level whose size was estimated: 2.5 % larger than if it had all, and
/// enough is left for eleven more levels at 1e-6.
constexpr double share_of_first = 0.85;
/// Files of longer lines are taken to have so many, so that growth reaches all that they may hold.
constexpr std::uint64_t bytes_a_line_at_most = 8192;
constexpr std::uint64_t small_start = 65'536;
constexpr std::uint64_t enough_for_all = std::uint64_t{1} << 55;

/// The keys that levels take, the first planned for `start`, until they have spent `rate`.
std::uint64_t lines_until_spent(std::uint64_t start, double rate, std::uint32_t growth) {
  std::uint64_t lines = 0;
  for (std::uint64_t level = start; lines < enough_for_all; level *= growth) {
    const double target = std::max(0.15 * rate, min_target_fpr);
    if (target > rate) break;
    rate -= target;
    lines += level;
  }
  return lines;
}

/// The most keys that `bytes` hold at `rate`.
std::uint64_t keys_that_fit(std::uint64_t bytes, double rate) {
  std::uint64_t fits = 0;
  std::uint64_t too_many = 8 * std::min(bytes, std::uint64_t{1} << 38);  // one bit a key
  while (too_many - fits > 1) {
    const std::uint64_t middle = fits + (too_many - fits) / 2;
    bool good = false;
    try {
      good = plan_for(middle, rate).bytes() <= bytes;
    } catch (const error&) {  // larger than any filter
    }
    (good ? fits : too_many) = middle;
  }
  return fits;
}

/// The best rate that fits, or less memory when that is enough for the best rate there is.
plan best_within(std::uint64_t memory, std::uint64_t keys) {
  plan best = plan_with_memory(memory, keys);
  if (best.expected_fpr < min_target_fpr) best = plan_for(keys, min_target_fpr);
  return best;
}

}  // namespace

plan size_for(const sizing_request& request, const line_options& lines) {
  std::optional<std::uint64_t> keys = request.keys;
  if (!keys) {
    if (const auto estimate = estimate_lines(lines)) keys = estimate->lines;
  }
  const double rate = request.rate.value_or(default_dedup_fpr);
  if (!keys && !request.memory) {
    refuse(
        "how many distinct lines? A pipe has no length to tell from: give -n their number, -m the "
        "memory for the filter, or --on-full grow");
  }
  if (!keys) {
    keys = keys_that_fit(*request.memory, rate);
    if (*keys == 0) refuse("-m: too little for a single line at rate " + rate_text(rate));
  }
  *keys = std::max<std::uint64_t>(*keys, 1);
  if (!request.memory) return plan_for(*keys, rate);
  if (!request.rate) return best_within(*request.memory, *keys);
  plan exact = plan_for(*keys, rate);
  if (exact.bytes() > *request.memory) {
    refuse("-m " + size_text(*request.memory) + " is too little: " + grouped(*keys) +
           " lines at rate " + rate_text(rate) + " take " + size_text(exact.bytes()) +
           "; leave -p away to take the best rate that fits");
  }
  return exact;
}

std::optional<guessed_size> guess_size(const sizing_request& request, const line_options& lines) {
  const std::optional<line_estimate> estimate = estimate_lines(lines);
  if (!estimate) return std::nullopt;
  const double rate = request.rate.value_or(default_dedup_fpr);
  const std::uint64_t start =
      std::max({estimate->lines, estimate->bytes / bytes_a_line_at_most, std::uint64_t{1}});
  // A small level that was too small is no measure for the next one.
  const std::uint32_t growth = start < small_start ? 4 : 2;
  const double first = share_of_first * rate;
  if (first >= min_target_fpr && rate - first >= min_target_fpr &&
      lines_until_spent(start * growth, rate - first, growth) >= estimate->bytes / 2) {
    return guessed_size{plan_for(start, first), rate, growth};
  }
  return guessed_size{plan_for(std::max<std::uint64_t>(count_lines(lines), 1), rate), std::nullopt};
}

growing_filter grow_from_nothing(double rate, std::uint64_t seed) {
  if (const std::uint64_t most = lines_until_spent(default_start_keys, rate, 2);
      most < far_enough) {
    refuse("without a length to tell from the filter has to grow, and at rate " + rate_text(rate) +
           " it can grow to no more than " + grouped(most) +
           " lines: give -n the number of distinct lines, or a rate of 1e-7 or more");
  }
  return {default_start_keys, rate, {.seed = seed}};
}

}  // namespace octobloom::cli
