#pragma once

#include <cstdint>
#include <optional>

#include "options.h"

namespace octobloom::cli {

struct line_estimate {
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;  ///< of the inputs
};

/// How many lines the inputs hold at most: counted when they are short, otherwise from samples
/// spread over all of them, with a margin of three standard errors. A guess all the same: lines may
/// hide between the samples, and files may grow. Empty when an input tells no length: what is not a
/// regular file, and what has a length of 0 and contents (/proc). Reads at most a few megabytes,
/// and leaves stdin where it is. Throws error{io}.
[[nodiscard]] std::optional<line_estimate> estimate_lines(const line_options& options);

/// The lines of the same inputs, counted by reading them to their ends.
[[nodiscard]] std::uint64_t count_lines(const line_options& options);

}  // namespace octobloom::cli
