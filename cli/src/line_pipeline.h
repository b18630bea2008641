#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "options.h"
#include "output.h"
#include "text.h"

namespace octobloom::cli {

/// What happens to the lines of the inputs.
struct line_job {
  const line_options& lines;
  const octobloom::engine& engine;
  std::uint64_t seed = 0;
  unsigned threads = 1;
  bool show_progress = true;

  /// Looks at the lines of a chunk whose hashes are there, and marks them. Called for one chunk
  /// after the other in the order of the input when `in_order`, otherwise from several threads at
  /// once.
  std::function<void(text_chunk&)> mark;
  bool in_order = true;

  /// Where the lines go whose mark is `wanted`; null: nowhere.
  const output* out = nullptr;
  bool wanted = true;
};

struct line_totals {
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
};

/// Reads, splits, hashes, marks and writes all lines; the output is the same at any number of
/// threads. Every thread carries a chunk through all of these steps; reading, marking (when in
/// order) and writing let one chunk at a time through, in the order of the input, so the steps of
/// different chunks overlap and no chunk changes hands. Memory: the text of all chunks is 2 MiB,
/// with its bookkeeping 34 MiB at most; a line longer than its chunk takes its own length, one at a
/// time. Rethrows the first error of any step; nothing is written after it.
line_totals run_lines(const line_job& job);

}  // namespace octobloom::cli
