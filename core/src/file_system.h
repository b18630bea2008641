#pragma once

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

}  // namespace octobloom::detail
