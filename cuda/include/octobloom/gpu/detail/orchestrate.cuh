#pragma once

#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>

#include <octobloom/detail/block_fpr.h>
#include <octobloom/detail/host_device.h>
#include <octobloom/filter_view.h>
#include <octobloom/gpu/filter_view.h>
#include <octobloom/gpu/insert_plan.h>

/// The operations that need more than one kernel, by Thrust, over a backend:
///
///   backend.policy()                            an execution policy of Thrust
///   backend.temporary<T>(n).data()              memory for n values, given back when it goes away
///   backend.hash(source, n, hashes)             the kernels of kernels.cuh
///   backend.contains(view, hashes, n, bitmap)
///   backend.insert_sorted(view, hashes, n)      hashes in the order of their blocks
///   backend.insert_slices(view, hashes, offsets, bits)
///   backend.sort_by_top_bits(hashes, other, n, bits) -> the one of the two that holds the result
///
/// The device's backend launches kernels; the tests have one on a host, for Thrust's CPP and OMP
/// systems.
namespace octobloom::gpu::detail {

/// Keys that insert_new decides together, and that a partitioned insert sorts together.
inline constexpr std::uint64_t new_group = std::uint64_t{1} << 24;
inline constexpr std::uint64_t partition_group = std::uint64_t{1} << 26;

OCTOBLOOM_HOST_DEVICE inline unsigned population(std::uint64_t word) noexcept {
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned>(__popcll(word));
#else
  return static_cast<unsigned>(std::popcount(word));
#endif
}

struct bit_of {
  const std::uint8_t* bitmap;
  OCTOBLOOM_HOST_DEVICE std::uint8_t operator()(std::uint64_t i) const noexcept {
    return static_cast<std::uint8_t>(bitmap[i / 8] >> (i % 8) & 1u);
  }
};

struct bit_is_clear {
  const std::uint8_t* bitmap;
  OCTOBLOOM_HOST_DEVICE bool operator()(std::uint64_t i) const noexcept {
    return bit_of{bitmap}(i) == 0;
  }
};

struct bit_is_set {
  const std::uint8_t* bitmap;
  OCTOBLOOM_HOST_DEVICE bool operator()(std::uint64_t i) const noexcept {
    return bit_of{bitmap}(i) != 0;
  }
};

/// Bits in the i-th 8 bytes of `bytes` bytes.
struct bits_in {
  const std::uint8_t* bitmap;
  std::uint64_t bytes;
  OCTOBLOOM_HOST_DEVICE std::uint64_t operator()(std::uint64_t i) const noexcept {
    const std::uint64_t first = 8 * i;
    const std::uint64_t last = first + 8 < bytes ? first + 8 : bytes;
    std::uint64_t word = 0;
    for (std::uint64_t b = first; b < last; ++b) word = word << 8 | bitmap[b];
    return population(word);
  }
};

/// Sets bits of a bitmap that is aligned to 4 bytes and as long.
struct set_bit {
  std::uint32_t* bitmap;
  OCTOBLOOM_HOST_DEVICE void operator()(std::uint32_t i) const noexcept {
    const std::uint32_t mask = 1u << (i % 32);
#if defined(__CUDA_ARCH__)
    atomicOr(bitmap + i / 32, mask);
#else
    std::atomic_ref(bitmap[i / 32]).fetch_or(mask, std::memory_order_relaxed);
#endif
  }
};

struct top_bits {
  unsigned shift;
  OCTOBLOOM_HOST_DEVICE std::uint64_t operator()(std::uint64_t hash) const noexcept {
    return hash >> shift;
  }
};

/// Sets the bits of a filter's word in another's, which others may insert into meanwhile.
struct or_into {
  std::uint64_t* target;
  const std::uint64_t* other;
  OCTOBLOOM_HOST_DEVICE void operator()(std::uint64_t i) const noexcept {
    const std::uint64_t bits = other[i];
    if (bits == 0) return;
#if defined(__CUDA_ARCH__)
    atomicOr(reinterpret_cast<unsigned long long*>(target + i), bits);
#else
    std::atomic_ref(target[i]).fetch_or(bits, std::memory_order_relaxed);
#endif
  }
};

struct block_sum {
  std::uint64_t bits;
  double fpr;
};

struct add_blocks {
  OCTOBLOOM_HOST_DEVICE block_sum operator()(const block_sum& a,
                                             const block_sum& b) const noexcept {
    return {a.bits + b.bits, a.fpr + b.fpr};
  }
};

struct sum_of_block {
  const std::uint64_t* words;
  std::uint32_t k;
  OCTOBLOOM_HOST_DEVICE block_sum operator()(std::uint32_t block) const noexcept {
    octobloom::detail::word_fills fills;
    std::uint64_t bits = 0;
    for (unsigned w = 0; w < rot8::words_per_block; ++w) {
      const unsigned set = population(words[std::uint64_t{block} * rot8::words_per_block + w]);
      bits += set;
      fills.share[w] = set / 64.0;
    }
    return {bits, octobloom::detail::block_fpr(fills, k)};
  }
};

inline auto counting(std::uint64_t from) {
  return thrust::counting_iterator<std::uint64_t>(from);
}

template <class Backend>
std::uint64_t count_bits(Backend& backend, const std::uint8_t* bitmap, std::uint64_t bytes) {
  return thrust::transform_reduce(backend.policy(), counting(0), counting((bytes + 7) / 8),
                                  bits_in{bitmap, bytes}, std::uint64_t{0},
                                  thrust::plus<std::uint64_t>{});
}

template <class Backend>
void bitmap_to_bytes(Backend& backend, const std::uint8_t* bitmap, std::uint64_t keys,
                     std::uint8_t* answers) {
  thrust::transform(backend.policy(), counting(0), counting(keys), answers, bit_of{bitmap});
}

/// Copies the values whose bit is set, in order; returns how many.
template <class Backend, class In, class Out>
std::uint64_t select(Backend& backend, In values, std::uint64_t keys, const std::uint8_t* bitmap,
                     Out out) {
  return static_cast<std::uint64_t>(thrust::copy_if(backend.policy(), values,
                                                    values + static_cast<std::ptrdiff_t>(keys),
                                                    counting(0), out, bit_is_set{bitmap}) -
                                    out);
}

template <class Backend>
void merge_words(Backend& backend, std::uint64_t* target, const std::uint64_t* other,
                 std::uint64_t words) {
  thrust::for_each_n(backend.policy(), counting(0), words, or_into{target, other});
}

template <class Backend>
block_sum sum_blocks(Backend& backend, const filter_view& view) {
  return thrust::transform_reduce(backend.policy(), thrust::counting_iterator<std::uint32_t>(0),
                                  thrust::counting_iterator<std::uint32_t>(view.shape().blocks),
                                  sum_of_block{view.words(), view.shape().k}, block_sum{0, 0.0},
                                  add_blocks{});
}

/// Inserts by `plan`, which is not a direct one.
template <class Backend, class Source>
void insert_by_range(Backend& backend, const filter_view& view, const Source& source,
                     std::uint64_t keys, const insert_plan& plan,
                     std::uint64_t group = partition_group) {
  group = std::min(keys, group);
  const std::uint64_t parts = std::uint64_t{1} << plan.bits;
  const bool in_shared_memory = plan.method == insert_method::shared_slices;
  auto first_buffer = backend.template temporary<std::uint64_t>(group);
  auto second_buffer = backend.template temporary<std::uint64_t>(group);
  auto offsets = backend.template temporary<std::uint64_t>(in_shared_memory ? parts + 1 : 0);
  for (std::uint64_t first = 0; first < keys; first += group) {
    const std::uint64_t count = std::min(group, keys - first);
    backend.hash(source.from(first), count, first_buffer.data());
    const std::uint64_t* const hashes =
        backend.sort_by_top_bits(first_buffer.data(), second_buffer.data(), count, plan.bits);
    if (!in_shared_memory) {
      backend.insert_sorted(view, hashes, count);
      continue;
    }
    const auto begin = thrust::make_transform_iterator(hashes, top_bits{64 - plan.bits});
    thrust::lower_bound(backend.policy(), begin, begin + static_cast<std::ptrdiff_t>(count),
                        counting(0), counting(parts + 1), offsets.data());
    backend.insert_slices(view, hashes, offsets.data(), plan.bits);
  }
}

/// What insert_new needs for a group of so many keys.
template <class Backend>
struct new_group_memory {
  new_group_memory(Backend& backend, std::uint64_t keys)
      : hashes(backend.template temporary<std::uint64_t>(keys)),
        candidates(backend.template temporary<std::uint64_t>(keys)),
        order(backend.template temporary<std::uint32_t>(keys)),
        fresh(backend.template temporary<std::uint32_t>((keys + 31) / 32)) {}

  template <class T>
  using values = decltype(std::declval<Backend&>().template temporary<T>(0));
  values<std::uint64_t> hashes;
  values<std::uint64_t> candidates;  ///< hashes that were absent
  values<std::uint32_t> order;       ///< their numbers
  values<std::uint32_t> fresh;       ///< a bit a key
};

/// insert_new for one group, keys <= new_group. memory.fresh receives the bits; returns how many
/// are set.
template <class Backend, class Source>
std::uint64_t insert_new_group(Backend& backend, const filter_view& view, const Source& source,
                               std::uint64_t keys, const new_group_memory<Backend>& memory) {
  const auto policy = backend.policy();
  auto* const hashes = memory.hashes.data();
  auto* const candidates = memory.candidates.data();
  auto* const order = memory.order.data();
  auto* const fresh = memory.fresh.data();
  auto* const bitmap = reinterpret_cast<std::uint8_t*>(fresh);
  backend.hash(source, keys, hashes);
  backend.contains(view, hashes, keys, bitmap);

  // What was absent, and of that the first of each run of equal hashes: the sort is stable.
  const thrust::counting_iterator<std::uint32_t> numbers(0);
  const auto absent = thrust::copy_if(policy, numbers, numbers + static_cast<std::ptrdiff_t>(keys),
                                      order, bit_is_clear{bitmap}) -
                      order;
  thrust::gather(policy, order, order + absent, hashes, candidates);
  thrust::stable_sort_by_key(policy, candidates, candidates + absent, order);
  const auto distinct =
      thrust::unique_by_key(policy, candidates, candidates + absent, order).first - candidates;
  const auto count = static_cast<std::uint64_t>(distinct);
  backend.insert_sorted(view, candidates, count);

  thrust::fill_n(policy, fresh, (keys + 31) / 32, 0u);
  thrust::for_each_n(policy, order, count, set_bit{fresh});
  return count;
}

/// insert_new; `bitmap` may be null.
template <class Backend, class Source>
std::uint64_t insert_new_all(Backend& backend, const filter_view& view, const Source& source,
                             std::uint64_t keys, std::uint8_t* bitmap,
                             std::uint64_t group = new_group) {
  const new_group_memory<Backend> memory(backend, std::min(keys, group));
  std::uint64_t count = 0;
  for (std::uint64_t first = 0; first < keys; first += group) {
    const std::uint64_t size = std::min(group, keys - first);
    count += insert_new_group(backend, view, source.from(first), size, memory);
    if (bitmap != nullptr) {
      thrust::copy_n(backend.policy(), reinterpret_cast<const std::uint8_t*>(memory.fresh.data()),
                     bitmap_bytes(size), bitmap + first / 8);
    }
  }
  return count;
}

}  // namespace octobloom::gpu::detail
