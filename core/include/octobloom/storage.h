#pragma once

#include <cstdint>

namespace octobloom {

/// Zeroed, 64-byte aligned words; from 2 MiB on anonymous pages that ask for huge ones. Move only.
class storage {
 public:
  storage() noexcept = default;
  /// Throws error{out_of_memory}, before it allocates, when `words` need more than
  /// available_memory(). 1 <= words < 2^35.
  explicit storage(std::uint64_t words);
  storage(storage&& other) noexcept;
  storage& operator=(storage&& other) noexcept;
  storage(const storage&) = delete;
  storage& operator=(const storage&) = delete;
  ~storage();

  [[nodiscard]] std::uint64_t* words() noexcept { return words_; }
  [[nodiscard]] const std::uint64_t* words() const noexcept { return words_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// Sets every word to zero.
  void clear() noexcept;

 private:
  void release() noexcept;

  std::uint64_t* words_ = nullptr;
  std::uint64_t size_ = 0;
};

/// The most memory, in bytes, that this process may have: the machine's, or that of its control
/// group when that is less.
[[nodiscard]] std::uint64_t available_memory() noexcept;

}  // namespace octobloom
