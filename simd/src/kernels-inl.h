// What the files of kernels share. Compiled once a target, so it has a guard for each of them.
#if defined(OCTOBLOOM_SIMD_KERNELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef OCTOBLOOM_SIMD_KERNELS_INL_H
#undef OCTOBLOOM_SIMD_KERNELS_INL_H
#else
#define OCTOBLOOM_SIMD_KERNELS_INL_H
#endif

#include <hwy/highway.h>

#include "kernels.h"

HWY_BEFORE_NAMESPACE();
namespace octobloom::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Bits of an answer are made eight at a time, so keys go in groups of eight.
constexpr std::size_t group = 8;

#if HWY_TARGET != HWY_SCALAR
/// Words of a block in one vector. Scalable vectors (SVE) cannot be counted on beyond 128 bits.
#if HWY_HAVE_SCALABLE
constexpr std::size_t lanes = 2;
#else
constexpr std::size_t lanes = HWY_MIN(HWY_LANES(std::uint64_t), rot8::words_per_block);
#endif
using words_tag = hn::FixedTag<std::uint64_t, lanes>;
using halves_tag = hn::FixedTag<std::uint32_t, 2 * lanes>;
#endif

// As in `kernels`.
void hash(const key_batch& keys, std::uint64_t seed, std::uint64_t* hashes);
std::uint64_t cuckoo_may_contain(const cuckoo_view& view, const key_batch& keys,
                                 std::uint8_t* bitmap);

/// Asks `test` about the keys after the last whole group; as `kernels` answer.
template <class Test>
HWY_INLINE std::uint64_t answer_rest(const key_batch& keys, std::uint64_t seed,
                                     std::uint8_t* bitmap, const Test& test) {
  const std::size_t whole = keys.size() / group * group;
  unsigned byte = 0;
  for (std::size_t i = whole; i < keys.size(); ++i) {
    byte |= static_cast<unsigned>(test(keys.hash(i, seed))) << (i - whole);
  }
  if (whole < keys.size() && bitmap != nullptr) {
    bitmap[whole / group] = static_cast<std::uint8_t>(byte);
  }
  return hwy::PopCount(byte);
}

}  // namespace octobloom::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
