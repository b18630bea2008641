#pragma once

#include <cstddef>
#include <string>

#include <octobloom/filter.h>

namespace octobloom {

/// A filter file used in place, read only: nothing is copied, pages come in as they are probed, and
/// processes share them. Move only. Concurrent calls are safe. A file that another process
/// truncates while it is mapped ends this one with SIGBUS; octobloom itself only ever replaces
/// files by renaming.
class mapped_filter : public filter_queries<mapped_filter> {
 public:
  /// Throws error{io} or error{bad_file}. Checking the body reads all of it; load_options can skip
  /// that.
  explicit mapped_filter(const std::string& path, const load_options& options = {});
  mapped_filter(mapped_filter&& other) noexcept;
  mapped_filter& operator=(mapped_filter&& other) noexcept;
  mapped_filter(const mapped_filter&) = delete;
  mapped_filter& operator=(const mapped_filter&) = delete;
  ~mapped_filter();

  [[nodiscard]] const_filter_view view() const noexcept;
  [[nodiscard]] std::uint64_t inserted_keys() const noexcept { return header_.inserted_keys; }
  [[nodiscard]] std::uint64_t planned_keys() const noexcept { return header_.planned_keys; }
  [[nodiscard]] double target_fpr() const noexcept { return header_.target_fpr; }

 private:
  void release() noexcept;

  file_header header_;
  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

}  // namespace octobloom
