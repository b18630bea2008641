#pragma once

#include <cstdint>
#include <string>

#include <octobloom/gpu/memory.h>

namespace octobloom::gpu {

/// The current device of the calling thread.
struct device_info {
  std::string name;
  int capability = 0;  ///< 10 * major + minor: 90 for 9.0
  unsigned multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t l2_bytes = 0;
  std::uint64_t persisting_l2_bytes = 0;  ///< the most that a window may hold; 0: none
  double bandwidth = 0;                   ///< bytes a second by clock and bus; 0: not told
};

/// Empty when the kernels can run on the current device; otherwise what is missing, and what to do:
/// no driver, no device, a device that is too old, no code for it. Never throws.
[[nodiscard]] std::string why_unavailable();

/// Throws octobloom::error{engine_unavailable} with the text of why_unavailable().
[[nodiscard]] device_info current_device();

/// Waits until `on` has done everything so far. Throws octobloom::error{device} for what went wrong
/// on it.
void synchronize(stream on);

/// While it lives, the words of a filter are kept in the part of the L2 that is set aside for them,
/// as far as they fit, for kernels on one stream. Opt-in: it takes that part from everything else
/// on the device. Destroying it puts stream and cache back. Does nothing on devices without such a
/// part, or where it is not the program's to divide (MIG, MPS). Move only by not moving: keep it in
/// a scope.
class l2_window {
 public:
  /// Throws octobloom::error{device}.
  l2_window(stream on, const void* words, std::uint64_t bytes);
  l2_window(const l2_window&) = delete;
  l2_window& operator=(const l2_window&) = delete;
  ~l2_window();

  /// How many bytes are kept; 0 where the device has no such part.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  stream stream_;
  std::uint64_t bytes_ = 0;
  std::uint64_t limit_before_ = 0;
};

}  // namespace octobloom::gpu
