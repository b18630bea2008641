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

/// Whether nothing tells how many lines come: no count, no memory, and an input that is no file.
[[nodiscard]] bool is_endless(const sizing_request& request, const line_options& lines);

/// What a growing filter of lines starts with when nothing tells how many come.
inline constexpr std::uint64_t default_start_keys = 1'000'000;

/// A growing filter that starts with the number of lines that is known or estimated.
[[nodiscard]] growing_filter grow_for(const sizing_request& request, const line_options& lines,
                                      std::uint64_t seed);

}  // namespace octobloom::cli
