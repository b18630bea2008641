#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

/// What goes to stderr, and when. A message is one line: control characters in it, and bytes that
/// are no UTF-8, are shown as \n or \x1b.
namespace octobloom::cli {

[[nodiscard]] bool stderr_is_terminal() noexcept;

/// `text` with its control characters, and the bytes that are no UTF-8, shown as \n or \x1b.
[[nodiscard]] std::string printable(std::string_view text);

/// "octobloom: warning: ...", also under -q. Colour only on a terminal and without NO_COLOR.
void warn(const std::string& message);

/// "octobloom: ...": why the command ends with status 2.
void report_error(const std::string& message);

/// Why the command ends with status 2 when memory is refused; takes none.
void report_out_of_memory() noexcept;

/// A line for people.
void note(const std::string& message);

/// One line that shows how far the work is, rewritten in place. Silent unless stderr is a terminal
/// and stdout is not. Not thread safe.
class progress {
 public:
  explicit progress(bool wanted, std::uint64_t total_bytes);  ///< 0: the total is unknown
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();

  void update(std::uint64_t bytes);
  /// Takes the line away, so that something else can be written.
  void clear();

 private:
  using clock = std::chrono::steady_clock;
  bool shown_;
  bool visible_ = false;
  std::uint64_t total_;
  clock::time_point start_;
  clock::time_point next_;
};

}  // namespace octobloom::cli
