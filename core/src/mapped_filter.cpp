#include <octobloom/mapped_filter.h>

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace octobloom {

mapped_filter::mapped_filter(const std::string& path, const load_options& options) {
  filter_file_reader file(path);
  file.require_kind(filter_kind::plain);
  header_ = file.header();
  mapped_bytes_ = file_header_bytes + header_.body_bytes;
  mapping_ = mmap(nullptr, mapped_bytes_, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (mapping_ == MAP_FAILED) {
    mapping_ = nullptr;
    throw error(error_code::io, path + ": cannot be mapped: " + std::strerror(errno));
  }
  if (options.verify_body) {
    try {
      file.verify_body({static_cast<const std::byte*>(mapping_) + file_header_bytes,
                        static_cast<std::size_t>(header_.body_bytes)});
    } catch (...) {
      release();
      throw;
    }
  }
}

mapped_filter::mapped_filter(mapped_filter&& other) noexcept
    : header_(other.header_),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)) {}

mapped_filter& mapped_filter::operator=(mapped_filter&& other) noexcept {
  if (this != &other) {
    release();
    header_ = other.header_;
    mapping_ = std::exchange(other.mapping_, nullptr);
    mapped_bytes_ = std::exchange(other.mapped_bytes_, 0);
  }
  return *this;
}

mapped_filter::~mapped_filter() {
  release();
}

const_filter_view mapped_filter::view() const noexcept {
  const auto* body = static_cast<const std::byte*>(mapping_) + file_header_bytes;
  return {reinterpret_cast<const std::uint64_t*>(body), header_.shape};
}

void mapped_filter::release() noexcept {
  if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
  mapping_ = nullptr;
}

}  // namespace octobloom
