#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace octobloom::bench {

/// What the command line of octobloom-gpu-bench asks for; see its --help.
struct options {
  std::uint64_t min = 1 << 20;
  std::uint64_t max = std::uint64_t{16} << 30;
  std::uint64_t step = 4;
  std::uint64_t keys = std::uint64_t{1} << 27;
  unsigned repeat = 5;
  bool widths = false;
  unsigned cpu_threads = 2;
  std::string json;
  std::string svg;
  bool dry_run = false;

  /// The sizes of the filters in bytes, ascending; with 512 MiB, which a goal names, where that is
  /// between the smallest and the largest.
  [[nodiscard]] std::vector<std::uint64_t> sizes() const;
};

/// Prints the help and ends the program for --help. Throws std::invalid_argument.
[[nodiscard]] options parse(int argc, char** argv);

}  // namespace octobloom::bench
