// Kernels that are right. Wrong ones are in wrong.cu.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline_primitives.h>
#include <cassert>
#include <cstdio>

#include "emulator/kernels_common.h"
namespace cg = cooperative_groups;
using ull = unsigned long long;
#define KERNEL extern "C" __global__ void

__device__ __forceinline__ uint64_t global_thread() {
  return blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
}
__device__ __forceinline__ uint64_t grid_threads() {
  return uint64_t(gridDim.x) * blockDim.x;
}

// (1) one thread a key
KERNEL insert_u64(const uint64_t* __restrict__ keys, uint64_t n, ull* words, uint64_t blocks) {
  for (uint64_t i = global_thread(); i < n; i += grid_threads()) {
    const uint64_t h = mix(keys[i]);
    ull* b = words + block_of(h, blocks) * 8;
#pragma unroll
    for (unsigned w = 0; w < 8; ++w) atomicOr(b + w, ull(bit_of(h, w)));
  }
}
KERNEL insert_u32(const uint64_t* __restrict__ keys, uint64_t n, uint32_t* words, uint64_t blocks) {
  for (uint64_t i = global_thread(); i < n; i += grid_threads()) {
    const uint64_t h = mix(keys[i]);
    uint32_t* b = words + block_of(h, blocks) * 16;
#pragma unroll
    for (unsigned w = 0; w < 8; ++w) {
      const uint64_t bit = bit_of(h, w);
      if (uint32_t(bit))
        atomicOr(b + 2 * w, uint32_t(bit));
      else
        atomicOr(b + 2 * w + 1, uint32_t(bit >> 32));
    }
  }
}
KERNEL insert_red(const uint64_t* __restrict__ keys, uint64_t n, ull* words,
                  uint64_t blocks) {  // four lanes a key
  const unsigned lane = threadIdx.x & 3;
  for (uint64_t i = global_thread() / 4; i < n; i += grid_threads() / 4) {
    const uint64_t h = mix(keys[i]);
    ull* b = words + block_of(h, blocks) * 8 + lane * 2;
    asm volatile("red.relaxed.gpu.global.or.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(b)),
                 "l"(bit_of(h, 2 * lane))
                 : "memory");
    asm volatile("red.relaxed.gpu.global.or.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(b + 1)),
                 "l"(bit_of(h, 2 * lane + 1))
                 : "memory");
  }
}

// (2) L lanes a key
template <int L>
__device__ bool part_hit(const uint64_t* block, unsigned lane, uint64_t h) {
  bool ok = true;
  constexpr int W = 8 / L;  // words a lane
  uint64_t v[W];
  const uint64_t* p = block + lane * W;
  if constexpr (W == 1) v[0] = __ldg(reinterpret_cast<const ull*>(p));
  if constexpr (W == 2)
    asm("ld.global.nc.L1::no_allocate.v2.u64 {%0,%1}, [%2];" : "=l"(v[0]), "=l"(v[1]) : "l"(p));
  if constexpr (W == 4) {
#if __CUDA_ARCH__ >= 1000
    asm("ld.global.nc.v4.u64 {%0,%1,%2,%3}, [%4];"
        : "=l"(v[0]), "=l"(v[1]), "=l"(v[2]), "=l"(v[3])
        : "l"(p));
#else
    const uint4 a = __ldcs(reinterpret_cast<const uint4*>(p)),
                b = __ldcg(reinterpret_cast<const uint4*>(p) + 1);
    v[0] = a.x | uint64_t(a.y) << 32;
    v[1] = a.z | uint64_t(a.w) << 32;
    v[2] = b.x | uint64_t(b.y) << 32;
    v[3] = b.z | uint64_t(b.w) << 32;
#endif
  }
  if constexpr (W == 8) {
    for (int k = 0; k < 4; ++k) {
      const ulonglong2 a = k & 1 ? __ldca(reinterpret_cast<const ulonglong2*>(p) + k)
                                 : __ldlu(reinterpret_cast<const ulonglong2*>(p) + k);
      v[2 * k] = a.x;
      v[2 * k + 1] = a.y;
    }
  }
#pragma unroll
  for (int k = 0; k < W; ++k) ok = ok && (v[k] & bit_of(h, lane * W + k)) != 0;
  return ok;
}
// Each lane owns a key; its tile probes the keys of its lanes one after another.
template <int L>
__device__ void contains_shfl(const uint64_t* keys, uint64_t n, const uint64_t* words,
                              uint64_t blocks, uint32_t* bitmap) {
  const unsigned lane = threadIdx.x & 31, in_tile = lane % L;
  const uint64_t rounded = (n + 31) / 32 * 32;
  for (uint64_t i = global_thread(); i < rounded; i += grid_threads()) {
    const uint64_t h = i < n ? mix(keys[i]) : 0;
    bool mine = false;
#pragma unroll
    for (int k = 0; k < L; ++k) {
      const uint64_t hk = __shfl_sync(0xffffffffu, h, k, L);
      const bool ok = part_hit<L>(words + block_of(hk, blocks) * 8, in_tile, hk);
      const uint32_t all = __ballot_sync(0xffffffffu, ok);
      const uint32_t tile = (all >> (lane - in_tile)) & (L == 32 ? ~0u : (1u << L) - 1);
      if (in_tile == unsigned(k)) mine = tile == (1u << L) - 1;
    }
    const uint32_t out = __ballot_sync(0xffffffffu, mine && i < n);
    if (lane == 0) bitmap[i / 32] = out;
  }
}
KERNEL contains_shfl_1(const uint64_t* k, uint64_t n, const uint64_t* w, uint64_t b, uint32_t* o) {
  contains_shfl<1>(k, n, w, b, o);
}
KERNEL contains_shfl_2(const uint64_t* k, uint64_t n, const uint64_t* w, uint64_t b, uint32_t* o) {
  contains_shfl<2>(k, n, w, b, o);
}
KERNEL contains_shfl_4(const uint64_t* k, uint64_t n, const uint64_t* w, uint64_t b, uint32_t* o) {
  contains_shfl<4>(k, n, w, b, o);
}
KERNEL contains_shfl_8(const uint64_t* k, uint64_t n, const uint64_t* w, uint64_t b, uint32_t* o) {
  contains_shfl<8>(k, n, w, b, o);
}
// One key a tile, no rounding up: tiles of one warp leave the loop at different times.
template <int L>
__device__ void contains_tile(const uint64_t* keys, uint64_t n, const uint64_t* words,
                              uint64_t blocks, uint8_t* out) {
  const auto tile = cg::tiled_partition<L>(cg::this_thread_block());
  for (uint64_t i = global_thread() / L; i < n; i += grid_threads() / L) {
    uint64_t h = 0;
    if (tile.thread_rank() == 0) h = mix(keys[i]);
    h = tile.shfl(h, 0);
    const bool ok = tile.all(part_hit<L>(words + block_of(h, blocks) * 8, tile.thread_rank(), h));
    if (tile.thread_rank() == 0) out[i] = ok;
  }
}
KERNEL contains_tile_1(const uint64_t* k, uint64_t n, const uint64_t* w, uint64_t b, uint8_t* o) {
  contains_tile<1>(k, n, w, b, o);
}
KERNEL contains_tile_2(const uint64_t* k, uint64_t n, const uint64_t* w, uint64_t b, uint8_t* o) {
  contains_tile<2>(k, n, w, b, o);
}
KERNEL contains_tile_4(const uint64_t* k, uint64_t n, const uint64_t* w, uint64_t b, uint8_t* o) {
  contains_tile<4>(k, n, w, b, o);
}
KERNEL contains_tile_8(const uint64_t* k, uint64_t n, const uint64_t* w, uint64_t b, uint8_t* o) {
  contains_tile<8>(k, n, w, b, o);
}

// (3) shared memory
KERNEL histogram(const uint32_t* x, uint64_t n, uint32_t* out) {
  __shared__ uint32_t h[256];
  for (unsigned k = threadIdx.x; k < 256; k += blockDim.x) h[k] = 0;
  __syncthreads();
  for (uint64_t i = global_thread(); i < n; i += grid_threads()) atomicAdd(&h[x[i] & 255], 1u);
  __syncthreads();
  for (unsigned k = threadIdx.x; k < 256; k += blockDim.x) atomicAdd(out + k, h[k]);
}
KERNEL partition16(const uint64_t* x, uint32_t n, uint64_t* out,
                   uint32_t* starts) {  // one block, stable order not kept
  extern __shared__ uint64_t staged[];
  __shared__ uint32_t count[16], place[16];
  if (threadIdx.x < 16) count[threadIdx.x] = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&count[x[i] >> 60], 1u);
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t s = 0;
    for (int k = 0; k < 16; ++k) {
      place[k] = s;
      starts[k] = s;
      s += count[k];
    }
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
    staged[atomicAdd(&place[x[i] >> 60], 1u)] = x[i];
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) out[i] = staged[i];
}
KERNEL shared_atomics(uint64_t* out) {
  __shared__ ull o, mx, mn, ad;
  __shared__ uint32_t x32, inc, dec, lock;
  __shared__ float f;
  if (threadIdx.x == 0) {
    o = 0;
    mx = 0;
    mn = ~0ull;
    ad = 0;
    x32 = 0;
    inc = 0;
    dec = 0;
    f = 0;
    lock = 0;
  }
  __syncthreads();
  const ull v = mix(threadIdx.x + 1);
  atomicOr(&o, 1ull << (threadIdx.x & 63));
  atomicMax(&mx, v);
  atomicMin(&mn, v);
  atomicAdd(&ad, v);
  atomicXor(&x32, 1u << (threadIdx.x & 31));
  atomicInc(&inc, 10);
  atomicDec(&dec, 7);
  atomicAdd(&f, 1.0f);
  // Compare-and-swap loop
  ull seen = atomicAdd(&ad, 0ull), want;
  do {
    want = seen;
    seen = atomicCAS(&ad, want, want + 3);
  } while (seen != want);
  __syncthreads();
  if (threadIdx.x == 0) {
    out[0] = o;
    out[1] = mx;
    out[2] = mn;
    out[3] = ad;
    out[4] = x32;
    out[5] = inc;
    out[6] = dec;
    out[7] = uint64_t(f);
  }
}
KERNEL global_atomics(uint32_t* u, int* s, ull* l, float* f, double* d) {
  const unsigned t = threadIdx.x + blockIdx.x * blockDim.x;
  atomicMin(u, 1000u - t);
  atomicMax(u + 1, t);
  atomicAnd(u + 2, ~(1u << (t & 31)));
  atomicSub(u + 3, 2u);
  atomicMin(s, int(t) - 50);
  atomicMax(s + 1, -int(t));
  atomicAdd(s + 2, -1);
  atomicAdd(l, ull(t));
  atomicExch(l + 1, 77ull);
  atomicAnd(l + 2, ~(1ull << (t & 63)));
  atomicXor(l + 3, 1ull << (t & 63));
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
}

// (4) reductions
KERNEL block_reduce(const uint64_t* x, uint64_t n, uint64_t* sum, uint64_t* least, float* fsum,
                    uint32_t* redux) {
  uint64_t s = 0, m = ~0ull;
  float f = 0;
  uint32_t r = 0;
  for (uint64_t i = global_thread(); i < n; i += grid_threads()) {
    s += x[i];
    m = min(m, x[i]);
    f += float(x[i] & 7);
    r += uint32_t(x[i]) & 0xff;
  }
  for (int d = 16; d; d >>= 1) {
    s += __shfl_down_sync(0xffffffffu, s, d);
    m = min(m, __shfl_xor_sync(0xffffffffu, m, d));
    f += __shfl_xor_sync(0xffffffffu, f, d);
  }
  r = __reduce_add_sync(0xffffffffu, r);
  __shared__ uint64_t ss[32], sm[32];
  __shared__ float sf[32];
  __shared__ uint32_t sr[32];
  if (threadIdx.x % 32 == 0) {
    ss[threadIdx.x / 32] = s;
    sm[threadIdx.x / 32] = m;
    sf[threadIdx.x / 32] = f;
    sr[threadIdx.x / 32] = r;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    const bool have = threadIdx.x < blockDim.x / 32;
    s = have ? ss[threadIdx.x] : 0;
    m = have ? sm[threadIdx.x] : ~0ull;
    f = have ? sf[threadIdx.x] : 0;
    r = have ? sr[threadIdx.x] : 0;
    for (int d = 16; d; d >>= 1) {
      s += __shfl_down_sync(0xffffffffu, s, d);
      m = min(m, __shfl_xor_sync(0xffffffffu, m, d));
      f += __shfl_xor_sync(0xffffffffu, f, d);
    }
    r = __reduce_add_sync(0xffffffffu, r);
    if (threadIdx.x == 0) {
      sum[blockIdx.x] = s;
      least[blockIdx.x] = m;
      fsum[blockIdx.x] = f;
      redux[blockIdx.x] = r;
    }
  }
}
KERNEL warp_scan(const uint32_t* x, uint32_t* out) {  // inclusive, and warp-wide oddities
  const unsigned t = threadIdx.x, lane = t & 31;
  uint32_t v = x[t];
  for (int d = 1; d < 32; d <<= 1) {
    const uint32_t u = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= unsigned(d)) v += u;
  }
  out[t] = v;
  out[blockDim.x + t] = __match_any_sync(0xffffffffu, x[t] & 3);
  int pred;
  out[2 * blockDim.x + t] = __match_all_sync(0xffffffffu, ull(x[t] >> 31 >> 1), &pred) + pred;
  out[3 * blockDim.x + t] = __reduce_max_sync(0xffffffffu, x[t]) ^
                            __reduce_min_sync(0xffffffffu, int(x[t])) ^
                            __reduce_xor_sync(0xffffffffu, x[t]);
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  out[4 * blockDim.x + t] = cg::reduce(tile, x[t], cg::plus<uint32_t>());
}
KERNEL last_block(const uint32_t* x, uint64_t n, ull* partial, uint32_t* ticket,
                  ull* total) {  // threadfence reduction
  __shared__ ull s;
  __shared__ bool last;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  ull v = 0;
  for (uint64_t i = global_thread(); i < n; i += grid_threads()) v += x[i];
  atomicAdd(&s, v);
  __syncthreads();
  if (threadIdx.x == 0) {
    ((volatile ull*)partial)[blockIdx.x] = s;
    __threadfence();
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    ull t = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) t += ((volatile ull*)partial)[b];
    *total = t;
  }
}
KERNEL votes(const uint32_t* x, uint32_t* out) {  // block-wide votes and named barriers
  const unsigned t = threadIdx.x;
  out[t] = __syncthreads_count(x[t] & 1);
  out[blockDim.x + t] = __syncthreads_and(x[t] < 1000) * 2 + __syncthreads_or(x[t] == 5);
  out[2 * blockDim.x + t] = __any_sync(0xffffffffu, x[t] == 7) * 4 +
                            __all_sync(0xffffffffu, x[t] != 7) * 2 +
                            __uni_sync(0xffffffffu, x[t] & 1);
  __shared__ uint32_t box[2];
  if (t < 64) {
    if (t == 0) box[0] = 11;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[3 * blockDim.x + t] = box[0];
  } else if (t < 128) {
    if (t == 64) box[1] = 22;
    asm volatile("barrier.sync 2, 64;" ::: "memory");
    out[3 * blockDim.x + t] = box[1];
  } else
    out[3 * blockDim.x + t] = 0;
}

// (5) divergence
KERNEL divergence(const uint64_t* x, uint64_t n, uint64_t* out) {
  const uint64_t i = global_thread();
  if (i >= n) return;
  out[i] = tangle(x[i], uint32_t(i));
}
KERNEL regroup(const uint64_t* x, uint32_t* out) {  // lanes meet again at every *.sync
  const unsigned t = threadIdx.x;
  uint32_t r = 0;
  for (int round = 0; round < 8; ++round) {
    uint64_t v = x[t] + round;
    if (v & 1)
      v = tangle(v, t);
    else if (v & 2)
      v = mix(v);
    else
      v = 7;
    __syncwarp();
    r = r * 31 + __popc(__ballot_sync(0xffffffffu, v & 1));
    if (t & 1)
      r += __shfl_xor_sync(0xaaaaaaaau, uint32_t(v), 2);
    else
      r ^= __shfl_xor_sync(0x55555555u, uint32_t(v), 4);
  }
  out[t] = r;
}
KERNEL spin_lock(uint32_t* lock, uint32_t* counter) {  // lanes of one warp wait for each other
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0u, 1u) == 0) {
      counter[0] = ((volatile uint32_t*)counter)[0] + 1;
      __threadfence();
      atomicExch(lock, 0u);
      done = true;
    }
  }
}
KERNEL hard_spin_lock(uint32_t* lock, uint32_t* counter) {  // needs forward progress of the holder
  while (atomicCAS(lock, 0u, 1u) != 0) {
  }
  counter[0] = ((volatile uint32_t*)counter)[0] + 1;
  __threadfence();
  atomicExch(lock, 0u);
}
KERNEL coalesced(const uint32_t* x, uint32_t* counter, uint32_t* out) {  // aggregated append
  const unsigned t = threadIdx.x + blockIdx.x * blockDim.x;
  if (x[t] % 3 == 0) {
    const auto g = cg::coalesced_threads();
    uint32_t base = 0;
    if (g.thread_rank() == 0) base = atomicAdd(counter, g.size());
    base = g.shfl(base, 0);
    out[base + g.thread_rank()] = x[t];
  }
}
KERNEL lookback(const uint32_t* x, volatile uint32_t* flag, volatile uint32_t* prefix,
                uint32_t* out) {  // blocks wait for earlier blocks
  __shared__ uint32_t before;
  if (threadIdx.x == 0) {
    uint32_t p = 0;
    if (blockIdx.x) {
      while (flag[blockIdx.x - 1] == 0) {
      }
      p = prefix[blockIdx.x - 1];
    }
    prefix[blockIdx.x] = p + x[blockIdx.x];
    __threadfence();
    flag[blockIdx.x] = 1;
    before = p;
  }
  __syncthreads();
  if (threadIdx.x == 1) out[blockIdx.x] = before;
}

// (6) arithmetic
KERNEL arithmetic(const uint64_t* x, uint32_t n,
                  uint64_t* out) {  // 40 results a thread; see test.cc
  const uint32_t i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i + 2 >= n) return;
  const uint64_t a = x[i], b = x[i + 1], c = x[i + 2];
  const int64_t sa = a, sb = b;
  const uint32_t a32 = a, b32 = b >> 7, c32 = c;
  const int32_t sa32 = a, sb32 = b >> 3;
  uint64_t* o = out + uint64_t(i) * 48;
  int k = 0;
  o[k++] = __umul64hi(a, b);
  o[k++] = __mul64hi(sa, sb);
  o[k++] = __umulhi(a32, b32);
  o[k++] = uint32_t(__mulhi(sa32, sb32));
  o[k++] = b ? a / b : 1;
  o[k++] = b ? a % b : 2;
  o[k++] = sb ? sa / sb : 3;
  o[k++] = sb ? sa % sb : 4;
  o[k++] = a / 10;
  o[k++] = a % 1000003;
  o[k++] = uint64_t(sa / -7);
  o[k++] = b32 ? a32 / b32 : 5;
  o[k++] = b32 ? a32 % b32 : 6;
  o[k++] = sb32 ? uint32_t(sa32 / sb32) : 7;
  o[k++] = a << (c & 63);
  o[k++] = a >> (c & 63);
  o[k++] = uint64_t(sa >> (c & 63));
  o[k++] = rotl(a, c & 63);
  o[k++] = (a32 << (c & 31)) | (a32 >> (-c & 31));
  o[k++] = __popcll(a);
  o[k++] = __popc(a32);
  o[k++] = __clzll(a >> (c & 63));
  o[k++] = __clz(a32 >> (c & 31));
  o[k++] = uint32_t(__ffsll(a << (c & 63)));
  o[k++] = __brevll(a);
  o[k++] = __brev(a32);
  o[k++] = __funnelshift_l(a32, b32, c32);
  o[k++] = __funnelshift_r(a32, b32, c32);
  o[k++] = __funnelshift_lc(a32, b32, c32 & 63);
  o[k++] = __funnelshift_rc(a32, b32, c32 & 63);
  o[k++] = __byte_perm(a32, b32, c32 & 0x7777);
  uint32_t p;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(p) : "r"(a32), "r"(b32), "r"(c32 & 0xffff));
  o[k++] = p;
  uint64_t lo, hi;
  asm("add.cc.u64 %0, %2, %3; addc.u64 %1, %4, 5;" : "=l"(lo), "=l"(hi) : "l"(a), "l"(b), "l"(c));
  o[k++] = lo ^ hi * 3;
  asm("sub.cc.u64 %0, %2, %3; subc.u64 %1, %4, 5;" : "=l"(lo), "=l"(hi) : "l"(a), "l"(b), "l"(c));
  o[k++] = lo ^ hi * 3;
  uint32_t m0, m1;
  asm("mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, 9;"
      : "=r"(m0), "=r"(m1)
      : "r"(a32), "r"(b32), "r"(c32));
  o[k++] = m0 | uint64_t(m1) << 32;
  uint64_t w;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(w) : "r"(a32), "r"(b32), "l"(c));
  o[k++] = w;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(w) : "r"(sa32), "r"(sb32));
  o[k++] = w;
  o[k++] = __umul24(a32, b32);
  o[k++] = uint32_t(__mul24(sa32, sb32));
  uint32_t e;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(e) : "r"(a32), "r"(b32 & 63), "r"(c32 & 63));
  o[k++] = e;
  int se;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(se) : "r"(sa32), "r"(b32 & 63), "r"(c32 & 63));
  o[k++] = uint32_t(se);
  asm("bfe.s64 %0, %1, %2, %3;" : "=l"(w) : "l"(a), "r"(b32 & 127), "r"(c32 & 127));
  o[k++] = w;
  asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(w) : "l"(a), "l"(b), "r"(b32 & 127), "r"(c32 & 127));
  o[k++] = w;
  asm("lop3.b32 %0, %1, %2, %3, 0xE4;" : "=r"(e) : "r"(a32), "r"(b32), "r"(c32));
  o[k++] = e;
  asm("bfind.u64 %0, %1;" : "=r"(e) : "l"(a >> (c & 63)));
  o[k++] = e;
  asm("bfind.shiftamt.s32 %0, %1;" : "=r"(e) : "r"(sa32 >> (c & 31)));
  o[k++] = e;
  o[k++] =
      uint64_t(int64_t(int8_t(a))) + uint16_t(b) + uint64_t(int64_t(int16_t(c))) + uint8_t(a >> 9);
  o[k++] = min(sa, sb) ^ max(a, b) ^ uint64_t(min(sa32, sb32)) ^ uint64_t(llabs(sa >> 1));
}
KERNEL floats(const float* x, const double* y, uint32_t n, float* fo, double* dout, int64_t* io) {
  const uint32_t i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i + 1 >= n) return;
  const float a = x[i], b = x[i + 1];
  const double c = y[i], d = y[i + 1];
  fo[4 * i] = fmaf(a, b, a);
  fo[4 * i + 1] = a / b;
  fo[4 * i + 2] = sqrtf(fabsf(a));
  fo[4 * i + 3] = fminf(a, b) - fmaxf(a, -b);
  dout[3 * i] = fma(c, d, -c);
  dout[3 * i + 1] = c / d;
  dout[3 * i + 2] = sqrt(fabs(d)) + double(a);
  io[6 * i] = int64_t(c);
  io[6 * i + 1] = int32_t(a);
  io[6 * i + 2] = uint32_t(fabsf(b));
  io[6 * i + 3] = __float2int_rn(a);
  io[6 * i + 4] = __double2ll_ru(c);
  io[6 * i + 5] = int64_t(float(uint64_t(i) * 0x123456789abull)) + int64_t(floorf(b));
}

// Functions, structs, constant and local memory, printf, dimensions, asynchronous copies
__device__ __noinline__ uint64_t fib(uint64_t n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
__device__ __noinline__ uint64_t twice(uint64_t x) {
  return x * 2;
}
__device__ __noinline__ uint64_t plus_three(uint64_t x) {
  return x + 3;
}
__device__ __noinline__ void fill(uint32_t* p, uint32_t n, uint32_t seed) {
  for (uint32_t k = 0; k < n; ++k) p[k] = seed * (k + 1);
}
struct Pair {
  uint64_t a;
  uint32_t b;
};
__device__ __noinline__ Pair swap_pair(Pair p) {
  return Pair{uint64_t(p.b) << 1, uint32_t(p.a) + 1};
}
__constant__ uint32_t kTable[64] = {5, 4, 3, 2, 1};
__device__ uint64_t g_counter = 40;
__device__ uint64_t (*g_functions[2])(uint64_t) = {twice, plus_three};
KERNEL calls(uint64_t* out, uint32_t k) {
  const unsigned t = threadIdx.x;
  uint64_t r = t & 1 ? fib(t / 2) : fib(3);
  if (t % 3 == 0) r += twice(r);
  uint64_t (*f)(uint64_t) = g_functions[(t >> 1) & 1];
  r = f(r);
  uint32_t local[24];
  fill(local, 24, t + 1);
  r += local[(t * 7 + k) % 24];
  const Pair p = swap_pair(Pair{r, t});
  out[t] = p.a * 1000003 + p.b + kTable[(t + k) & 63];
  if (t == 0) atomicAdd(reinterpret_cast<ull*>(&g_counter), 2ull);
  if (t == 1) printf("thread %u\n", t);
}
KERNEL by_value(Rule r, uint32_t which, uint64_t* out) {
  out[threadIdx.x] = (r.table[threadIdx.x] >> r.shift[which]) + r.add + r.shift[threadIdx.x % 3];
}
KERNEL dimensions(uint32_t* out) {
  const unsigned bid = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned tid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[bid * blockDim.x * blockDim.y * blockDim.z + tid] =
      (blockIdx.x << 20 | blockIdx.y << 16 | blockIdx.z << 12) +
      (threadIdx.x | threadIdx.y << 4 | threadIdx.z << 8);
}
KERNEL async_copy(const uint4* x, uint4* out) {
  __shared__ uint4 s[128];
  __pipeline_memcpy_async(&s[threadIdx.x], &x[blockIdx.x * 128 + threadIdx.x], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = s[127 - threadIdx.x];
}
KERNEL hints(const uint64_t* x, uint64_t* out) {  // cache hints, policies, prefetch, fences, clocks
  uint64_t policy, a, b, c, d;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  const uint64_t* p = x + threadIdx.x * 4;
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v2.u64 {%0,%1}, [%2], %3;"
               : "=l"(a), "=l"(b)
               : "l"(p), "l"(policy));
  asm volatile("ld.global.L1::evict_last.L2::128B.v2.u64 {%0,%1}, [%2+16];"
               : "=l"(c), "=l"(d)
               : "l"(p));
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
  const long long t0 = clock64();
  __threadfence_block();
  __threadfence();
  __threadfence_system();
  __nanosleep(10);
  const long long t1 = clock64();
  asm volatile("st.global.cs.v2.u64 [%0], {%1,%2};" ::"l"(out + threadIdx.x * 4), "l"(a ^ 1),
               "l"(b ^ 2)
               : "memory");
  __stcg(out + threadIdx.x * 4 + 2, c);
  __stwt(out + threadIdx.x * 4 + 3, d + (t1 > t0));
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait; griddepcontrol.launch_dependents;");
#endif
}

// (9) statistics
KERNEL load_stride(const uint32_t* x, uint32_t* out, uint32_t stride) {
  const uint32_t t = threadIdx.x + blockIdx.x * blockDim.x;
  const uint32_t v = __ldg(x + t * stride);
  if (v == 0xdeadbeef) out[0] = 1;
}
KERNEL shared_stride(uint32_t* out, uint32_t stride) {
  __shared__ uint32_t s[1024];
  s[(threadIdx.x * stride) & 1023] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) out[0] = s[0];
}
