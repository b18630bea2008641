// Kernels with a mistake, each of which the interpreter has to report.
#include <cassert>
#include "emulator/kernels_common.h"
using ull = unsigned long long;
#define KERNEL extern "C" __global__ void

KERNEL broken_insert(const uint64_t* __restrict__ keys, uint64_t n, ull* words,
                     uint64_t blocks) {  // no atomicOr
  const uint64_t stride = uint64_t(gridDim.x) * blockDim.x;
  for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += stride) {
    const uint64_t h = mix(keys[i]);
    ull* b = words + block_of(h, blocks) * 8;
    for (unsigned w = 0; w < 8; ++w) b[w] |= bit_of(h, w);
  }
}
KERNEL broken_shared_count(const uint32_t* x, uint32_t* out) {
  __shared__ uint32_t count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  count += x[threadIdx.x] & 1;
  __syncthreads();
  if (threadIdx.x == 0) out[0] = count;
}
KERNEL read_past_end(const uint32_t* x, uint32_t n, uint32_t* out) {
  const uint32_t i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i <= n) out[i % n] = x[i];  // should be <
}
KERNEL write_past_end(uint32_t n, uint32_t* out) {
  const uint32_t i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i <= n) out[i] = i;
}
KERNEL null_pointer(uint32_t* out) {
  if (threadIdx.x == 3)
    *reinterpret_cast<volatile uint32_t*>(4) = 1;
  else
    out[threadIdx.x] = 1;
}
KERNEL shared_past_end(uint32_t* out, uint32_t k) {
  __shared__ uint32_t s[64];
  s[threadIdx.x + k] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
KERNEL wide_load(const ulonglong2* x, uint64_t* out) {
  const ulonglong2 v = x[threadIdx.x];
  out[threadIdx.x] = v.x + v.y;
}
KERNEL write_input(uint32_t* in) {
  in[threadIdx.x] = 1;
}
KERNEL missing_barrier(const uint32_t* x, uint32_t* out) {
  __shared__ uint32_t s[128];
  s[threadIdx.x] = x[threadIdx.x];
  out[threadIdx.x] = s[127 - threadIdx.x];
}
KERNEL missing_syncwarp(const uint32_t* x, uint32_t* out) {
  __shared__ uint32_t s[32];
  s[threadIdx.x] = x[threadIdx.x];
  out[threadIdx.x] = s[31 - threadIdx.x];
}
KERNEL with_syncwarp(const uint32_t* x, uint32_t* out) {  // right
  __shared__ uint32_t s[32];
  s[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  out[threadIdx.x] = s[31 - threadIdx.x];
}
KERNEL lanes_missing(const uint32_t* x, uint32_t* out) {
  uint32_t v = x[threadIdx.x];
  if (threadIdx.x < 20) v += __shfl_xor_sync(0xffffffffu, v, 16);
  out[threadIdx.x] = v;
}
KERNEL lane_not_in_mask(const uint32_t* x, uint32_t* out) {
  out[threadIdx.x] = __shfl_sync(0x0000ffffu, x[threadIdx.x], 0);
}
KERNEL two_shuffles(const uint32_t* x, uint32_t* out) {  // both sides wait for the other
  uint32_t v = x[threadIdx.x];
  if (threadIdx.x & 1) {
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    v *= 3;
    out[threadIdx.x] = v;
  } else {
    v ^= 5;
    v += __shfl_down_sync(0xffffffffu, v, 1);
    out[threadIdx.x + 1] = v;
  }
  __syncthreads();
}
KERNEL early_exit_ballot(const uint32_t* x, uint32_t* out) {
  if (threadIdx.x >= 30) return;
  out[threadIdx.x] = __ballot_sync(0xffffffffu, x[threadIdx.x] & 1);
}
KERNEL barrier_in_branch(const uint32_t* x,
                         uint32_t* out) {  // half of a warp goes to another barrier
  if (threadIdx.x & 1) {
    out[threadIdx.x] = x[threadIdx.x];
    asm volatile("bar.sync 0;" ::: "memory");
    out[threadIdx.x] += 1;
  } else {
    out[threadIdx.x] = 3;
    asm volatile("bar.sync 0;" ::: "memory");
    out[threadIdx.x] += 2;
  }
}
KERNEL barrier_not_met(
    uint32_t* out) {  // warp 1 waits at barrier 1 for 64 threads, warp 0 at barrier 2
  if (threadIdx.x < 32)
    asm volatile("bar.sync 2, 64;" ::: "memory");
  else
    asm volatile("bar.sync 1, 64;" ::: "memory");
  out[threadIdx.x] = 1;
}
KERNEL unwritten_shared(uint32_t* out) {
  __shared__ uint32_t s[64];
  if (threadIdx.x != 5) s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
KERNEL asserts(uint32_t* out) {
  assert(out[threadIdx.x] == 0 || threadIdx.x != 9);
  if (out[0] == 77) __trap();
}
KERNEL endless(volatile uint32_t* out) {
  while (out[0] == 0) {
  }
}
KERNEL race_between_blocks(uint32_t* out) {
  out[threadIdx.x] = blockIdx.x;
}
KERNEL same_value_twice(uint32_t* out) {
  out[0] = 7;
}  // harmless
