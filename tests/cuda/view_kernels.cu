// Kernels of a user: the view inside them, by single threads and by groups. Compiled to PTX for the
// interpreter and linked into the test for a real device.

#include <cooperative_groups.h>

#include "cuda/view_kernels.h"

namespace octobloom::test {

namespace {

namespace cg = cooperative_groups;

__device__ std::uint64_t thread_number() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

/// Calls f(group, key, number) for every key, `Lanes` threads a key; all groups of a warp come
/// along.
template <unsigned Lanes, class F>
__device__ void for_each_key(const std::uint64_t* keys, std::uint64_t count, F f) {
  const auto group = cg::tiled_partition<Lanes>(cg::this_thread_block());
  const std::uint64_t groups = std::uint64_t{gridDim.x} * blockDim.x / Lanes;
  for (std::uint64_t i = thread_number() / Lanes; i < count; i += groups) f(group, keys[i], i);
}

}  // namespace

__global__ void insert_by_threads(gpu::filter_view filter, const std::uint64_t* keys,
                                  std::uint64_t count) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = thread_number(); i < count; i += threads) filter.insert(keys[i]);
}

__global__ void contains_by_threads(gpu::filter_view filter, const std::uint64_t* keys,
                                    std::uint64_t count, std::uint8_t* answers) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = thread_number(); i < count; i += threads) {
    answers[i] = filter.may_contain(keys[i]) ? 1 : 0;
  }
}

template <unsigned Lanes>
__global__ void insert_by_groups(gpu::filter_view filter, const std::uint64_t* keys,
                                 std::uint64_t count) {
  for_each_key<Lanes>(keys, count, [&](const auto& group, std::uint64_t key, std::uint64_t) {
    filter.insert(group, key);
  });
}

template <unsigned Lanes>
__global__ void contains_by_groups(gpu::filter_view filter, const std::uint64_t* keys,
                                   std::uint64_t count, std::uint8_t* answers) {
  for_each_key<Lanes>(keys, count, [&](const auto& group, std::uint64_t key, std::uint64_t i) {
    const bool answer = filter.may_contain(group, key);
    if (group.thread_rank() == 0) answers[i] = answer ? 1 : 0;
  });
}

#define OCTOBLOOM_INSTANTIATE(lanes)                                                         \
  template __global__ void insert_by_groups<lanes>(gpu::filter_view, const std::uint64_t*,   \
                                                   std::uint64_t);                           \
  template __global__ void contains_by_groups<lanes>(gpu::filter_view, const std::uint64_t*, \
                                                     std::uint64_t, std::uint8_t*);
OCTOBLOOM_INSTANTIATE(1)
OCTOBLOOM_INSTANTIATE(2)
OCTOBLOOM_INSTANTIATE(4)
OCTOBLOOM_INSTANTIATE(8)

#if !defined(OCTOBLOOM_PTX_ONLY)
void run_view_kernels(unsigned lanes, const gpu::filter_view& filter, const std::uint64_t* keys,
                      std::uint64_t count, std::uint64_t inserted, std::uint8_t* answers) {
  switch (lanes) {
    case 1:
      insert_by_groups<1><<<7, 128>>>(filter, keys, inserted);
      contains_by_groups<1><<<7, 128>>>(filter, keys, count, answers);
      break;
    case 2:
      insert_by_groups<2><<<7, 128>>>(filter, keys, inserted);
      contains_by_groups<2><<<7, 128>>>(filter, keys, count, answers);
      break;
    case 4:
      insert_by_groups<4><<<7, 128>>>(filter, keys, inserted);
      contains_by_groups<4><<<7, 128>>>(filter, keys, count, answers);
      break;
    case 8:
      insert_by_groups<8><<<7, 128>>>(filter, keys, inserted);
      contains_by_groups<8><<<7, 128>>>(filter, keys, count, answers);
      break;
    default:
      insert_by_threads<<<7, 128>>>(filter, keys, inserted);
      contains_by_threads<<<7, 128>>>(filter, keys, count, answers);
  }
}
#endif

}  // namespace octobloom::test
