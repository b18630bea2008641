#include <octobloom/mapped_filter.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <span>
#include <utility>

#include "file_system.h"

namespace octobloom {

mapped_filter::mapped_filter(const std::string& path, const mapping_options& options)
    : path_(path) {
  filter_reader file(path);
  file.require_kind(filter_kind::plain);
  header_ = file.header();
  families_.unite(header_.families, true);
  if (options.copy) {
    copy_ = storage(header_.body_bytes / sizeof(std::uint64_t));
    words_ = copy_.words();
    file.read_body(std::as_writable_bytes(std::span(copy_.words(), copy_.size())),
                   {.verify_body = options.verify_body});
    return;
  }
  if constexpr (!files_can_be_used_in_place) {
    throw error(error_code::invalid_argument,
                path +
                    ": the little-endian words of a filter file cannot be used in place on this "
                    "big-endian machine: ask for a copy, or use filter::load()");
  }
  mapped_bytes_ = file_header_bytes + header_.body_bytes;
  mapping_ = mmap(nullptr, mapped_bytes_, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (mapping_ == MAP_FAILED) {
    mapping_ = nullptr;
    detail::io_error(path, "cannot be mapped");
  }
  words_ = reinterpret_cast<const std::uint64_t*>(static_cast<const std::byte*>(mapping_) +
                                                  file_header_bytes);
  descriptor_ = fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
  try {
    if (descriptor_ < 0) detail::io_error(path, "cannot be kept open");
    if (options.verify_body) verify_body();
  } catch (...) {
    release();
    throw;
  }
}

mapped_filter::mapped_filter(mapped_filter&& other) noexcept {
  *this = std::move(other);
}

mapped_filter& mapped_filter::operator=(mapped_filter&& other) noexcept {
  if (this != &other) {
    release();
    families_ = other.families_;
    path_ = std::move(other.path_);
    header_ = other.header_;
    words_ = std::exchange(other.words_, nullptr);
    copy_ = std::move(other.copy_);
    descriptor_ = std::exchange(other.descriptor_, -1);
    mapping_ = std::exchange(other.mapping_, nullptr);
    mapped_bytes_ = std::exchange(other.mapped_bytes_, 0);
  }
  return *this;
}

mapped_filter::~mapped_filter() {
  release();
}

void mapped_filter::verify_body() const {
  octobloom::verify_body(std::as_bytes(std::span(words_, header_.body_bytes / sizeof *words_)),
                         header_, path_);
}

bool mapped_filter::whole() const noexcept {
  struct stat status {};
  return descriptor_ < 0 || (fstat(descriptor_, &status) == 0 &&
                             static_cast<std::uint64_t>(status.st_size) >= mapped_bytes_);
}

void mapped_filter::release() noexcept {
  detail::close_quietly(descriptor_);
  if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
  mapping_ = nullptr;
}

}  // namespace octobloom
