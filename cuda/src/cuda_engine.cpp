#include <octobloom/cuda_engine.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include <octobloom/error.h>
#include <octobloom/gpu/device.h>
#include <octobloom/gpu/filter.h>
#include <octobloom/gpu/streaming.h>

#include "check.h"

namespace octobloom {

namespace {

/// A filter on the device, with the streams and buffers of its calls.
class resident_filter : public opened_filter {
 public:
  explicit resident_filter(const const_filter_view& view)
      : filter_(gpu::filter::from_host({view.shape()}, view.words(), nullptr,
                                       gpu::stream_ordered_allocator())) {}

  void insert(const key_batch& keys, const bulk_options& options) override {
    streamer(options).insert(filter_, keys);
  }
  std::uint64_t may_contain(const key_batch& keys, std::uint8_t* bitmap,
                            const bulk_options& options) override {
    const std::lock_guard guard(mutex_);
    return streamer(options).may_contain(filter_, keys, bitmap);
  }
  std::uint64_t insert_new(const key_batch& keys, std::uint8_t* bitmap,
                           const bulk_options& options) override {
    return streamer(options).insert_new(filter_, keys, bitmap);
  }
  void copy_to(std::uint64_t* words) override {
    const std::lock_guard guard(mutex_);
    gpu::detail::check(
        cudaMemcpy(words, filter_.view().words(), filter_.bytes(), cudaMemcpyDeviceToHost),
        "copy a filter from the device");
  }

 private:
  gpu::streamer& streamer(const bulk_options& options) {
    const unsigned threads = std::min(options.threads, gpu::stream_options::max_threads);
    if (!streamer_ || threads != threads_) {
      streamer_.emplace(gpu::stream_options{.threads = threads});
      threads_ = threads;
    }
    return *streamer_;
  }

  std::mutex mutex_;  // of questions from several threads
  gpu::filter filter_;
  std::optional<gpu::streamer> streamer_;
  unsigned threads_ = 0;
};

std::unique_ptr<opened_filter> open(const const_filter_view& view) {
  return std::make_unique<resident_filter>(view);
}

void insert(const filter_view& view, const key_batch& keys, const bulk_options& options) {
  resident_filter on_device(view);
  on_device.insert(keys, options);
  on_device.copy_to(view.words());
}

std::uint64_t may_contain(const const_filter_view& view, const key_batch& keys,
                          std::uint8_t* bitmap, const bulk_options& options) {
  return resident_filter(view).may_contain(keys, bitmap, options);
}

std::uint64_t insert_new(const filter_view& view, const key_batch& keys, std::uint8_t* bitmap,
                         const bulk_options& options) {
  resident_filter on_device(view);
  const std::uint64_t fresh = on_device.insert_new(keys, bitmap, options);
  on_device.copy_to(view.words());
  return fresh;
}

}  // namespace

// Left to the CPU: cuckoo filters have no kernel on a device, and a hash is cheaper than its way
// to the device and back.
const engine& cuda_engine() noexcept {
  static constexpr engine cuda{.name = "cuda",
                               .automatic = false,  // keys reach a core before they reach a device
                               .why_unavailable = gpu::why_unavailable,
                               .open = open,
                               .insert = insert,
                               .may_contain = may_contain,
                               .insert_new = insert_new,
                               .cuckoo_may_contain = nullptr,
                               .hash = nullptr};
  return cuda;
}

}  // namespace octobloom
