#pragma once

#include <cstdint>
#include <optional>

#include "options.h"

namespace octobloom::cli {

/// How many lines the inputs hold at most: counted when they are short, otherwise from samples
/// spread over all of them, with a margin of three standard errors. Empty when an input is not a
/// regular file. Reads at most a few megabytes, and leaves stdin where it is. Throws error{io}.
[[nodiscard]] std::optional<std::uint64_t> estimate_lines(const line_options& options);

}  // namespace octobloom::cli
