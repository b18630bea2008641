#pragma once

#include <cstdint>

#include <octobloom/gpu/detail/lanes.h>

namespace octobloom::gpu::detail {

/// Sets bits in a word of device memory, with an atomic that returns nothing (RED). Says `global`:
/// for a pointer whose origin the compiler has lost, atomicOr compiles to a slow, generic path.
__device__ inline void red_or(std::uint64_t* word, std::uint64_t mask) {
  asm volatile("red.relaxed.gpu.global.or.b64 [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(word)), "l"(mask)
               : "memory");
}

/// One warp of a GPU: what host_tile is on a host. Every thread holds its own lane's values.
template <unsigned Lanes>
struct device_tile {
  static constexpr unsigned lanes_per_key = Lanes;
  static constexpr unsigned all = 0xFFFFFFFFu;
  template <class T>
  using lanes = T;

  unsigned lane;

  __device__ device_tile() : lane(threadIdx.x % warp_size) {}

  template <class F, class... T>
  __device__ auto each(F f, const T&... values) const {
    return f(lane, values...);
  }

  template <class T>
  __device__ static T from(T value, unsigned r) {
    if constexpr (Lanes == 1) return value;
    return __shfl_sync(all, value, static_cast<int>(r), Lanes);
  }

  __device__ static std::uint32_t group_and(std::uint32_t value) {
    OCTOBLOOM_UNROLL
    for (unsigned distance = 1; distance < Lanes; distance *= 2) {
      value &= __shfl_xor_sync(all, value, static_cast<int>(distance));
    }
    return value;
  }

  __device__ static std::uint32_t ballot(std::uint32_t bits) {
    return __ballot_sync(all, (bits & 1u) != 0);
  }

  template <class F>
  __device__ void one_lane(F f) const {
    if (lane == 0) f();
  }

  __device__ static void or_word(std::uint64_t* word, std::uint64_t mask) { red_or(word, mask); }
};

}  // namespace octobloom::gpu::detail
