#pragma once

#include <functional>
#include <string>

namespace octobloom {

namespace detail {
struct held_lock;
}

/// An exclusive lock on a file for read-modify-write, among processes and threads: taken before the
/// file is read, and kept until the new one is in its place. It is on the file, not on its name:
/// the names of one file, links included, are one lock. All of octobloom's writers take it, and it
/// survives that its holder replaces the file: the new one is locked from the start. Advisory
/// (flock), so it binds nobody else.
///
/// It belongs to the thread that made it. Further locks of that thread on the same file are part of
/// the first one, and its saves to that file go on; everybody else waits. Two threads or processes
/// that hold a lock each and ask for the other's wait for ever: hold one at a time, or take them in
/// one order everywhere.
class file_lock {
 public:
  /// What comes of a file that is not there or not a regular one, that this process may not open,
  /// or whose file system has no locks.
  enum class if_impossible { fail, go_on };

  /// Waits until the lock is free. `on_wait` is called once when that takes more than a moment (a
  /// third of a second). With if_impossible::fail, throws error{io} or, for what is not a regular
  /// file, error{bad_file}; with go_on, the lock is then not held.
  explicit file_lock(const std::string& path, if_impossible otherwise = if_impossible::fail,
                     const std::function<void()>& on_wait = {});
  file_lock(const file_lock&) = delete;
  file_lock& operator=(const file_lock&) = delete;
  ~file_lock();

  [[nodiscard]] bool held() const noexcept { return held_ != nullptr; }

 private:
  friend class atomic_file;
  /// The file was replaced by that of `descriptor`, which is locked and changes hands.
  void move_to(int& descriptor) noexcept;

  detail::held_lock* held_ = nullptr;
};

}  // namespace octobloom
