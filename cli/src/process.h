#pragma once

#include <csignal>
#include <cstdint>
#include <string>

namespace octobloom::cli {

/// Where the caller closed standard input, output or error, puts something in its place that fails
/// when it is used, so that no file of ours gets that number and is taken for it.
void occupy_standard_descriptors();

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

/// While this lives, those signals wait: for short work that would leave a temporary file. Only
/// where no other thread runs.
class held_signals {
 public:
  held_signals();
  held_signals(const held_signals&) = delete;
  held_signals& operator=(const held_signals&) = delete;
  ~held_signals();

 private:
  sigset_t before_{};
};

/// Saves a filter without leaving a temporary file when a signal comes.
template <class Filter>
void save_whole(const Filter& filter, const std::string& path) {
  const held_signals held;
  filter.save(path);
}

}  // namespace octobloom::cli
