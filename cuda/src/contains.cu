#include <octobloom/gpu/detail/kernels.cuh>

#include "launch.h"
#include "start.cuh"
#include "with_source.cuh"

namespace octobloom::gpu::detail {

void launch_contains(const place& at, const filter_view& view, const keys& batch,
                     std::uint8_t* bitmap) {
  const filter_shape& shape = view.shape();
  with_source(batch, shape.seed, [&](const auto& source) {
    with_rounds(shape.k, [&](auto r) {
      using source_type = std::decay_t<decltype(source)>;
      auto* kernel = contains_kernel<layout<4, 2>, decltype(r)::value, source_type>;
      // Two lanes of 32 bytes where one load takes as much, four of 16 elsewhere. With the state of
      // a string's hash, two lanes are more than the registers hold.
      if constexpr (!std::is_same_v<source_type, string_source>) {
        if (device_attribute(cudaDevAttrComputeCapabilityMajor) >= 10) {
          kernel = contains_kernel<layout<2, 4>, decltype(r)::value, source_type>;
        }
      }
      start(at, kernel, {.work = turns(batch.size())}, "look keys up", view.words(), shape.blocks,
            shape.k, source, batch.size(), bitmap);
    });
  });
}

void launch_hash(const place& at, const keys& batch, std::uint64_t seed, std::uint64_t* hashes) {
  with_source(batch, seed, [&](const auto& source) {
    using source_type = std::decay_t<decltype(source)>;
    start(at, hash_kernel<source_type>, {.work = turns(batch.size())}, "hash keys", source,
          batch.size(), hashes);
  });
}

int probe_kernel_image() noexcept {
  cudaFuncAttributes attributes;
  const cudaError_t status =
      cudaFuncGetAttributes(&attributes, contains_kernel<layout<4, 2>, rounds::one, hash_source>);
  (void)cudaGetLastError();
  return status;
}

}  // namespace octobloom::gpu::detail
