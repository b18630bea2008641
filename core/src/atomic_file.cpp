#include <octobloom/atomic_file.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/xattr.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <octobloom/file_lock.h>
#include <octobloom/hash.h>

#include "file_system.h"

namespace octobloom {

namespace {

/// Names for the temporary files of one target: more than there are writers at once.
constexpr unsigned most_names = 10'000;
/// So many of them are looked through for files that nobody works on any more.
constexpr unsigned names_tidied = 16;

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

std::string folder_of(const std::string& file) {
  return file.substr(0, file.rfind('/') + 1);
}

/// What a descriptor's file is called where linkat() looks for it; empty when that is nowhere.
std::string descriptor_name(int descriptor) {
  std::string name = "/proc/self/fd/" + std::to_string(descriptor);
  if (access(name.c_str(), F_OK) != 0) name.clear();
  return name;
}

/// Removes the temporary file of this name if its maker, who would hold its lock, is gone.
void remove_if_dead(const std::string& name) noexcept {
  int descriptor = detail::uninterrupted(
      [&] { return ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); });
  if (descriptor < 0) return;
  struct stat opened {};
  struct stat named {};
  // Its maker may have put it in place, or removed it, just before the lock was free.
  if (fstat(descriptor, &opened) == 0 && S_ISREG(opened.st_mode) &&
      flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::lstat(name.c_str(), &named) == 0 &&
      detail::is_same(opened, named)) {
    ::unlink(name.c_str());
  }
  detail::close_quietly(descriptor);
}

#if defined(__linux__)
/// Gives the file of `descriptor` the access control list and the extended attributes of `path`, as
/// far as this process may, the list only when `with_list`. False when `path` has a list that the
/// file lacks then.
bool copy_attributes(const std::string& path, int descriptor, bool with_list) {
  constexpr std::string_view list = "system.posix_acl_access";
  // A new file may have got a list from its folder.
  (void)fremovexattr(descriptor, list.data());
  const ssize_t size = listxattr(path.c_str(), nullptr, 0);
  if (size <= 0) return true;
  std::vector<char> names(static_cast<std::size_t>(size));
  const ssize_t listed = listxattr(path.c_str(), names.data(), names.size());
  bool complete = true;
  std::vector<char> value;
  for (const char* name = names.data(); name < names.data() + std::max<ssize_t>(listed, 0);
       name += std::strlen(name) + 1) {
    const std::string_view text(name);
    // These speak of the old content, or of rights that go with it.
    if (text == "security.capability" || text == "security.ima" || text == "security.evm") continue;
    bool copied = text != list || with_list;
    if (copied) {
      const ssize_t length = getxattr(path.c_str(), name, nullptr, 0);
      value.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
      const ssize_t got = getxattr(path.c_str(), name, value.data(), value.size());
      copied = got >= 0 &&
               fsetxattr(descriptor, name, value.data(), static_cast<std::size_t>(got), 0) == 0;
    }
    if (!copied && text == list) complete = false;
  }
  return complete;
}
#else
bool copy_attributes(const std::string&, int, bool) {
  return true;
}
#endif

}  // namespace

atomic_file::atomic_file(const std::string& path, locking locks) : atomic_file(locks) {
  struct stat old {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) detail::io_error(path, "cannot be examined");
  direct_ = exists && !S_ISREG(old.st_mode);
  if (direct_) {
    target_ = path;
    descriptor_ = detail::uninterrupted(
        [&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY); });
    if (descriptor_ < 0) detail::io_error(path, "cannot be opened for writing");
    return;
  }
  target_ = link_target(path);
  inherit_from(target_);
  for (unsigned i = 0; i < names_tidied; ++i) remove_if_dead(name(i));
  make_temporary();
}

atomic_file::~atomic_file() {
  // Removed while it is still locked: without the lock it would be anybody's.
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  detail::close_quietly(descriptor_);
}

std::string atomic_file::name(unsigned number) const {
  // Short, whatever the length of the target's name.
  const std::string folder = folder_of(target_);
  const std::string_view file = std::string_view(target_).substr(folder.size());
  std::array<char, 17> hash{};
  std::snprintf(hash.data(), hash.size(), "%016llx",
                static_cast<unsigned long long>(xxh64(file.data(), file.size())));
  return folder + ".octobloom-" + hash.data() + "-" + std::to_string(number);
}

void atomic_file::inherit_from(const std::string& path) {
  struct stat old {};
  if (::stat(path.c_str(), &old) != 0 || !S_ISREG(old.st_mode)) return;
  old_ = {true, old.st_mode & 07777u, old.st_uid, old.st_gid};
}

void atomic_file::make_temporary() {
#if defined(O_TMPFILE)
  const std::string folder = folder_of(target_);
  const mode_t mode = old_.any ? 0600 : 0666;
  descriptor_ = detail::uninterrupted([&] {
    return ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  });
  if (descriptor_ >= 0 && !descriptor_name(descriptor_).empty()) {
    (void)flock(descriptor_, LOCK_EX | LOCK_NB);
    return;
  }
  detail::close_quietly(descriptor_);
#endif
  make_named();
}

void atomic_file::make_named() {
  for (unsigned i = 0; i < most_names; ++i) {
    if (try_named(i)) return;
    if (errno != EEXIST) break;
  }
  detail::io_error(target_, "no temporary file can be made beside it");
}

bool atomic_file::try_named(unsigned number) {
  std::string path = name(number);
  const mode_t mode = old_.any ? 0600 : 0666;
  descriptor_ = detail::uninterrupted([&] {
    return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  });
  if (descriptor_ < 0) return false;
  // Before the lock is taken, somebody may take the file for a dead one.
  struct stat made {};
  struct stat named {};
  const bool lost = flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!lost && fstat(descriptor_, &made) == 0 && ::lstat(path.c_str(), &named) == 0 &&
      detail::is_same(made, named)) {
    temporary_ = std::move(path);
    return true;
  }
  detail::close_quietly(descriptor_);
  errno = EEXIST;
  return false;
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

/// Owner, group, list and mode of the file that it replaces, and all of it on the disk.
void atomic_file::finish() {
  if (old_.any) {
    mode_t mode = old_.mode;
    bool with_group = true;
    if (fchown(descriptor_, old_.owner, old_.group) != 0) {
      mode &= 01777u;  // without the set-id bits, which mean the old owner
      constexpr auto same_owner = static_cast<uid_t>(-1);
      with_group = fchown(descriptor_, same_owner, old_.group) == 0;
    }
    if (!copy_attributes(target_, descriptor_, with_group) || !with_group) {
      // Another group is given no more than everybody is. Beside a list, the group's bits are not
      // the group's.
      mode = (mode & 01707u) | ((mode & 07u) << 3);
    }
    if (fchmod(descriptor_, mode) != 0) {
      detail::io_error(target_, "the mode of the temporary file beside it cannot be set");
    }
  }
  if (fsync(descriptor_) != 0) detail::io_error(target_, "cannot be synced");
}

/// Gives the file its final name, which nobody has. False, and errno, when that cannot be.
bool atomic_file::put_as_new() {
  const std::string from = temporary_.empty() ? descriptor_name(descriptor_) : temporary_;
  const int follow = temporary_.empty() ? AT_SYMLINK_FOLLOW : 0;
  if (linkat(AT_FDCWD, from.c_str(), AT_FDCWD, target_.c_str(), follow) != 0) return false;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
  return true;
}

/// A link cannot replace a file, only a rename can, and that wants a name.
void atomic_file::give_name() {
  if (!temporary_.empty()) return;
  const std::string from = descriptor_name(descriptor_);
  for (unsigned i = 0; i < most_names; ++i) {
    std::string path = name(i);
    if (linkat(AT_FDCWD, from.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = std::move(path);
      return;
    }
    if (errno != EEXIST) break;
  }
  copy_to_named();
}

/// For where files without a name can be made and not be given one.
void atomic_file::copy_to_named() {
  int unnamed = std::exchange(descriptor_, -1);
  try {
    make_named();
    std::vector<std::byte> piece(std::size_t{1} << 16);
    off_t at = 0;
    ssize_t got = 0;
    while ((got = detail::uninterrupted(
                [&] { return pread(unnamed, piece.data(), piece.size(), at); })) > 0) {
      write(std::span(piece).first(static_cast<std::size_t>(got)));
      at += got;
    }
    if (got < 0) detail::io_error(target_, "the temporary file beside it cannot be read");
    finish();
  } catch (...) {
    detail::close_quietly(unnamed);
    throw;
  }
  detail::close_quietly(unnamed);
}

void atomic_file::commit() {
  if (direct_) {
    if (::close(std::exchange(descriptor_, -1)) != 0) detail::io_error(target_, "cannot be closed");
    return;
  }
  inherit_from(target_);
  finish();
  const std::string folder = folder_of(target_);  // here: after the rename nothing may fail
  while (true) {
    std::optional<file_lock> lock;
    if (locks_) lock.emplace(target_, file_lock::if_impossible::go_on);
    struct stat present {};
    if ((!lock || !lock->held()) && ::lstat(target_.c_str(), &present) != 0 && errno == ENOENT) {
      if (put_as_new()) break;
      if (errno == EEXIST) continue;  // just made by somebody, who may hold its lock
    }
    give_name();
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
      detail::io_error(target_, "cannot be replaced");
    }
    temporary_.clear();
    if (lock && lock->held()) lock->move_to(descriptor_);
    break;
  }
  detail::close_quietly(descriptor_);
  // The rename is durable once the folder is synced. Some file systems cannot do that: no error
  // then.
  int directory = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) fsync(directory);
  detail::close_quietly(directory);
}

}  // namespace octobloom
