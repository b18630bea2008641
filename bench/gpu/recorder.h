#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "gpu_report.h"

namespace octobloom::bench {

/// Tells and keeps each row as soon as it is measured, so that neither a row that fails nor the
/// end of the program's time loses the others.
class recorder {
 public:
  /// `json` and `svg` name the files; empty: none.
  recorder(gpu_report start, std::string json, std::string svg);

  /// Prints what stands above the rows.
  void begin(double link);

  /// Calls `work`, which adds rows. When it throws, says so and goes on, unless the device has
  /// failed for good: then it throws on.
  void attempt(std::uint64_t filter_bytes, const std::string& what,
               const std::function<void()>& work);
  void add(gpu_row row);
  void leave_out(const unmeasured& one);

  /// Writes the files as a whole. Throws std::runtime_error.
  void write() const;
  /// Writes the files for the last time, prints the goals; returns the exit status.
  [[nodiscard]] int finish();

 private:
  gpu_report report_;
  std::string json_;
  std::string svg_;
};

}  // namespace octobloom::bench
