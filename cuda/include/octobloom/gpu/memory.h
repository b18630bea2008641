#pragma once

#include <cstddef>
#include <utility>

// As <cuda_runtime_api.h> declares it, so that no header of ours needs the toolkit.
struct CUstream_st;

namespace octobloom::gpu {

/// The same type as cudaStream_t. Null is the default stream.
using stream = CUstream_st*;

/// Where device memory comes from. Both functions are ordered on the stream: memory may be used on
/// it at once, and is taken back when the stream gets there. Copied freely; `state` must outlive
/// every copy.
struct allocator {
  void* state = nullptr;
  /// `bytes` > 0, aligned to 256 bytes, on the current device. Throws
  /// octobloom::error{out_of_memory}.
  void* (*allocate)(void* state, std::size_t bytes, stream on) = nullptr;
  /// Whatever device is current.
  void (*deallocate)(void* state, void* memory, std::size_t bytes, stream on) noexcept = nullptr;
};

/// The pool of the current device: cudaMallocAsync and cudaFreeAsync.
[[nodiscard]] allocator stream_ordered_allocator() noexcept;

/// Device memory with an owner. Move only. It is given back in the order of the stream that it was
/// taken on; on_stream() names another one when the last use is elsewhere.
class buffer {
 public:
  buffer() noexcept = default;
  /// Empty when bytes is 0. Throws octobloom::error{out_of_memory} or {device}.
  buffer(std::size_t bytes, stream on, const allocator& from = stream_ordered_allocator())
      : from_(from),
        memory_(bytes == 0 ? nullptr : from.allocate(from.state, bytes, on)),
        bytes_(bytes),
        stream_(on) {}
  buffer(buffer&& other) noexcept { swap(other); }
  buffer& operator=(buffer&& other) noexcept {
    buffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() {
    if (memory_ != nullptr) from_.deallocate(from_.state, memory_, bytes_, stream_);
  }

  template <class T = std::byte>
  [[nodiscard]] T* data() const noexcept {
    return static_cast<T*>(memory_);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] const allocator& source() const noexcept { return from_; }
  void on_stream(stream last_use) noexcept { stream_ = last_use; }

 private:
  void swap(buffer& other) noexcept {
    std::swap(from_, other.from_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(stream_, other.stream_);
  }

  allocator from_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  stream stream_ = nullptr;
};

}  // namespace octobloom::gpu
