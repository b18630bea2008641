#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <octobloom/storage.h>

namespace octobloom::simd {

/// Memory for the length of a call, of any content. Fresh pages cost as much as the work in them,
/// so the last block goes back to a place where the next call finds it; meanwhile the system may
/// take its pages when it runs short.
class scratch {
 public:
  /// Throws error{out_of_memory} or std::bad_alloc.
  explicit scratch(std::uint64_t bytes);
  ~scratch();
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  /// The next `count` values, 64-byte aligned. The sum of bytes_for() of all that are taken must
  /// have been asked for.
  template <class T>
  [[nodiscard]] std::span<T> take(std::size_t count) noexcept {
    auto* at = reinterpret_cast<T*>(reinterpret_cast<std::byte*>(memory_.words()) + used_);
    used_ += bytes_for<T>(count);
    return {at, count};
  }
  template <class T>
  [[nodiscard]] static constexpr std::uint64_t bytes_for(std::size_t count) noexcept {
    return (std::uint64_t{count} * sizeof(T) + 63) / 64 * 64;
  }

  /// Frees the block that waits for the next call.
  static void release() noexcept;

 private:
  storage memory_;
  std::uint64_t used_ = 0;
};

}  // namespace octobloom::simd
