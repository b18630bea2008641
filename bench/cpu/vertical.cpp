#include <cstdint>
#include <stdexcept>

#include <octobloom/rot8.h>

#include "hashed.h"
#include "our_filter.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vertical.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h: these follow the target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace octobloom::bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void find(const const_filter_view& view, const std::uint64_t* hashes, std::size_t count,
          std::uint8_t* bitmap) {
  bitmap_writer answers(bitmap);
  for (std::size_t i = 0; i < count; ++i) answers.push(view.may_contain_hash(hashes[i]));
}

#else

using lanes = hn::CappedTag<std::uint64_t, 8>;
using vec = hn::Vec<lanes>;

/// The lower halves of x times a 32-bit constant, in 64 bits.
HWY_INLINE vec multiply(vec x, std::uint32_t factor) {
  const hn::Repartition<std::uint32_t, lanes> d32;
  return hn::MulEven(hn::BitCast(d32, x), hn::Set(d32, factor));
}

/// Words from the filter's first to the blocks of the hashes.
HWY_INLINE vec locate(vec hashes, std::uint32_t blocks) {
  const vec block = hn::ShiftRight<32>(multiply(hn::ShiftRight<32>(hashes), blocks));
  return hn::ShiftLeft<3>(block);
}

/// `Full`: k = 8; otherwise k is smaller.
template <bool Full>
HWY_INLINE auto found(const std::uint64_t* HWY_RESTRICT words, vec hashes, std::uint32_t blocks,
                      unsigned k) {
  const lanes d;
  const hn::RebindToSigned<lanes> di;
  const vec offsets = locate(hashes, blocks);
  const vec low = hn::Set(d, 0xFFFFFFFFu);
  const vec seven = hn::Set(d, 7);
  const vec start = hn::ShiftRight<29>(hn::And(multiply(hashes, rot8::start_multiplier), low));
  const auto rest = hn::Set(di, static_cast<std::int64_t>(k));
  vec missing = hn::Zero(d);
  for (unsigned w = 0; w < rot8::words_per_block; ++w) {
    const vec bit = hn::ShiftRight<26>(hn::And(multiply(hashes, rot8::salt(w)), low));
    vec pattern = hn::Shl(hn::Set(d, 1), bit);
    if constexpr (!Full) {
      const vec place = hn::And(hn::Sub(hn::Set(d, w), start), seven);
      const auto reached = hn::Lt(hn::BitCast(di, place), rest);
      pattern = hn::IfThenElseZero(hn::RebindMask(d, reached), pattern);
    }
    const vec word = hn::GatherIndex(d, words, hn::BitCast(di, hn::Add(offsets, hn::Set(d, w))));
    missing = hn::Or(missing, hn::AndNot(word, pattern));
  }
  return hn::Eq(missing, hn::Zero(d));
}

/// The engine's own distance, and the size from which it prefetches.
constexpr std::size_t keys_ahead = 64;
constexpr std::uint64_t near_bytes = std::uint64_t{256} << 10;

template <bool Full>
void find_all(const const_filter_view& view, const std::uint64_t* HWY_RESTRICT hashes,
              std::size_t count, std::uint8_t* HWY_RESTRICT bitmap) {
  const lanes d;
  const std::size_t step = hn::Lanes(d);
  const std::uint64_t* words = view.words();
  const std::uint32_t blocks = view.shape().blocks;
  const bool far = view.shape().bytes() > near_bytes;
  const auto prefetch = [&](std::size_t first) HWY_ATTR {
    alignas(64) std::uint64_t offsets[8];
    hn::Store(locate(hn::LoadU(d, hashes + first), blocks), d, offsets);
    for (std::size_t i = 0; i < step; ++i) hwy::Prefetch(words + offsets[i]);
  };
  if (far) {
    for (std::size_t i = 0; i < HWY_MIN(keys_ahead, count); i += step) prefetch(i);
  }
  for (std::size_t i = 0; i < count; i += 8) {
    unsigned byte = 0;
    for (std::size_t j = 0; j < 8; j += step) {
      if (far && i + j + keys_ahead < count) prefetch(i + j + keys_ahead);
      std::uint8_t bits[8];
      const vec h = hn::LoadU(d, hashes + i + j);
      hn::StoreMaskBits(d, found<Full>(words, h, blocks, view.shape().k), bits);
      byte |= static_cast<unsigned>(bits[0]) << j;
    }
    bitmap[i / 8] = static_cast<std::uint8_t>(byte);
  }
}

void find(const const_filter_view& view, const std::uint64_t* hashes, std::size_t count,
          std::uint8_t* bitmap) {
  if (view.shape().k == rot8::words_per_block) {
    find_all<true>(view, hashes, count, bitmap);
  } else {
    find_all<false>(view, hashes, count, bitmap);
  }
}

#endif

}  // namespace octobloom::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octobloom::bench {

HWY_EXPORT(find);

namespace {

class vertical_filter : public our_filter {
 public:
  vertical_filter(const plan& sized, std::uint64_t members)
      : our_filter(simd_engine(), sized), members_(members) {
    if (sized.k > rot8::words_per_block) throw std::logic_error("vertical: k is above 8");
  }
  std::uint64_t may_contain(const key_set& keys, std::uint8_t* bitmap, unsigned) override {
    const const_filter_view bits = view();
    for_each_hashed(keys, [&](const std::uint64_t* hashes, std::size_t count, std::size_t first) {
      HWY_DYNAMIC_DISPATCH(find)(bits, hashes, count, bitmap + first / 8);
    });
    return 0;
  }
  /// Its answers are the reference's.
  void prepare(const key_set&) override {
    constexpr std::size_t count = std::size_t{1} << 16;
    const key_set keys(key_type::integers, mixed_numbers(count, members_, 50));
    std::vector<std::uint8_t> ours(bitmap_bytes(count));
    std::vector<std::uint8_t> expected(bitmap_bytes(count));
    may_contain(keys, ours.data(), 1);
    reference_engine().may_contain(view(), keys.batch(), expected.data(), {});
    if (ours != expected) throw std::logic_error("vertical: not the reference's answers");
  }

 private:
  std::uint64_t members_;
};

}  // namespace

std::unique_ptr<structure> make_vertical(std::uint64_t keys, std::uint64_t bytes) {
  return std::make_unique<vertical_filter>(best_plan(keys, bytes), keys);
}
std::unique_ptr<structure> make_vertical_k8(std::uint64_t keys, std::uint64_t bytes) {
  return std::make_unique<vertical_filter>(plan_k8(keys, bytes), keys);
}

}  // namespace octobloom::bench
#endif
