#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <octobloom/error.h>

/// What the code that talks to the file system shares.
namespace octobloom::detail {

[[noreturn]] inline void io_error(const std::string& path, const std::string& what) {
  const int code = errno;
  throw error(error_code::io, path + ": " + what + ": " + std::strerror(code));
}

/// Retries what a signal interrupted.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Leaves errno alone.
inline void close_quietly(int& descriptor) noexcept {
  const int code = errno;
  if (descriptor >= 0) ::close(std::exchange(descriptor, -1));
  errno = code;
}

inline bool is_same(const struct stat& a, const struct stat& b) noexcept {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Throws error{bad_file} that says what it is instead.
inline void require_regular(const struct stat& status, const std::string& path) {
  if (S_ISREG(status.st_mode)) return;
  const char* const what = S_ISDIR(status.st_mode)    ? "a directory"
                           : S_ISFIFO(status.st_mode) ? "a pipe; copy what it brings into a file"
                           : S_ISSOCK(status.st_mode) ? "a socket"
                                                      : "a device";
  throw error(error_code::bad_file, path + ": is no file with a filter but " + what);
}

/// Opens a regular file; errno tells why when the result is negative. Looks first, since opening a
/// pipe waits for its other end and opening a device can have effects, and is not held up where
/// the name has become a pipe since. Throws error{bad_file} for what is not a regular file.
inline int open_regular(const std::string& path, int flags) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return -1;
  require_regular(status, path);
  constexpr int careful = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  int descriptor = uninterrupted([&] { return ::open(path.c_str(), flags | careful); });
  if (descriptor < 0 || fstat(descriptor, &status) != 0 || S_ISREG(status.st_mode)) {
    return descriptor;
  }
  close_quietly(descriptor);
  require_regular(status, path);
  return -1;
}

}  // namespace octobloom::detail
