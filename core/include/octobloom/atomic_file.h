#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace octobloom {

/// A file that appears whole or not at all: bytes go to a temporary file in the folder of `path`;
/// commit() syncs it and puts it in the place of `path`; without commit() it goes away and `path`
/// stays as it was. Where the file system can (O_TMPFILE), the temporary file has no name until
/// then, so that a process that is killed leaves nothing. Otherwise, and for a moment in commit(),
/// it is ".octobloom-<hash of the name>-<number>", locked while its maker lives; the next one for
/// the same `path` removes those whose maker does not.
///
/// A new file gets the mode that open() gives it. One that replaces another keeps mode, owner,
/// group, access control list and extended attributes as far as the process may set them; where the
/// group or the list cannot be kept, the group is given no more than everybody has. Symbolic links
/// are followed, also to a file that is not there yet, and what is not a regular file (a pipe,
/// /dev/null) is written directly; opening a pipe waits for its reader.
class atomic_file {
 public:
  enum class locking {
    none,
    target,  ///< commit() waits for the file_lock of a file that it replaces, if it can be had
  };

  /// Throws error{io}.
  explicit atomic_file(const std::string& path, locking locks = locking::none);
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;
  ~atomic_file();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// The temporary file's name, for those who tidy up when a signal ends the process; empty when it
  /// has none, or the target is written directly. No longer ours after commit().
  [[nodiscard]] const std::string& temporary() const noexcept { return temporary_; }
  /// Writes all of `bytes`. Throws error{io}, naming the file.
  void write(std::span<const std::byte> bytes) const;
  /// Throws error{io}; the target is then as it was.
  void commit();

 private:
  explicit atomic_file(locking locks) : locks_(locks == locking::target) {}

  /// What a replaced file hands on.
  struct inheritance {
    bool any = false;
    std::uint32_t mode = 0;
    std::uint32_t owner = 0;
    std::uint32_t group = 0;
  };
  [[nodiscard]] std::string name(unsigned number) const;
  void inherit_from(const std::string& path);
  void make_temporary();
  void make_named();
  [[nodiscard]] bool try_named(unsigned number);
  void finish();
  [[nodiscard]] bool put_as_new();
  void give_name();
  void copy_to_named();

  std::string target_;
  std::string temporary_;
  inheritance old_;
  bool direct_ = false;
  bool locks_;
  int descriptor_ = -1;
};

}  // namespace octobloom
