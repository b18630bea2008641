#include "floor.h"

#include <octobloom/gpu/detail/sources.h>
#include <octobloom/gpu/detail/kernels.cuh>

#include "require.h"

namespace octobloom::bench {

namespace {

using namespace gpu::detail;
using integers = integer_source<std::uint64_t>;

__global__ void find_blocks_kernel(std::uint32_t blocks, integers source, std::uint64_t count,
                                   std::uint64_t* blocks_of) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    blocks_of[i] = rot8::block_index(source.hash(i), blocks);
  }
}

/// Calls f(lane of four, turn, block of the key) for 32 keys a warp, whole groups only.
template <class Words, class Access>
__device__ void for_each_block(Words* words, const std::uint64_t* blocks_of, std::uint64_t count,
                               Access access) {
  const device_tile<4> tile;
  const std::uint64_t groups = count / warp_size;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * (blockDim.x / warp_size);
  for (std::uint64_t g =
           std::uint64_t{blockIdx.x} * (blockDim.x / warp_size) + threadIdx.x / warp_size;
       g < groups; g += warps) {
    const auto block = static_cast<std::uint32_t>(blocks_of[g * warp_size + tile.lane]);
    access(tile, g, block);
  }
}

__global__ void __launch_bounds__(block_threads, 4)
    read_floor_kernel(const std::uint64_t* words, const std::uint64_t* blocks_of,
                      std::uint64_t count, std::uint32_t* bitmap) {
  for_each_block(words, blocks_of, count,
                 [&](const device_tile<4>& tile, std::uint64_t g, std::uint32_t block) {
                   access<2> read_words[4];
                   OCTOBLOOM_UNROLL
                   for (unsigned r = 0; r < 4; ++r) {
                     read_words[r] = read<2>(words + std::uint64_t{tile.from(block, r)} * 8 +
                                             tile.lane % 4 * 2);
                   }
                   std::uint64_t all = 0;
                   OCTOBLOOM_UNROLL
                   for (unsigned r = 0; r < 4; ++r) {
                     all |= read_words[r].word[0] | read_words[r].word[1];
                   }
                   const std::uint32_t answer = tile.ballot(static_cast<std::uint32_t>(all));
                   if (tile.lane == 0) bitmap[g] = answer;
                 });
}

__global__ void __launch_bounds__(block_threads, 4)
    update_floor_kernel(std::uint64_t* words, const std::uint64_t* blocks_of, std::uint64_t count) {
  for_each_block(words, blocks_of, count,
                 [&](const device_tile<4>& tile, std::uint64_t g, std::uint32_t block) {
                   OCTOBLOOM_UNROLL
                   for (unsigned r = 0; r < 4; ++r) {
                     std::uint64_t* to =
                         words + std::uint64_t{tile.from(block, r)} * 8 + tile.lane % 4;
                     tile.or_word(to, std::uint64_t{1} << (g % 64));
                     tile.or_word(to + 4, std::uint64_t{2} << (g % 32));
                   }
                 });
}

unsigned grid() {
  int device = 0;
  int processors = 0;
  (void)cudaGetDevice(&device);
  (void)cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  return static_cast<unsigned>(processors) * 32;
}

integers source_of(const gpu::filter_view& filter, const std::uint64_t* keys) {
  return {keys, octobloom::detail::integer_start(filter.shape().seed)};
}

template <unsigned Lanes, unsigned Words>
void contains(const gpu::filter_view& filter, const std::uint64_t* keys, std::uint64_t count,
              std::uint8_t* bitmap, gpu::stream on) {
  contains_kernel<layout<Lanes, Words>, rounds::one><<<grid(), block_threads, 0, on>>>(
      filter.words(), filter.shape().blocks, 8, source_of(filter, keys), count, bitmap);
}

template <unsigned Lanes>
void insert(const gpu::filter_view& filter, const std::uint64_t* keys, std::uint64_t count,
            gpu::stream on) {
  insert_kernel<layout<Lanes, 1>, rounds::one><<<grid(), block_threads, 0, on>>>(
      filter.words(), filter.shape().blocks, 8, source_of(filter, keys), count);
}

}  // namespace

void find_blocks(const gpu::filter_view& filter, const std::uint64_t* keys, std::uint64_t count,
                 std::uint64_t* blocks_of, gpu::stream on) {
  find_blocks_kernel<<<grid(), block_threads, 0, on>>>(filter.shape().blocks,
                                                       source_of(filter, keys), count, blocks_of);
  require(cudaGetLastError(), "launch a kernel");
}

void read_floor(const gpu::filter_view& filter, const std::uint64_t* blocks_of, std::uint64_t count,
                std::uint8_t* bitmap, gpu::stream on) {
  read_floor_kernel<<<grid(), block_threads, 0, on>>>(filter.words(), blocks_of, count,
                                                      reinterpret_cast<std::uint32_t*>(bitmap));
  require(cudaGetLastError(), "launch a kernel");
}

void update_floor(const gpu::filter_view& filter, const std::uint64_t* blocks_of,
                  std::uint64_t count, gpu::stream on) {
  update_floor_kernel<<<grid(), block_threads, 0, on>>>(filter.words(), blocks_of, count);
  require(cudaGetLastError(), "launch a kernel");
}

void contains_by_width(width w, const gpu::filter_view& filter, const std::uint64_t* keys,
                       std::uint64_t count, std::uint8_t* bitmap, gpu::stream on) {
  if (w.lanes == 1) {
    contains<1, 2>(filter, keys, count, bitmap, on);
  } else if (w.lanes == 2 && w.words == 2) {
    contains<2, 2>(filter, keys, count, bitmap, on);
  } else if (w.lanes == 2) {
    contains<2, 4>(filter, keys, count, bitmap, on);
  } else if (w.lanes == 4) {
    contains<4, 2>(filter, keys, count, bitmap, on);
  } else {
    contains<8, 1>(filter, keys, count, bitmap, on);
  }
  require(cudaGetLastError(), "launch a kernel");
}

void insert_by_width(width w, const gpu::filter_view& filter, const std::uint64_t* keys,
                     std::uint64_t count, gpu::stream on) {
  if (w.lanes == 1) {
    insert<1>(filter, keys, count, on);
  } else if (w.lanes == 2) {
    insert<2>(filter, keys, count, on);
  } else if (w.lanes == 4) {
    insert<4>(filter, keys, count, on);
  } else {
    insert<8>(filter, keys, count, on);
  }
  require(cudaGetLastError(), "launch a kernel");
}

}  // namespace octobloom::bench
