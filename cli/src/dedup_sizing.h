#pragma once

#include <cstdint>
#include <optional>

#include <octobloom/growing_filter.h>
#include <octobloom/plan.h>

#include "options.h"

namespace octobloom::cli {

/// A lost line is worse than a few bytes.
inline constexpr double default_dedup_fpr = 1e-6;

/// What the user says about the size of the filter.
struct sizing_request {
  std::optional<std::uint64_t> keys;
  std::optional<double> rate;
  std::optional<std::uint64_t> memory;
};

/// The filter for the lines of the inputs. Without a count it is made for as many as the files hold
/// at most, or as fit into the memory. Throws error{invalid_argument} when neither is known or they
/// contradict each other, and what plan_for throws.
[[nodiscard]] plan size_for(const sizing_request& request, const line_options& lines);

/// The first level of a filter for lines whose number nobody told, and how it goes on from there.
struct guessed_size {
  plan first;
  /// Of all levels together, the first included; empty: the first is all there is.
  std::optional<double> growing_rate;
  std::uint32_t growth = 2;
};

/// The filter for lines whose number is estimated from the files, at the rate of the request or the
/// default one. It can grow to a line for every other byte of the files; at rates too low for that
/// the lines are counted first, and it cannot grow. Empty when the inputs tell no length. Throws
/// error{invalid_argument}, and what plan_for throws.
[[nodiscard]] std::optional<guessed_size> guess_size(const sizing_request& request,
                                                     const line_options& lines);

/// A growing filter for inputs without a length. Throws error{invalid_argument} for a rate at which
/// it would not grow far.
[[nodiscard]] growing_filter grow_from_nothing(double rate, std::uint64_t seed);

}  // namespace octobloom::cli
