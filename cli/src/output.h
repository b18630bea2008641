#pragma once

#include <span>
#include <string>
#include <string_view>

#include <octobloom/atomic_file.h>

namespace octobloom::cli {

/// Whoever reads our output has gone: the command ends without a word.
struct closed_pipe {};

/// Where data goes. Writes at once, without a buffer of its own.
class output {
 public:
  /// Standard output.
  output();
  /// Writes to `file`, which outlives this.
  output(const atomic_file& file, std::string name);

  /// Throws closed_pipe, or error{io} that names the file.
  void write(std::string_view bytes) const;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
  std::string name_;
};

/// Whether two names are of one file, links included, or will be. Empty names and "-" are none.
[[nodiscard]] bool is_same_file(const std::string& a, const std::string& b);

/// A file that a verb is going to write, and the option that names it.
struct named_file {
  const char* option;
  const std::string& path;
};

/// Throws error{io} when `out` goes to one of the files that are read meanwhile, by whatever name:
/// a shell's `>>` onto an input would feed the command with its own output, without end. "-" among
/// them is standard input.
void require_other_output(const output& out, std::span<const std::string> files);

/// Throws error{bad_file} when `path` is a regular file, not empty, and no filter: a filter must
/// not take its place unless that is asked for.
void require_replaceable(const std::string& path);

/// Throws usage_error when one file was given for two purposes. Empty paths and "-" are no files.
void require_distinct(std::span<const named_file> files);

/// Text to standard output.
void print(std::string_view text);

/// A small file, all of it or nothing. Throws error{io}.
void write_whole_file(const std::string& path, std::string_view text);

}  // namespace octobloom::cli
