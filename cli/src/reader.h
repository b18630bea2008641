#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "text.h"

namespace octobloom::cli {

/// The inputs of a command are there and can be read: throws error{io} otherwise, before any work.
void require_readable(const std::vector<std::string>& inputs);

/// Whether an input is a regular file. Does not open it.
[[nodiscard]] bool is_regular(const std::string& input);

/// The bytes that the inputs hold, or 0 when one of them is not a regular file.
[[nodiscard]] std::uint64_t total_size(const std::vector<std::string>& inputs);

/// An input file, or stdin, open for reading.
class input_file {
 public:
  explicit input_file(const std::string& path);
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;
  ~input_file();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] bool regular() const noexcept { return regular_; }
  /// Bytes from the current position on, of a regular file.
  [[nodiscard]] std::uint64_t size() const;
  [[noreturn]] void fail(const char* what) const;

 private:
  std::string name_;
  int descriptor_;
  bool owned_;
  bool regular_ = false;
};

/// Reads the inputs, one after the other, into chunks of whole lines. A last line without a
/// separator gets one. What has come is handed on at once when more has to be waited for. Not
/// thread safe, except stop() and bytes_read().
class text_reader {
 public:
  text_reader(const line_options& options, std::size_t chunk_bytes);
  text_reader(const text_reader&) = delete;
  text_reader& operator=(const text_reader&) = delete;
  ~text_reader();

  /// Fills `chunk`; false at the end of the inputs, or after stop(). `before_growing` is called
  /// before a line is given more memory than a chunk has.
  bool next(text_chunk& chunk, const std::function<void()>& before_growing);

  /// Makes next() return, also one that waits for input.
  void stop() noexcept;

  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  bool open_next();
  std::size_t read_some(char* to, std::size_t size);
  void wait_for_input() const;

  const line_options& options_;
  std::size_t chunk_bytes_;
  std::size_t next_input_ = 0;
  std::unique_ptr<input_file> input_;
  std::string rest_;  // of a line whose end has not been read yet
  std::atomic<std::uint64_t> bytes_read_ = 0;
  std::atomic<bool> stopped_ = false;
  std::array<int, 2> wake_{-1, -1};
};

}  // namespace octobloom::cli
