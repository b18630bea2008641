// Kernels whose insides nobody here wrote: CUB's block and warp primitives, libcu++, cooperative
// groups.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/scan.h>
#include <cstdint>
#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
namespace cg = cooperative_groups;
#define KERNEL extern "C" __global__ void

KERNEL cub_scan(const uint32_t* x, uint32_t* out, uint32_t* total) {
  using Scan = cub::BlockScan<uint32_t, 128>;
  __shared__ typename Scan::TempStorage tmp;
  uint32_t v[4], all;
  for (int k = 0; k < 4; ++k) v[k] = x[(blockIdx.x * 128 + threadIdx.x) * 4 + k];
  Scan(tmp).ExclusiveSum(v, v, all);
  for (int k = 0; k < 4; ++k) out[(blockIdx.x * 128 + threadIdx.x) * 4 + k] = v[k];
  if (threadIdx.x == 0) total[blockIdx.x] = all;
}
KERNEL cub_scan_warps(const uint32_t* x, uint32_t* out, uint32_t* total) {
  using Scan = cub::BlockScan<uint32_t, 128, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename Scan::TempStorage tmp;
  uint32_t v[4], all;
  for (int k = 0; k < 4; ++k) v[k] = x[(blockIdx.x * 128 + threadIdx.x) * 4 + k];
  Scan(tmp).ExclusiveSum(v, v, all);
  for (int k = 0; k < 4; ++k) out[(blockIdx.x * 128 + threadIdx.x) * 4 + k] = v[k];
  if (threadIdx.x == 0) total[blockIdx.x] = all;
}
KERNEL cub_sort_pairs(const uint64_t* x, uint64_t* keys, uint32_t* values) {
  using Sort = cub::BlockRadixSort<uint64_t, 128, 4, uint32_t>;
  __shared__ typename Sort::TempStorage tmp;
  uint64_t k[4];
  uint32_t v[4];
  for (int j = 0; j < 4; ++j) {
    v[j] = threadIdx.x * 4 + j;
    k[j] = x[v[j]];
  }
  Sort(tmp).Sort(k, v);
  for (int j = 0; j < 4; ++j) {
    keys[threadIdx.x * 4 + j] = k[j];
    values[threadIdx.x * 4 + j] = v[j];
  }
}
KERNEL cub_reduce(const uint64_t* x, uint64_t* out) {
  using Reduce = cub::BlockReduce<uint64_t, 256>;
  __shared__ typename Reduce::TempStorage tmp;
  const uint64_t s = Reduce(tmp).Sum(x[blockIdx.x * 256 + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}
KERNEL cub_warp_scan(const uint32_t* x, uint32_t* out) {
  using Scan = cub::WarpScan<uint32_t>;
  __shared__ typename Scan::TempStorage tmp[4];
  uint32_t v;
  Scan(tmp[threadIdx.x / 32]).InclusiveSum(x[threadIdx.x], v);
  out[threadIdx.x] = v;
}
KERNEL cub_exchange(const uint32_t* x, uint32_t* out) {
  using Load = cub::BlockLoad<uint32_t, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<uint32_t, 128, 4, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage l;
    typename Store::TempStorage s;
  } tmp;
  uint32_t v[4];
  Load(tmp.l).Load(x, v);
  __syncthreads();
  for (int k = 0; k < 4; ++k) v[k] = v[k] * 4 + k;
  Store(tmp.s).Store(out, v);
}
KERNEL cub_histogram(const uint8_t* x, uint32_t* out) {
  using Histogram = cub::BlockHistogram<uint8_t, 128, 4, 256, cub::BLOCK_HISTO_SORT>;
  __shared__ typename Histogram::TempStorage tmp;
  __shared__ uint32_t h[256];
  uint8_t v[4];
  for (int k = 0; k < 4; ++k) v[k] = x[threadIdx.x * 4 + k];
  Histogram(tmp).Histogram(v, h);
  __syncthreads();
  for (unsigned k = threadIdx.x; k < 256; k += 128) out[k] = h[k];
}
KERNEL cub_merge_sort(const uint32_t* x, uint32_t* out) {
  using Sort = cub::BlockMergeSort<uint32_t, 128, 4>;
  __shared__ typename Sort::TempStorage tmp;
  uint32_t v[4];
  for (int k = 0; k < 4; ++k) v[k] = x[threadIdx.x * 4 + k];
  Sort(tmp).Sort(v, [](uint32_t a, uint32_t b) { return a < b; });
  for (int k = 0; k < 4; ++k) out[threadIdx.x * 4 + k] = v[k];
}

// libcu++ and cooperative groups
KERNEL atomic_refs(const uint64_t* k, uint32_t n, uint64_t* w, uint32_t* count) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  cuda::atomic_ref<uint64_t, cuda::thread_scope_device> word(w[k[i] & 15]);
  word.fetch_or(1ull << (k[i] >> 58), cuda::memory_order_relaxed);
  cuda::atomic_ref<uint32_t, cuda::thread_scope_device> c(*count);
  uint32_t seen = c.load(cuda::memory_order_acquire);
  while (!c.compare_exchange_weak(seen, seen + 2)) {
  }
}
KERNEL block_barrier(const uint32_t* x, uint32_t* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  __shared__ uint32_t s[128];
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  for (uint32_t round = 0; round < 3; ++round) {
    s[threadIdx.x] = x[threadIdx.x] + round;
    b.arrive_and_wait();
    const uint32_t v = s[127 - threadIdx.x];
    b.arrive_and_wait();
    out[round * 128 + threadIdx.x] = v;
  }
}
KERNEL group_copy(const uint32_t* x, uint32_t* out) {
  __shared__ alignas(16) uint32_t s[256];
  const auto b = cg::this_thread_block();
  cg::memcpy_async(b, s, x, sizeof s);
  cg::wait(b);
  out[threadIdx.x] = s[255 - threadIdx.x] + s[threadIdx.x];
}
KERNEL group_scan(const uint32_t* x, uint32_t* out) {
  const auto t = cg::tiled_partition<32>(cg::this_thread_block());
  const uint32_t scan = cg::inclusive_scan(t, x[threadIdx.x]);
  const auto same = cg::labeled_partition(t, x[threadIdx.x] & 3);
  const auto half = cg::binary_partition(t, x[threadIdx.x] & 1);
  out[threadIdx.x] = scan * 10000 + same.size() * 100 + half.thread_rank();
}
KERNEL grid_sync(uint32_t* x) {
  const uint32_t b = blockIdx.x, n = gridDim.x, t = blockDim.x;
  x[b * t + threadIdx.x] = b + 1;
  cg::this_grid().sync();
  x[(n + b) * t + threadIdx.x] = x[(b + 1) % n * t + threadIdx.x];
}
KERNEL wide_arithmetic(unsigned __int128* a, int* d) {
  a[threadIdx.x + 8] =
      a[threadIdx.x] * a[threadIdx.x + 1] + (a[threadIdx.x] / (a[threadIdx.x + 1] >> 70 | 1));
  d[threadIdx.x + 8] = __dp4a(d[threadIdx.x], d[threadIdx.x + 1], d[threadIdx.x + 2]);
}
KERNEL bulk_copy(const uint32_t* x, uint32_t* out) {  // TMA, one dimension
  __shared__ alignas(16) uint32_t s[256];
#if __CUDA_ARCH__ >= 900
  __shared__ uint64_t bar;
  const uint32_t to = __cvta_generic_to_shared(s), b = __cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(b) : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, "
        "[%2];" ::"r"(to),
        "l"(x), "r"(b)
        : "memory");
  }
  asm volatile(
      "{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra WAIT; "
      "}" ::"r"(b)
      : "memory");
#else
  s[threadIdx.x] = x[threadIdx.x];
#endif
  __syncthreads();
  const uint32_t v = s[255 - threadIdx.x];
  __syncthreads();
  s[threadIdx.x] = v;
  __syncthreads();
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(out), "r"(to)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
#else
  out[threadIdx.x] = s[threadIdx.x];
#endif
}
