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
  if (!keys) keys = estimate_lines(lines);
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

bool is_endless(const sizing_request& request, const line_options& lines) {
  return !request.keys && !request.memory && !estimate_lines(lines);
}

growing_filter grow_for(const sizing_request& request, const line_options& lines,
                        std::uint64_t seed) {
  const std::uint64_t start =
      request.keys ? *request.keys : estimate_lines(lines).value_or(default_start_keys);
  return {
      std::max<std::uint64_t>(start, 1), request.rate.value_or(default_dedup_fpr), {.seed = seed}};
}

}  // namespace octobloom::cli
