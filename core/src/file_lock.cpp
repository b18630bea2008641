#include <octobloom/file_lock.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "file_system.h"

namespace octobloom {

file_lock::file_lock(const std::string& path) : descriptor_(-1) {
  while (true) {
    descriptor_ = detail::uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); });
    if (descriptor_ < 0) detail::io_error(path, "cannot be opened");
    if (detail::uninterrupted([&] { return flock(descriptor_, LOCK_EX); }) != 0) {
      const int code = errno;
      detail::close_quietly(descriptor_);
      errno = code;
      detail::io_error(path, "cannot be locked");
    }
    // While this waited, the holder may have replaced the file: then lock the new one.
    struct stat locked {};
    struct stat current {};
    if (fstat(descriptor_, &locked) == 0 && ::stat(path.c_str(), &current) == 0 &&
        locked.st_dev == current.st_dev && locked.st_ino == current.st_ino) {
      return;
    }
    detail::close_quietly(descriptor_);
  }
}

file_lock::~file_lock() {
  detail::close_quietly(descriptor_);
}

}  // namespace octobloom
