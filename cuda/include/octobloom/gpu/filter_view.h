#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <octobloom/detail/host_device.h>
#include <octobloom/filter_view.h>
#include <octobloom/gpu/detail/lanes.h>
#include <octobloom/hash.h>

namespace octobloom::gpu {

namespace detail {

/// Word Layout::word(t, i) of the pattern of x with k bits. A chain of selects finds the salt, and
/// the compiler may move it out of a caller's loop.
template <class Layout, unsigned I, unsigned... T>
OCTOBLOOM_HOST_DEVICE inline std::uint64_t lane_pattern_word(
    unsigned t, std::uint32_t x, unsigned k, std::integer_sequence<unsigned, T...>) noexcept {
  const unsigned word = Layout::word(t, I);
  const unsigned rounds = k / rot8::words_per_block;
  const unsigned rest = k % rot8::words_per_block;
  const auto bit = [&]<unsigned Round>(std::integral_constant<unsigned, Round>) {
    std::uint32_t salt = 0;
    ((salt = T == 0 || t == T ? salt_constant<Round * rot8::words_per_block + Layout::word(T, I)>()
                              : salt),
     ...);
    const bool set = Round < rounds || (Round == rounds && rot8::in_partial_round(x, rest, word));
    return std::uint64_t{set ? 1u : 0u} << rot8::salted_bit(x, salt);
  };
  std::uint64_t bits = bit(std::integral_constant<unsigned, 0>{});
  if (k > rot8::words_per_block) bits |= bit(std::integral_constant<unsigned, 1>{});
  if (k > 2 * rot8::words_per_block) bits |= bit(std::integral_constant<unsigned, 2>{});
  return bits;
}

/// Sets bits of a word that other threads may be writing.
OCTOBLOOM_HOST_DEVICE inline void or_shared_word(std::uint64_t* word, std::uint64_t mask) noexcept {
#if defined(__CUDA_ARCH__)
  atomicOr(reinterpret_cast<unsigned long long*>(word), mask);
#else
  std::atomic_ref(*word).fetch_or(mask, std::memory_order_relaxed);
#endif
}

/// A thread on its own, as a group of one.
struct lone_thread {
  OCTOBLOOM_HOST_DEVICE static constexpr unsigned size() noexcept { return 1; }
  OCTOBLOOM_HOST_DEVICE static constexpr unsigned thread_rank() noexcept { return 0; }
  OCTOBLOOM_HOST_DEVICE static constexpr bool all(bool answer) noexcept { return answer; }
};

}  // namespace detail

/// Threads that ask about one key together: 1, 2, 4 or 8 neighbours of a warp. Any type with these
/// members is one; cooperative_groups::thread_block_tile<4> is.
template <class T>
concept key_group = requires(const T& group, bool answer) {
  { T::size() };
  { group.thread_rank() };
  { group.all(answer) };
};

/// A filter in device memory, to be passed to kernels by value: trivially copyable, four words. Its
/// functions run in a kernel and, on host memory, on a host; the same bits either way.
///
/// Inserts are atomic, so any number of threads may insert at once. A query beside inserts is safe
/// and sees every insert that happened before it by the memory model of the device: by stream
/// order, a barrier, or an earlier line of the same thread; of the others it may see a part, which
/// reads as "absent".
class filter_view {
 public:
  filter_view() = default;
  /// `words`: shape.word_count() of them in device memory, aligned to 64 bytes.
  OCTOBLOOM_HOST_DEVICE constexpr filter_view(std::uint64_t* words,
                                              const filter_shape& shape) noexcept
      : words_(words), shape_(shape) {}

  [[nodiscard]] OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t* words() const noexcept {
    return words_;
  }
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE constexpr const filter_shape& shape() const noexcept {
    return shape_;
  }

  /// Whether the key may have been inserted; never a false "no". Two 32-byte sectors.
  template <numeric_key Key>
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE bool may_contain(Key key) const noexcept {
    return may_contain_hash(key_hash(key, shape_.seed));
  }
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE bool may_contain(const char* key,
                                                       std::size_t bytes) const noexcept {
    return may_contain_hash(xxh64(key, bytes, shape_.seed));
  }
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE bool may_contain_hash(std::uint64_t hash) const noexcept {
    return may_contain_hash(detail::lone_thread{}, hash);
  }

  template <numeric_key Key>
  OCTOBLOOM_HOST_DEVICE void insert(Key key) const noexcept {
    insert_hash(key_hash(key, shape_.seed));
  }
  OCTOBLOOM_HOST_DEVICE void insert(const char* key, std::size_t bytes) const noexcept {
    insert_hash(xxh64(key, bytes, shape_.seed));
  }
  OCTOBLOOM_HOST_DEVICE void insert_hash(std::uint64_t hash) const noexcept {
    insert_hash(detail::lone_thread{}, hash);
  }

  /// The same by a group: all of its threads call it with the same key and get the same answer. The
  /// block is read in whole sectors, without a thread reading more than its share.
  template <key_group Group, numeric_key Key>
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE bool may_contain(const Group& group, Key key) const noexcept {
    return may_contain_hash(group, key_hash(key, shape_.seed));
  }
  template <key_group Group>
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE bool may_contain_hash(const Group& group,
                                                            std::uint64_t hash) const noexcept {
    using part = detail::layout<Group::size(), Group::size() <= 4 ? 2 : 1>;
    const std::uint64_t* block = block_of(hash);
    std::uint64_t missing = 0;
    for_each_word<part>(group.thread_rank(), hash, [&](unsigned word, std::uint64_t pattern) {
      missing |= pattern & ~block[word];
    });
    return group.all(missing == 0);
  }

  template <key_group Group, numeric_key Key>
  OCTOBLOOM_HOST_DEVICE void insert(const Group& group, Key key) const noexcept {
    insert_hash(group, key_hash(key, shape_.seed));
  }
  template <key_group Group>
  OCTOBLOOM_HOST_DEVICE void insert_hash(const Group& group, std::uint64_t hash) const noexcept {
    using part = detail::layout<Group::size(), 1>;
    std::uint64_t* block = block_of(hash);
    for_each_word<part>(group.thread_rank(), hash, [&](unsigned word, std::uint64_t pattern) {
      if (pattern != 0) detail::or_shared_word(block + word, pattern);
    });
  }

 private:
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE std::uint64_t* block_of(std::uint64_t hash) const noexcept {
    return words_ + std::uint64_t{rot8::block_index(hash, shape_.blocks)} * rot8::words_per_block;
  }

  template <class Layout, class F>
  OCTOBLOOM_HOST_DEVICE void for_each_word(unsigned t, std::uint64_t hash, F f) const noexcept {
    const std::uint32_t x = rot8::pattern_source(hash);
    const auto each = [&]<unsigned... I>(std::integer_sequence<unsigned, I...>) {
      (f(Layout::word(t, I),
         detail::lane_pattern_word<Layout, I>(
             t, x, shape_.k, std::make_integer_sequence<unsigned, Layout::lanes>{})),
       ...);
    };
    each(std::make_integer_sequence<unsigned, Layout::words_per_lane>{});
  }

  std::uint64_t* words_ = nullptr;
  filter_shape shape_;
};

}  // namespace octobloom::gpu
