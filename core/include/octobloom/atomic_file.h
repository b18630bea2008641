#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace octobloom {

/// A file that appears whole or not at all: bytes go to a temporary file beside `path`; commit()
/// syncs it and renames it over `path`; without commit() it is removed and `path` stays as it was.
/// Mode, owner and group of an existing file are kept as far as the process may set them; where the
/// group cannot be kept, the new one is given no more than everybody has. Symbolic links are
/// followed, also to a file that is not there yet, and what is not a regular file (a pipe,
/// /dev/null) is written directly.
class atomic_file {
 public:
  /// Throws error{io}.
  explicit atomic_file(const std::string& path);
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;
  ~atomic_file();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// The temporary file's name, for those who tidy up when a signal ends the process; empty when
  /// the target is written directly.
  [[nodiscard]] const std::string& temporary() const noexcept { return temporary_; }
  /// Writes all of `bytes`. Throws error{io}, naming the file.
  void write(std::span<const std::byte> bytes) const;
  /// Throws error{io}; the target is then as it was.
  void commit();

 private:
  std::string target_;
  std::string temporary_;  // empty when the target is written directly
  int descriptor_ = -1;
};

}  // namespace octobloom
