#include <octobloom/gpu/detail/kernels.cuh>

#include "launch.h"
#include "start.cuh"
#include "with_source.cuh"

namespace octobloom::gpu::detail {

void launch_insert(const place& at, const filter_view& view, const keys& batch, key_order order) {
  const filter_shape& shape = view.shape();
  with_source(batch, shape.seed, [&](const auto& source) {
    with_rounds(shape.k, [&](auto r) {
      using source_type = std::decay_t<decltype(source)>;
      start(at, insert_kernel<layout<4, 1>, decltype(r)::value, source_type>,
            {.work = turns(batch.size()), .one_wave = order == key_order::sorted}, "insert keys",
            view.words(), shape.blocks, shape.k, source, batch.size());
    });
  });
}

void launch_insert_slices(const place& at, const filter_view& view, const std::uint64_t* hashes,
                          const std::uint64_t* offsets, unsigned bits) {
  const filter_shape& shape = view.shape();
  const std::size_t shared =
      std::size_t{slice::most_blocks(bits, shape.blocks)} * rot8::bytes_per_block;
  with_rounds(shape.k, [&](auto r) {
    auto* kernel = insert_slices_kernel<decltype(r)::value>;
    // The most that any launch takes: the attribute is the kernel's, and other threads launch it.
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_slice_blocks * rot8::bytes_per_block)),
          "take shared memory for a slice");
    start(at, kernel,
          {.work = std::uint64_t{1} << bits, .threads = slice_threads, .shared = shared},
          "insert sorted keys", view.words(), shape.blocks, shape.k, hashes, offsets, bits);
  });
}

}  // namespace octobloom::gpu::detail
