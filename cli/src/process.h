#pragma once

#include <cstdint>
#include <string>

namespace octobloom::cli {

/// The most memory, in bytes, that this process has had resident so far.
[[nodiscard]] std::uint64_t peak_memory();

/// While this lives, a signal that ends the process (interrupt, hang-up, termination) takes a file
/// away first. One at a time.
class removal_on_signal {
 public:
  /// An empty path: nothing to take away.
  explicit removal_on_signal(const std::string& path);
  removal_on_signal(const removal_on_signal&) = delete;
  removal_on_signal& operator=(const removal_on_signal&) = delete;
  ~removal_on_signal();
};

}  // namespace octobloom::cli
