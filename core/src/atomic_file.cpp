#include <octobloom/atomic_file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "file_system.h"

namespace octobloom {

namespace {

/// The file that `path` names once its links are followed; it need not be there.
std::string link_target(const std::string& path) {
  namespace fs = std::filesystem;
  fs::path target = path;
  std::error_code no_link;
  for (fs::path next = fs::read_symlink(target, no_link); !no_link;
       next = fs::read_symlink(target, no_link)) {
    target = target.parent_path() / next;
  }
  return target;
}

/// The mode that open() gives a new file.
mode_t usual_mode() noexcept {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666u & ~mask;
}

/// Gives a file the owner, group and mode of `old`, as far as this process may; false when the mode
/// cannot be set.
bool take_after(int descriptor, const struct stat& old) noexcept {
  mode_t mode = old.st_mode & 07777u;
  if (fchown(descriptor, old.st_uid, old.st_gid) != 0) {
    mode &= 01777u;  // without the set-id bits, which mean the old owner
    constexpr auto same_owner = static_cast<uid_t>(-1);
    if (fchown(descriptor, same_owner, old.st_gid) != 0) {
      // Another group is given no more than everybody is.
      mode = (mode & 01707u) | ((mode & 07u) << 3);
    }
  }
  return fchmod(descriptor, mode) == 0;
}

}  // namespace

atomic_file::atomic_file(const std::string& path) {
  struct stat old {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) detail::io_error(path, "cannot be examined");
  if (exists && !S_ISREG(old.st_mode)) {
    target_ = path;
    descriptor_ = detail::uninterrupted([&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); });
    if (descriptor_ < 0) detail::io_error(path, "cannot be opened for writing");
    return;
  }
  target_ = link_target(path);
  temporary_ = target_ + ".tmp-XXXXXX";
  descriptor_ = mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) detail::io_error(path, "no temporary file can be made beside it");
  // mkostemp makes private files.
  if (!(exists ? take_after(descriptor_, old) : fchmod(descriptor_, usual_mode()) == 0)) {
    const int code = errno;
    ::unlink(temporary_.c_str());
    detail::close_quietly(descriptor_);
    errno = code;
    detail::io_error(path, "the mode of the temporary file beside it cannot be set");
  }
}

atomic_file::~atomic_file() {
  detail::close_quietly(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void atomic_file::write(std::span<const std::byte> bytes) const {
  // Linux moves at most 2 GiB a call; shorter pieces keep the loop the same everywhere.
  constexpr std::size_t piece = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const ssize_t put = detail::uninterrupted(
        [&] { return ::write(descriptor_, bytes.data(), std::min(bytes.size(), piece)); });
    if (put < 0) detail::io_error(target_, "cannot be written");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void atomic_file::commit() {
  if (temporary_.empty()) {
    detail::close_quietly(descriptor_);
    return;
  }
  if (fsync(descriptor_) != 0) detail::io_error(target_, "cannot be synced");
  if (::close(std::exchange(descriptor_, -1)) != 0) detail::io_error(target_, "cannot be closed");
  if (::rename(temporary_.c_str(), target_.c_str()) != 0)
    detail::io_error(target_, "cannot be replaced");
  temporary_.clear();
  const auto slash = target_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : target_.substr(0, slash + 1);
  // The rename is durable once the folder is synced. Some file systems cannot do that: no error
  // then.
  int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) fsync(directory);
  detail::close_quietly(directory);
}

}  // namespace octobloom
