#include <octobloom/storage.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include <octobloom/error.h>
#include <octobloom/rot8.h>

namespace octobloom {

namespace {

constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;

bool on_pages(std::uint64_t bytes) noexcept {
  return bytes >= huge_page;
}

std::uint64_t rounded_up(std::uint64_t bytes) noexcept {
  return (bytes + huge_page - 1) / huge_page * huge_page;
}

/// A limit file of a control group; "max", absent and unreadable mean no limit.
std::uint64_t read_limit(const std::string& path) noexcept {
  try {
    std::ifstream file(path);
    std::uint64_t limit = 0;
    if (file >> limit) return limit;
  } catch (const std::exception&) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  return std::numeric_limits<std::uint64_t>::max();
}

/// The smallest memory limit on the way from this process's control group to the root, for both
/// versions of the control groups' file systems.
std::uint64_t control_group_limit() noexcept {
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  try {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
      const auto first = line.find(':');
      const auto second = line.find(':', first + 1);
      if (first == std::string::npos || second == std::string::npos) continue;
      const std::string controllers = line.substr(first + 1, second - first - 1);
      const bool unified = controllers.empty();
      if (!unified && controllers.find("memory") == std::string::npos) continue;
      const std::string root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
      const std::string file = unified ? "/memory.max" : "/memory.limit_in_bytes";
      std::string group = line.substr(second + 1);
      while (true) {
        limit = std::min(limit, read_limit(root + (group == "/" ? "" : group) + file));
        if (group.empty() || group == "/") break;
        group.resize(group.rfind('/'));
      }
    }
  } catch (const std::exception&) {
    return limit;
  }
  return limit;
}

}  // namespace

std::uint64_t available_memory() noexcept {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const auto page_size = static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  return std::min(pages * page_size, control_group_limit());
}

storage::storage(std::uint64_t words) : size_(words) {
  const std::uint64_t bytes = words * sizeof(std::uint64_t);
  if (!on_pages(bytes)) {
    words_ =
        static_cast<std::uint64_t*>(::operator new(bytes, std::align_val_t{rot8::bytes_per_block}));
    std::memset(words_, 0, bytes);
    return;
  }
  if (const std::uint64_t available = available_memory(); bytes > available) {
    throw error(error_code::out_of_memory,
                "a filter of " + std::to_string(bytes >> 20) + " MiB does not fit into the " +
                    std::to_string(available >> 20) +
                    " MiB of memory that this process may have: plan fewer keys, a higher rate, or "
                    "map a file instead");
  }
  // One huge page more than needed, so that the block can start on a huge page's boundary.
  const std::uint64_t size = rounded_up(bytes);
  void* raw =
      mmap(nullptr, size + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) {
    throw error(error_code::out_of_memory, "the system refused " + std::to_string(bytes >> 20) +
                                               " MiB for a filter: " + std::strerror(errno));
  }
  const auto start = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = rounded_up(start);
  if (aligned > start) munmap(raw, aligned - start);
  const std::uintptr_t rest = start + huge_page - aligned;
  if (rest > 0) munmap(reinterpret_cast<void*>(aligned + size), rest);
  words_ = reinterpret_cast<std::uint64_t*>(aligned);
#if defined(MADV_HUGEPAGE)
  madvise(words_, size, MADV_HUGEPAGE);  // advice: without it everything works, slower
#endif
}

storage::storage(storage&& other) noexcept
    : words_(std::exchange(other.words_, nullptr)), size_(std::exchange(other.size_, 0)) {}

storage& storage::operator=(storage&& other) noexcept {
  if (this != &other) {
    release();
    words_ = std::exchange(other.words_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

storage::~storage() {
  release();
}

void storage::clear() noexcept {
  std::memset(words_, 0, size_ * sizeof(std::uint64_t));
}

void storage::release() noexcept {
  if (words_ == nullptr) return;
  const std::uint64_t bytes = size_ * sizeof(std::uint64_t);
  if (on_pages(bytes)) {
    munmap(words_, rounded_up(bytes));
  } else {
    ::operator delete(words_, std::align_val_t{rot8::bytes_per_block});
  }
}

}  // namespace octobloom
