#pragma once

#include <cstdint>

#include <octobloom/gpu/detail/bodies.h>
#include <octobloom/gpu/detail/device_tile.cuh>

/// The kernels: only loops and addresses; the bodies do the work.
namespace octobloom::gpu::detail {

__device__ inline position here() {
  return {blockIdx.x, gridDim.x, threadIdx.x / warp_size};
}

// Four blocks a multiprocessor: the registers of all loads in flight; at the default, the compiler
// aims at fewer registers and waits after every load.
template <class Layout, rounds Rounds, class Source>
__global__ void __launch_bounds__(block_threads, 4)
    contains_kernel(const std::uint64_t* words, std::uint32_t blocks, std::uint32_t k,
                    Source source, std::uint64_t keys, std::uint8_t* bitmap) {
  contains_body<Layout, Rounds>(device_tile<Layout::lanes>{}, here(), words, blocks, k, source,
                                keys, bitmap);
}

template <class Layout, rounds Rounds, class Source>
__global__ void __launch_bounds__(block_threads, 4)
    insert_kernel(std::uint64_t* words, std::uint32_t blocks, std::uint32_t k, Source source,
                  std::uint64_t keys) {
  insert_body<Layout, Rounds>(device_tile<Layout::lanes>{}, here(), words, blocks, k, source, keys);
}

/// The hash of every key.
template <class Source>
__global__ void __launch_bounds__(block_threads)
    hash_kernel(Source source, std::uint64_t keys, std::uint64_t* hashes) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * block_threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x; i < keys;
       i += stride) {
    hashes[i] = source.hash(i);
  }
}

/// Builds a filter slice by slice in shared memory. `hashes` are sorted by their top `bits` bits,
/// those of part i begin at offsets[i] and end at offsets[i + 1]; needs 64 bytes of dynamic shared
/// memory for each of slice::most_blocks(bits, blocks).
template <rounds Rounds>
__global__ void __launch_bounds__(slice_threads)
    insert_slices_kernel(std::uint64_t* words, std::uint32_t blocks, std::uint32_t k,
                         const std::uint64_t* hashes, const std::uint64_t* offsets, unsigned bits) {
  extern __shared__ std::uint64_t local[];
  const std::uint64_t parts = std::uint64_t{1} << bits;
  for (std::uint64_t i = blockIdx.x; i < parts; i += gridDim.x) {
    const std::uint64_t first = offsets[i];
    const std::uint64_t last = offsets[i + 1];
    if (first == last) continue;
    const slice part = slice::of(i, bits, blocks);
    clear_slice(part, local, threadIdx.x, slice_threads);
    __syncthreads();
    fill_slice<Rounds>(part, blocks, k, hashes + first, hashes + last, local, threadIdx.x,
                       slice_threads);
    __syncthreads();
    merge_slice<device_tile<1>>(part, local, words, threadIdx.x, slice_threads);
    __syncthreads();
  }
}

}  // namespace octobloom::gpu::detail
