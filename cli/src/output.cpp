#include "output.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <octobloom/error.h>
#include <octobloom/file.h>

#include "options.h"

namespace octobloom::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_write = std::size_t{1} << 30;

/// The name that `path` comes to when its links are followed, also to a file that is not there.
fs::path last_link(const std::string& path) {
  fs::path target = fs::absolute(path);
  std::error_code no_link;
  constexpr int most_links = 40;
  for (int i = 0; i < most_links; ++i) {
    const fs::path next = fs::read_symlink(target, no_link);
    if (no_link) break;
    target = target.parent_path() / next;
  }
  return target;
}

void wait_until_writable(int descriptor) {
  pollfd waiting{descriptor, POLLOUT, 0};
  poll(&waiting, 1, -1);
}

}  // namespace

bool is_same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty() || a == "-" || b == "-") return false;
  std::error_code ignored;
  if (fs::equivalent(a, b, ignored)) return true;
  // Files that are yet to be made: one name in one folder.
  const fs::path first = last_link(a);
  const fs::path second = last_link(b);
  return first.filename() == second.filename() &&
         fs::equivalent(first.parent_path(), second.parent_path(), ignored);
}

output::output() : descriptor_(STDOUT_FILENO), name_("standard output") {}

output::output(const atomic_file& file, std::string name)
    : descriptor_(file.descriptor()), name_(std::move(name)) {}

void output::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), std::min(bytes.size(), largest_write));
    if (put >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno == EPIPE) {
      throw closed_pipe{};
    } else if (errno == EAGAIN) {
      wait_until_writable(descriptor_);
    } else if (errno != EINTR) {
      throw error(error_code::io, name_ + ": cannot be written: " + std::strerror(errno));
    }
  }
}

void require_other_output(const output& out, std::span<const std::string> files) {
  struct stat target {};
  if (fstat(out.descriptor(), &target) != 0 || !S_ISREG(target.st_mode)) return;
  for (const std::string& file : files) {
    struct stat source {};
    const int result = file == "-" ? fstat(STDIN_FILENO, &source) : ::stat(file.c_str(), &source);
    if (result == 0 && source.st_dev == target.st_dev && source.st_ino == target.st_ino) {
      throw error(error_code::io,
                  (file == "-" ? "standard input" : file) +
                      ": is input and output at once; let the output go to another file");
    }
  }
}

void require_replaceable(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return;
  try {
    const filter_reader is_a_filter(path);
  } catch (const error& problem) {
    throw error(problem.code(),
                std::string(problem.what()) + ". Give another name, or --force to replace it");
  }
}

void require_distinct(std::span<const named_file> files) {
  for (auto one = files.begin(); one != files.end(); ++one) {
    for (auto other = files.begin(); other != one; ++other) {
      if (is_same_file(one->path, other->path)) {
        throw usage_error(std::string(other->option) + " and " + one->option +
                          " name the same file, " + one->path + ": one would replace the other");
      }
    }
  }
}

void print(std::string_view text) {
  output().write(text);
}

void write_whole_file(const std::string& path, std::string_view text) {
  atomic_file file(path);
  output(file, path).write(text);
  file.commit();
}

}  // namespace octobloom::cli
