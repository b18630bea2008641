// The insert kernel without its atomic, to see that the tests see the difference.

#include <octobloom/gpu/detail/bodies.h>
#include <octobloom/gpu/detail/sources.h>
#include <octobloom/gpu/detail/device_tile.cuh>

namespace octobloom::test {

using namespace gpu::detail;

template <unsigned Lanes>
struct losing_tile : device_tile<Lanes> {
  __device__ static void or_word(std::uint64_t* word, std::uint64_t mask) { *word |= mask; }
};

template <class Tile>
__device__ void insert(std::uint64_t* words, const std::uint64_t* hashes, std::uint64_t count) {
  insert_body<layout<4, 1>, rounds::partial>(
      Tile{}, position{blockIdx.x, gridDim.x, threadIdx.x / warp_size}, words, 1, 1,
      hash_source{hashes}, count);
}

__global__ void insert_and_lose(std::uint64_t* words, const std::uint64_t* hashes,
                                std::uint64_t count) {
  insert<losing_tile<4>>(words, hashes, count);
}

__global__ void insert_atomically(std::uint64_t* words, const std::uint64_t* hashes,
                                  std::uint64_t count) {
  insert<device_tile<4>>(words, hashes, count);
}

}  // namespace octobloom::test
