#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <octobloom/file_lock.h>

namespace octobloom::cli {

/// Where the caller closed standard input, output or error, puts something in its place that fails
/// when it is used, so that no file of ours gets that number and is taken for it.
void occupy_standard_descriptors();

/// Writes to standard error, as it is; takes no memory, and may be called in a signal's handler.
void write_to_stderr(std::string_view text) noexcept;

/// Where memory for an error itself is refused, or within what must not throw, the C++ run time
/// gives up. From the start of the program that ends with words and status 2 here, and with the
/// temporary file taken away. Other than bad_alloc it ends as always. Called by main() first, this
/// changes the words: until then there is nothing that could be tidied up.
void main_begins() noexcept;

/// Throws std::bad_alloc when memory was refused since main_begins(), also where that was
/// swallowed: a stream of the standard library just loses what it was given.
void require_no_refusal();

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

/// The lock of a file, and a word on stderr when it is not free for long.
class announced_lock : public file_lock {
 public:
  explicit announced_lock(const std::string& path, if_impossible otherwise = if_impossible::fail);
};

/// Whether writing to `path` makes a file and puts it in place; otherwise it goes into a pipe or a
/// device, which can take any time.
[[nodiscard]] bool is_replaceable(const std::string& path);

/// Saves a filter, to the end when a signal comes meanwhile; the wait for others who use the file
/// can be interrupted.
template <class Filter>
void save_whole(const Filter& filter, const std::string& path) {
  const announced_lock lock(path, file_lock::if_impossible::go_on);
  std::optional<held_signals> held;
  if (is_replaceable(path)) held.emplace();
  filter.save(path);
}

/// While this lives, the command ends with status 2 and a sentence, and without its temporary
/// files, when the file `path` that is mapped there was made shorter by somebody else. One at a
/// time.
class mapping_guard {
 public:
  mapping_guard(const void* begin, std::size_t bytes, const std::string& path);
  mapping_guard(const mapping_guard&) = delete;
  mapping_guard& operator=(const mapping_guard&) = delete;
  ~mapping_guard();
};

/// What the guard says, and whoever notices the same otherwise.
[[nodiscard]] std::string cut_short(const std::string& path);

}  // namespace octobloom::cli
