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
///   backend.insert(view, hashes, n)
///   backend.insert_slices(view, hashes, offsets, bits)
///   backend.sort_by_top_bits(hashes, n, bits)   in place
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

struct bitwise_or {
  OCTOBLOOM_HOST_DEVICE std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const noexcept {
    return a | b;
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
  thrust::transform(backend.policy(), target, target + words, other, target, bitwise_or{});
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
  auto hashes = backend.template temporary<std::uint64_t>(group);
  for (std::uint64_t first = 0; first < keys; first += group) {
    const std::uint64_t count = std::min(group, keys - first);
    backend.hash(source.from(first), count, hashes.data());
    backend.sort_by_top_bits(hashes.data(), count, plan.bits);
    if (plan.method == insert_method::l2_slices) {
      backend.insert(view, hashes.data(), count);
      continue;
    }
    const std::uint64_t parts = std::uint64_t{1} << plan.bits;
    auto offsets = backend.template temporary<std::uint64_t>(parts + 1);
    const top_bits part{64 - plan.bits};
    const auto begin = thrust::make_transform_iterator(hashes.data(), part);
    thrust::lower_bound(backend.policy(), begin, begin + static_cast<std::ptrdiff_t>(count),
                        counting(0), counting(parts + 1), offsets.data());
    backend.insert_slices(view, hashes.data(), offsets.data(), plan.bits);
  }
}

/// insert_new for one group, keys <= new_group. `fresh` receives the bits, 4-byte aligned and as
/// long; returns how many are set.
template <class Backend, class Source>
std::uint64_t insert_new_group(Backend& backend, const filter_view& view, const Source& source,
                               std::uint64_t keys, std::uint32_t* fresh) {
  const auto policy = backend.policy();
  auto hashes = backend.template temporary<std::uint64_t>(keys);
  auto candidates = backend.template temporary<std::uint64_t>(keys);
  auto order = backend.template temporary<std::uint32_t>(keys);
  auto* bitmap = reinterpret_cast<std::uint8_t*>(fresh);
  backend.hash(source, keys, hashes.data());
  backend.contains(view, hashes.data(), keys, bitmap);

  // What was absent, and of that the first of each run of equal hashes: the sort is stable.
  const thrust::counting_iterator<std::uint32_t> numbers(0);
  const auto absent = thrust::copy_if(policy, numbers, numbers + static_cast<std::ptrdiff_t>(keys),
                                      order.data(), bit_is_clear{bitmap}) -
                      order.data();
  thrust::gather(policy, order.data(), order.data() + absent, hashes.data(), candidates.data());
  thrust::stable_sort_by_key(policy, candidates.data(), candidates.data() + absent, order.data());
  const auto distinct =
      thrust::unique_by_key(policy, candidates.data(), candidates.data() + absent, order.data())
          .first -
      candidates.data();
  const auto count = static_cast<std::uint64_t>(distinct);
  backend.insert(view, candidates.data(), count);

  thrust::fill_n(policy, fresh, (keys + 31) / 32, 0u);
  thrust::for_each_n(policy, order.data(), count, set_bit{fresh});
  return count;
}

/// insert_new; `bitmap` may be null.
template <class Backend, class Source>
std::uint64_t insert_new_all(Backend& backend, const filter_view& view, const Source& source,
                             std::uint64_t keys, std::uint8_t* bitmap,
                             std::uint64_t group = new_group) {
  auto fresh = backend.template temporary<std::uint32_t>((std::min(keys, group) + 31) / 32);
  std::uint64_t count = 0;
  for (std::uint64_t first = 0; first < keys; first += group) {
    const std::uint64_t size = std::min(group, keys - first);
    count += insert_new_group(backend, view, source.from(first), size, fresh.data());
    if (bitmap != nullptr) {
      thrust::copy_n(backend.policy(), reinterpret_cast<const std::uint8_t*>(fresh.data()),
                     bitmap_bytes(size), bitmap + first / 8);
    }
  }
  return count;
}

}  // namespace octobloom::gpu::detail
