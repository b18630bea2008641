#pragma once

#include <thrust/system/cuda/execution_policy.h>
#include <cub/device/device_radix_sort.cuh>

#include <cstdint>

#include <octobloom/gpu/detail/orchestrate.cuh>

#include "check.h"
#include "launch.h"

namespace octobloom::gpu::detail {

/// Thrust asks it for temporaries: they come from the caller's allocator, in stream order.
class temporary_allocator {
 public:
  using value_type = char;
  explicit temporary_allocator(const place& at) : at_(&at) {}
  char* allocate(std::ptrdiff_t bytes) {
    return static_cast<char*>(
        at_->from.allocate(at_->from.state, static_cast<std::size_t>(bytes), at_->on));
  }
  void deallocate(char* memory, std::size_t bytes) {
    at_->from.deallocate(at_->from.state, memory, bytes, at_->on);
  }

 private:
  const place* at_;
};

template <class T>
class temporary_values {
 public:
  temporary_values(std::uint64_t count, const place& at)
      : memory_(count * sizeof(T), at.on, at.from) {}
  [[nodiscard]] T* data() const { return memory_.data<T>(); }

 private:
  buffer memory_;
};

/// The backend of orchestrate.cuh on a GPU.
class device_backend {
 public:
  explicit device_backend(const place& at, std::uint64_t seed = 0)
      : at_(at), temporaries_(at_), seed_(seed) {}
  device_backend(const device_backend&) = delete;
  device_backend& operator=(const device_backend&) = delete;

  auto policy() { return thrust::cuda::par_nosync(temporaries_).on(at_.on); }

  template <class T>
  [[nodiscard]] temporary_values<T> temporary(std::uint64_t count) const {
    return {count, at_};
  }

  void hash(const keys& batch, std::uint64_t count, std::uint64_t* hashes) const {
    launch_hash(at_, batch.slice(0, count), seed_, hashes);
  }
  void contains(const filter_view& view, const std::uint64_t* hashes, std::uint64_t count,
                std::uint8_t* bitmap) const {
    launch_contains(at_, view, keys::hashes(hashes, count), bitmap);
  }
  void insert_sorted(const filter_view& view, const std::uint64_t* hashes,
                     std::uint64_t count) const {
    launch_insert(at_, view, keys::hashes(hashes, count), key_order::sorted);
  }
  void insert_slices(const filter_view& view, const std::uint64_t* hashes,
                     const std::uint64_t* offsets, unsigned bits) const {
    launch_insert_slices(at_, view, hashes, offsets, bits);
  }

  std::uint64_t* sort_by_top_bits(std::uint64_t* hashes, std::uint64_t* other, std::uint64_t count,
                                  unsigned bits) const {
    cub::DoubleBuffer<std::uint64_t> buffers(hashes, other);
    const auto sort = [&](void* memory, std::size_t& bytes) {
      check(cub::DeviceRadixSort::SortKeys(memory, bytes, buffers, count,
                                           static_cast<int>(64 - bits), 64, at_.on),
            "sort keys by block range");
    };
    std::size_t bytes = 0;
    sort(nullptr, bytes);
    const buffer memory(bytes, at_.on, at_.from);
    sort(memory.data(), bytes);
    return buffers.Current();
  }

 private:
  place at_;
  temporary_allocator temporaries_;
  std::uint64_t seed_;
};

/// Runs f(); what Thrust throws becomes an octobloom::error.
template <class F>
auto with_thrust(const char* what, F f) {
  try {
    return f();
  } catch (const thrust::system_error& failure) {
    check(static_cast<cudaError_t>(failure.code().value()), what);
    throw;
  }
}

}  // namespace octobloom::gpu::detail
