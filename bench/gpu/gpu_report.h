#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace octobloom::bench {

/// One measurement.
struct gpu_row {
  std::uint64_t filter_bytes = 0;
  std::string what;  ///< "contains", "insert direct", "floor read", …
  std::uint64_t keys = 0;
  double seconds = 0;        ///< the median of the repetitions
  double spread = 0;         ///< (largest - smallest) / median
  double bytes_per_key = 0;  ///< moved to and from memory by this way, caches aside

  [[nodiscard]] double nanoseconds_per_key() const {
    return seconds * 1e9 / static_cast<double>(keys);
  }
  [[nodiscard]] double bytes_per_second() const {
    return bytes_per_key * static_cast<double>(keys) / seconds;
  }
};

/// What was not measured, and why.
struct unmeasured {
  std::uint64_t filter_bytes = 0;  ///< 0: of no filter
  std::string what;                ///< a row, "every row", "host link"
  std::string why;
  bool failed = false;  ///< otherwise there was no room for such a filter
};
/// "512 MiB, insert_new: …"
[[nodiscard]] std::string in_words(const unmeasured& one);

struct gpu_report {
  std::string device;  ///< empty: none
  std::string why_none;
  double bandwidth = 0;  ///< of the device's memory, bytes a second by its clock; 0: unknown
  double link = 0;       ///< measured host to device, bytes a second
  unsigned cpu_threads = 0;
  std::vector<gpu_row> rows;
  std::vector<unmeasured> left_out;
  bool finished = false;  ///< otherwise more was to come
};

/// The goals that the rows can tell about: a line each, "met", "missed" or "not measured".
struct goal {
  std::string text;
  double wanted = 0;
  double reached = 0;  ///< 0: not measured
};
[[nodiscard]] std::vector<goal> goals_of(const gpu_report& report);

void print_heading(const gpu_report& report);
void print_row(const gpu_report& report, const gpu_row& row);
void print_goals(const gpu_report& report);
[[nodiscard]] std::string to_json(const gpu_report& report);
/// Nanoseconds a key over the filter's size, both axes logarithmic.
[[nodiscard]] std::string to_svg(const gpu_report& report);

}  // namespace octobloom::bench
