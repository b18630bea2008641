#include <octobloom/cuda_engine.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include <octobloom/error.h>
#include <octobloom/gpu/device.h>
#include <octobloom/gpu/filter.h>
#include <octobloom/gpu/streaming.h>

#include "check.h"

namespace octobloom {

namespace {

gpu::filter upload(const const_filter_view& view) {
  return gpu::filter::from_host(view, 0, 0, 0, nullptr, gpu::stream_ordered_allocator());
}

/// Only when everything went well: the host's filter is as it was otherwise.
void download(const gpu::filter& from, const filter_view& to) {
  gpu::detail::check(
      cudaMemcpy(to.words(), from.view().words(), to.shape().bytes(), cudaMemcpyDeviceToHost),
      "copy a filter from the device");
}

gpu::stream_options stream_options(const bulk_options& options) {
  return {.threads = std::min(options.threads, gpu::stream_options::max_threads)};
}

void insert(const filter_view& view, const key_batch& keys, const bulk_options& options) {
  gpu::filter on_device = upload(view);
  gpu::insert(on_device, keys, stream_options(options));
  download(on_device, view);
}

std::uint64_t may_contain(const const_filter_view& view, const key_batch& keys,
                          std::uint8_t* bitmap, const bulk_options& options) {
  return gpu::may_contain(upload(view), keys, bitmap, stream_options(options));
}

std::uint64_t insert_new(const filter_view& view, const key_batch& keys, std::uint8_t* bitmap,
                         const bulk_options& options) {
  gpu::filter on_device = upload(view);
  const std::uint64_t fresh = gpu::insert_new(on_device, keys, bitmap, stream_options(options));
  download(on_device, view);
  return fresh;
}

/// On the host: cuckoo filters have no kernel on a device.
std::uint64_t cuckoo_may_contain(const cuckoo_view& view, const key_batch& keys,
                                 std::uint8_t* bitmap, const bulk_options& options) {
  return reference_engine().cuckoo_may_contain(view, keys, bitmap, options);
}

/// On the host: a hash is cheaper than its way to the device and back.
void hash(const key_batch& keys, std::uint64_t seed, std::uint64_t* hashes,
          const bulk_options& options) {
  reference_engine().hash(keys, seed, hashes, options);
}

}  // namespace

const engine& cuda_engine() noexcept {
  static constexpr engine cuda{.name = "cuda",
                               .why_unavailable = gpu::why_unavailable,
                               .insert = insert,
                               .may_contain = may_contain,
                               .insert_new = insert_new,
                               .cuckoo_may_contain = cuckoo_may_contain,
                               .hash = hash};
  return cuda;
}

}  // namespace octobloom
