#include <octobloom/file_lock.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "file_system.h"

namespace octobloom {

namespace detail {

/// A lock that a thread of this process holds. flock() does not know its own process again: a
/// second lock on the file would wait for the first.
struct held_lock {
  int descriptor = -1;
  struct stat file {};
  std::thread::id owner = std::this_thread::get_id();
  unsigned users = 1;
  held_lock* next = nullptr;
};

}  // namespace detail

namespace {

using detail::held_lock;

std::mutex held_locks_mutex;
held_lock* held_locks = nullptr;  // guarded by the mutex, as are the locks in it

/// This thread's lock on `file`, with one user more; null when it has none.
held_lock* join(const struct stat& file) {
  const std::scoped_lock guard(held_locks_mutex);
  for (held_lock* own = held_locks; own != nullptr; own = own->next) {
    if (own->owner == std::this_thread::get_id() && detail::is_same(own->file, file)) {
      ++own->users;
      return own;
    }
  }
  return nullptr;
}

/// Takes the lock, after `on_wait` when that takes more than a moment. False, and errno, when there
/// is none to be had.
bool take(int descriptor, const std::function<void()>& on_wait, bool& told) {
  const auto flocked = [&](int how) {
    return detail::uninterrupted([&] { return flock(descriptor, how); }) == 0;
  };
  if (flocked(LOCK_EX | LOCK_NB)) return true;
  if (errno != EWOULDBLOCK) return false;
  if (on_wait && !told) {
    constexpr std::chrono::milliseconds step{10};
    for (auto left = std::chrono::milliseconds(330); left > step; left -= step) {
      std::this_thread::sleep_for(step);
      if (flocked(LOCK_EX | LOCK_NB)) return true;
      if (errno != EWOULDBLOCK) return false;
    }
    told = true;
    on_wait();
  }
  return flocked(LOCK_EX);
}

/// An open descriptor of the file with the lock on it; negative, and errno, when it cannot be had.
int open_locked(const std::string& path, const std::function<void()>& on_wait, bool& told) {
  // Network file systems lock only what is open for writing.
  for (const int flags : {O_RDONLY, O_RDWR, O_WRONLY}) {
    int descriptor = detail::open_regular(path, flags);
    if (descriptor < 0 && errno == EACCES) continue;
    if (descriptor < 0) return descriptor;
    try {
      if (take(descriptor, on_wait, told)) return descriptor;
    } catch (...) {
      detail::close_quietly(descriptor);
      throw;
    }
    detail::close_quietly(descriptor);
    if (errno != EBADF) break;
  }
  return -1;
}

}  // namespace

file_lock::file_lock(const std::string& path, if_impossible otherwise,
                     const std::function<void()>& on_wait) {
  auto fresh = std::make_unique<held_lock>();
  bool told = false;
  while (true) {
    struct stat current {};
    if (::stat(path.c_str(), &current) == 0) held_ = join(current);
    if (held_ != nullptr) return;
    int descriptor = -1;
    try {
      descriptor = open_locked(path, on_wait, told);
    } catch (const error& problem) {
      if (otherwise == if_impossible::go_on && problem.code() == error_code::bad_file) return;
      throw;
    }
    if (descriptor < 0) {
      if (otherwise == if_impossible::go_on) return;
      if (errno == ENOENT || errno == EACCES) detail::io_error(path, "cannot be opened");
      detail::io_error(path,
                       "cannot be locked, and without a lock two writers would lose each other's "
                       "keys; work on a copy where files can be locked");
    }
    // While this waited, the holder may have replaced the file: then lock the new one.
    if (fstat(descriptor, &fresh->file) == 0 && ::stat(path.c_str(), &current) == 0 &&
        detail::is_same(fresh->file, current)) {
      fresh->descriptor = descriptor;
      const std::scoped_lock guard(held_locks_mutex);
      fresh->next = std::exchange(held_locks, fresh.get());
      held_ = fresh.release();
      return;
    }
    detail::close_quietly(descriptor);
  }
}

file_lock::~file_lock() {
  if (held_ == nullptr) return;
  const std::scoped_lock guard(held_locks_mutex);
  if (--held_->users > 0) return;
  held_lock** place = &held_locks;
  while (*place != held_) place = &(*place)->next;
  *place = held_->next;
  detail::close_quietly(held_->descriptor);
  delete held_;
}

void file_lock::move_to(int& descriptor) noexcept {
  struct stat file {};
  if (fstat(descriptor, &file) != 0) return;
  const std::scoped_lock guard(held_locks_mutex);
  held_->file = file;
  std::swap(held_->descriptor, descriptor);
}

}  // namespace octobloom
