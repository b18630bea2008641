#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <octobloom/detail/host_device.h>
#include <octobloom/rot8.h>

// Loops whose indexes must be constants on a device, lest arrays end up in memory.
#if defined(__CUDA_ARCH__)
#define OCTOBLOOM_UNROLL _Pragma("unroll")
#else
#define OCTOBLOOM_UNROLL
#endif

/// The vocabulary of the kernel bodies: which words of a block a lane serves, what it knows of the
/// pattern, and how the lanes of a warp talk. The bodies are written once over a tile; this file
/// has the tile that runs on a host, device_tile.cuh the one that runs on a GPU.
namespace octobloom::gpu::detail {

inline constexpr unsigned warp_size = 32;

/// `Lanes` lanes serve a key; each takes 8 / Lanes words of its block, `Words` neighbouring words
/// an access, so that one access of all lanes covers Lanes * Words * 8 bytes without a gap.
template <unsigned Lanes, unsigned Words>
struct layout {
  static_assert(Lanes * Words <= rot8::words_per_block && rot8::words_per_block % Lanes == 0);
  static constexpr unsigned lanes = Lanes;
  static constexpr unsigned words = Words;
  static constexpr unsigned words_per_lane = rot8::words_per_block / Lanes;
  static constexpr unsigned accesses = words_per_lane / Words;

  /// The i-th word of lane t, 0 <= i < words_per_lane.
  OCTOBLOOM_HOST_DEVICE static constexpr unsigned word(unsigned t, unsigned i) noexcept {
    return Words * (Lanes * (i / Words) + t) + i % Words;
  }
};

/// How many bits a word gets, as far as it is known when a kernel is compiled.
enum class rounds : unsigned {
  one,      ///< k = 8: exactly one
  partial,  ///< k < 8: one or none
  two,      ///< 8 < k <= 16: one, and a second or not
  three,    ///< 16 < k <= 24: two, and a third or not
};

[[nodiscard]] OCTOBLOOM_HOST_DEVICE constexpr rounds rounds_of(unsigned k) noexcept {
  if (k == rot8::words_per_block) return rounds::one;
  if (k < rot8::words_per_block) return rounds::partial;
  return k <= 2 * rot8::words_per_block ? rounds::two : rounds::three;
}

/// Calls f with the constant that belongs to k.
template <class F>
void with_rounds(unsigned k, F f) {
  switch (rounds_of(k)) {
    case rounds::one:
      return f(std::integral_constant<rounds, rounds::one>{});
    case rounds::partial:
      return f(std::integral_constant<rounds, rounds::partial>{});
    case rounds::two:
      return f(std::integral_constant<rounds, rounds::two>{});
    case rounds::three:
      return f(std::integral_constant<rounds, rounds::three>{});
  }
}

/// Salts of a word: rounds that are at least begun.
[[nodiscard]] OCTOBLOOM_HOST_DEVICE constexpr unsigned salts_of(rounds r) noexcept {
  if (r == rounds::three) return 3;
  return r == rounds::two ? 2 : 1;
}

/// Keeps the compiler from finding out what `value` is: it would compute it again at every use.
OCTOBLOOM_HOST_DEVICE inline std::uint32_t opaque(std::uint32_t value) noexcept {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+r"(value));
#endif
  return value;
}

/// The same for a pointer to device memory, which stays known as one.
template <class T>
OCTOBLOOM_HOST_DEVICE inline T* opaque(T* pointer) noexcept {
#if defined(__CUDA_ARCH__)
  std::size_t address = __cvta_generic_to_global(pointer);
  asm volatile("" : "+l"(address));
  return static_cast<T*>(__cvta_global_to_generic(address));
#else
  return pointer;
#endif
}

/// Rotates by the low five bits of r.
OCTOBLOOM_HOST_DEVICE inline std::uint32_t rotate_left(std::uint32_t x, unsigned r) noexcept {
#if defined(__CUDA_ARCH__)
  return __funnelshift_l(x, x, r);
#else
  return std::rotl(x, static_cast<int>(r % 32));
#endif
}

/// Bit 0 of `bit` as the top bit of `word`, the rest one place lower.
OCTOBLOOM_HOST_DEVICE inline std::uint32_t shift_in(std::uint32_t word,
                                                    std::uint32_t bit) noexcept {
#if defined(__CUDA_ARCH__)
  return __funnelshift_r(word, bit, 1);
#else
  return word >> 1 | bit << 31;
#endif
}

template <unsigned Salt>
OCTOBLOOM_HOST_DEVICE constexpr std::uint32_t salt_constant() noexcept {
  return std::integral_constant<std::uint32_t, rot8::salt(Salt)>::value;
}

/// What one lane knows of the patterns: the salts of its words, and which starts of the last round
/// reach them.
template <class Layout, rounds Rounds>
class lane_pattern {
 public:
  static constexpr unsigned count = salts_of(Rounds);
  static constexpr unsigned words_per_lane = Layout::words_per_lane;
  static constexpr bool has_partial = Rounds != rounds::one;

  lane_pattern() = default;

  /// For lane `t` of a key, 0 <= t < Layout::lanes, and k bits a key, rounds_of(k) == Rounds.
  OCTOBLOOM_HOST_DEVICE lane_pattern(unsigned t, unsigned k) noexcept {
    fill(t, std::make_integer_sequence<unsigned, count * words_per_lane>{});
    if constexpr (has_partial) {
      const unsigned last = k - (count - 1) * rot8::words_per_block;
      const std::uint32_t window = ((1u << last) - 1) * 0x01010101u;
      OCTOBLOOM_UNROLL
      for (unsigned i = 0; i < words_per_lane; ++i) {
        windows_[i] = rotate_left(window, 32 - Layout::word(t, i));
      }
    }
  }

  /// Where the last round of pattern source x starts: an argument of the other two functions.
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE static unsigned start(std::uint32_t x) noexcept {
    return has_partial ? rot8::partial_start(x) : 0;
  }

  /// Bit 0: whether the lane's i-th word, `word`, has the bits of pattern source x.
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE std::uint32_t has(std::uint64_t word, unsigned i,
                                                        std::uint32_t x,
                                                        unsigned start) const noexcept {
    std::uint32_t answer = ~0u;
    OCTOBLOOM_UNROLL
    for (unsigned r = 0; r < count; ++r) {
      auto shifted =
          static_cast<std::uint32_t>(word >> rot8::salted_bit(x, salts_[r * words_per_lane + i]));
      if (has_partial && r == count - 1) shifted |= ~reaches(i, start);
      answer &= shifted;
    }
    return answer;
  }

  /// The bits of pattern source x in the lane's i-th word.
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE std::uint64_t mask(unsigned i, std::uint32_t x,
                                                         unsigned start) const noexcept {
    std::uint64_t bits = 0;
    OCTOBLOOM_UNROLL
    for (unsigned r = 0; r < count; ++r) {
      const std::uint64_t bit = has_partial && r == count - 1 ? reaches(i, start) & 1u : 1u;
      bits |= bit << rot8::salted_bit(x, salts_[r * words_per_lane + i]);
    }
    return bits;
  }

 private:
  /// Bit 0: whether the last round gives the i-th word a bit, which is bit (word - start) mod 8 of
  /// the window. The window has period 8, so that one rotation answers.
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE std::uint32_t reaches(unsigned i,
                                                            unsigned start) const noexcept {
    return rotate_left(windows_[i], start);
  }

  /// Salt number Slot of this lane, by a chain of selects: an array indexed at run time would be
  /// read from memory.
  template <unsigned Slot, unsigned... T>
  OCTOBLOOM_HOST_DEVICE static std::uint32_t select(
      unsigned t, std::integer_sequence<unsigned, T...>) noexcept {
    constexpr unsigned round = Slot / words_per_lane;
    constexpr unsigned i = Slot % words_per_lane;
    std::uint32_t salt = 0;
    ((salt = T == 0 || t == T ? salt_constant<round * rot8::words_per_block + Layout::word(T, i)>()
                              : salt),
     ...);
    return opaque(salt);
  }

  template <unsigned... Slot>
  OCTOBLOOM_HOST_DEVICE void fill(unsigned t, std::integer_sequence<unsigned, Slot...>) noexcept {
    ((salts_[Slot] = select<Slot>(t, std::make_integer_sequence<unsigned, Layout::lanes>{})), ...);
  }

  std::uint32_t salts_[count * words_per_lane] = {};
  std::uint32_t windows_[has_partial ? words_per_lane : 1] = {};
};

/// 32 lanes in lock step, for running the kernel bodies on a host. A value a lane is an array;
/// each() runs one step for every lane before the next step begins.
template <unsigned Lanes>
struct host_tile {
  static constexpr unsigned lanes_per_key = Lanes;
  template <class T>
  using lanes = std::array<T, warp_size>;

  template <class F, class... T>
  static auto each(F f, const std::array<T, warp_size>&... values) {
    using result = std::invoke_result_t<F, unsigned, const T&...>;
    if constexpr (std::is_void_v<result>) {
      for (unsigned lane = 0; lane < warp_size; ++lane) f(lane, values[lane]...);
    } else {
      std::array<result, warp_size> out{};
      for (unsigned lane = 0; lane < warp_size; ++lane) out[lane] = f(lane, values[lane]...);
      return out;
    }
  }

  /// Every lane gets the value of lane r of its own group of Lanes.
  template <class T>
  static std::array<T, warp_size> from(const std::array<T, warp_size>& values, unsigned r) {
    return each([&](unsigned lane) { return values[lane / Lanes * Lanes + r]; });
  }

  /// The AND over the lanes of a group, by the same butterfly as on a device.
  static lanes<std::uint32_t> group_and(lanes<std::uint32_t> values) {
    for (unsigned distance = 1; distance < Lanes; distance *= 2) {
      values = each([&](unsigned lane) { return values[lane] & values[lane ^ distance]; });
    }
    return values;
  }

  static std::uint32_t ballot(const lanes<std::uint32_t>& bits) {
    std::uint32_t word = 0;
    for (unsigned lane = 0; lane < warp_size; ++lane) word |= (bits[lane] & 1u) << lane;
    return word;
  }

  template <class F>
  static void one_lane(F f) {
    f();
  }

  static void or_word(std::uint64_t* word, std::uint64_t mask) {
    std::atomic_ref(*word).fetch_or(mask, std::memory_order_relaxed);
  }
};

}  // namespace octobloom::gpu::detail
