#include "kernels.h"

// Everything between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE is compiled once a target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuckoo_kernels.cpp"
#define HWY_COMPILE_ALL_ATTAINABLE
#include <hwy/foreach_target.h>
// After foreach_target.h: these follow the target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace octobloom::simd::HWY_NAMESPACE {

/// Hashes of so many keys stay in the nearest cache; a multiple of `group`.
constexpr std::size_t piece = 1024;

/// Groups whose lines are on their way; a power of two.
constexpr std::size_t ahead = 4;

#if HWY_TARGET != HWY_SCALAR

using word = hn::Vec<words_tag>;

/// The upper 32 bits of the products of the lanes' lower 32 bits.
HWY_INLINE word multiply_high(word a, word b) {
  const halves_tag d32;
  return hn::ShiftRight<32>(hn::MulEven(hn::BitCast(d32, a), hn::BitCast(d32, b)));
}
/// The products of the lanes' lower 32 bits.
HWY_INLINE word multiply(word a, word b) {
  const halves_tag d32;
  return hn::MulEven(hn::BitCast(d32, a), hn::BitCast(d32, b));
}

/// Where the fingerprints of some keys may be: the first word of the line and the bit in it, for
/// each of the two buckets.
struct places {
  alignas(64) std::uint64_t fingerprint[group];
  alignas(64) std::uint64_t line[2][group];
  alignas(64) std::uint64_t bit[2][group];
};

/// As cuckoo_shape::where_is().
HWY_INLINE void locate(word bucket, const cuckoo_shape& shape, std::uint64_t* HWY_RESTRICT line,
                       std::uint64_t* HWY_RESTRICT bit) {
  const words_tag d;
  const std::uint64_t inverse = shape.inverse_of_buckets_per_line();
  const std::uint64_t bucket_bits = cuckoo_shape::slots_per_bucket * shape.fingerprint_bits();
  const word low = multiply_high(bucket, hn::Set(d, inverse & 0xFFFFFFFFu));
  const word high = multiply(bucket, hn::Set(d, inverse >> 32));
  const word index = hn::ShiftRight<32>(hn::Add(low, high));
  const word before = multiply(index, hn::Set(d, std::uint64_t{shape.buckets_per_line()}));
  hn::Store(hn::ShiftLeft<3>(index), d, line);
  hn::Store(multiply(hn::Sub(bucket, before), hn::Set(d, bucket_bits)), d, bit);
}

/// As cuckoo_shape::place_of().
HWY_INLINE void locate(const std::uint64_t* HWY_RESTRICT hashes, const cuckoo_shape& shape,
                       places& to) {
  const words_tag d;
  const hn::RebindToSigned<words_tag> di;
  const word buckets = hn::Set(d, std::uint64_t{shape.buckets()});
  const word low = hn::Set(d, cuckoo_shape::low_bits(shape.fingerprint_bits()));
  for (std::size_t i = 0; i < group; i += lanes) {
    const word hash = hn::LoadU(d, hashes + i);
    const word fingerprint = hn::Add(multiply_high(hash, low), hn::Set(d, std::uint64_t{1}));
    hn::Store(fingerprint, d, to.fingerprint + i);

    word z = multiply(fingerprint, hn::Set(d, std::uint64_t{cuckoo_shape::first_factor}));
    z = hn::And(z, hn::Set(d, std::uint64_t{0xFFFFFFFF}));
    z = hn::Xor(z, hn::ShiftRight<15>(z));
    z = multiply(z, hn::Set(d, std::uint64_t{cuckoo_shape::second_factor}));
    const word first = multiply_high(hn::ShiftRight<32>(hash), buckets);
    const word second = hn::Sub(multiply_high(z, buckets), first);
    const word negative = hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(di, second)));
    locate(first, shape, to.line[0] + i, to.bit[0] + i);
    locate(hn::Add(second, hn::And(negative, buckets)), shape, to.line[1] + i, to.bit[1] + i);
  }
}

/// As cuckoo_view::matches(), with a key in each lane: those of the buckets' slots from bit `skip`
/// on that hold `wanted`, which has the key's fingerprint once for each of `ones`.
HWY_INLINE word matches(const cuckoo_view& view, const std::uint64_t* HWY_RESTRICT lines,
                        const std::uint64_t* HWY_RESTRICT bits, word wanted, unsigned skip) {
  const words_tag d;
  const hn::RebindToSigned<words_tag> di;
  const unsigned fingerprint_bits = view.shape().fingerprint_bits();
  const std::uint64_t ones = view.shape().lane_ones();
  const word bit = hn::Add(hn::Load(d, bits), hn::Set(d, std::uint64_t{skip}));
  const word line = hn::Load(d, lines);
  const word in_line = hn::ShiftRight<6>(bit);
  // Behind the last word comes the first one: of it nothing is left in the mask.
  const word next = hn::And(hn::Add(in_line, hn::Set(d, std::uint64_t{1})),
                            hn::Set(d, std::uint64_t{cuckoo_shape::words_per_line - 1}));
  const word shift = hn::And(bit, hn::Set(d, std::uint64_t{63}));
  const word low = hn::GatherIndex(d, view.words(), hn::BitCast(di, hn::Add(line, in_line)));
  const word high = hn::GatherIndex(d, view.words(), hn::BitCast(di, hn::Add(line, next)));
  const word rest = hn::ShiftLeft<1>(hn::Shl(high, hn::Sub(hn::Set(d, std::uint64_t{63}), shift)));
  const word slots = hn::Or(hn::Shr(low, shift), rest);
  const word x =
      hn::And(hn::Xor(slots, wanted), hn::Set(d, ones * cuckoo_shape::low_bits(fingerprint_bits)));
  const word borrowed = hn::AndNot(x, hn::Sub(x, hn::Set(d, ones)));
  return hn::And(borrowed, hn::Set(d, ones << (fingerprint_bits - 1)));
}

/// A bit for each key of a group. `TwoWords`: a bucket is compared in two halves.
template <bool TwoWords>
HWY_INLINE unsigned probe(const cuckoo_view& view, const places& at) {
  const words_tag d;
  const unsigned bits = view.shape().fingerprint_bits();
  unsigned answers = 0;
  for (std::size_t i = 0; i < group; i += lanes) {
    word wanted = hn::Load(d, at.fingerprint + i);
    wanted = hn::Or(wanted, hn::ShiftLeftSame(wanted, static_cast<int>(bits)));
    if constexpr (!TwoWords) {
      wanted = hn::Or(wanted, hn::ShiftLeftSame(wanted, static_cast<int>(2 * bits)));
    }
    word found = hn::Or(matches(view, at.line[0] + i, at.bit[0] + i, wanted, 0),
                        matches(view, at.line[1] + i, at.bit[1] + i, wanted, 0));
    if constexpr (TwoWords) {
      found = hn::Or(found, matches(view, at.line[0] + i, at.bit[0] + i, wanted, 2 * bits));
      found = hn::Or(found, matches(view, at.line[1] + i, at.bit[1] + i, wanted, 2 * bits));
    }
    std::uint8_t some[8] = {};
    hn::StoreMaskBits(d, hn::Ne(found, hn::Zero(d)), some);
    answers |= static_cast<unsigned>(some[0]) << i;
  }
  return answers;
}

template <bool TwoWords>
HWY_NOINLINE std::uint64_t run(const cuckoo_view& source, const std::uint64_t* HWY_RESTRICT hashes,
                               std::size_t groups, std::uint8_t* bitmap) {
  const cuckoo_view view = source;  // a copy that no store can change
  places ring[ahead];
  std::uint64_t count = 0;
  std::size_t fetched = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    for (; fetched < groups && fetched < g + ahead; ++fetched) {
      places& next = ring[fetched % ahead];
      locate(hashes + fetched * group, view.shape(), next);
      for (std::size_t i = 0; i < group; ++i) {
        hwy::Prefetch(view.words() + next.line[0][i]);
        hwy::Prefetch(view.words() + next.line[1][i]);
      }
    }
    const unsigned answers = probe<TwoWords>(view, ring[g % ahead]);
    if (bitmap != nullptr) bitmap[g] = static_cast<std::uint8_t>(answers);
    count += hwy::PopCount(answers);
  }
  return count;
}

/// The answers for whole groups of hashes.
std::uint64_t answer_groups(const cuckoo_view& view, const std::uint64_t* hashes,
                            std::size_t groups, std::uint8_t* bitmap) {
  return view.shape().lanes() == cuckoo_shape::slots_per_bucket
             ? run<false>(view, hashes, groups, bitmap)
             : run<true>(view, hashes, groups, bitmap);
}

#else

std::uint64_t answer_groups(const cuckoo_view& view, const std::uint64_t* hashes,
                            std::size_t groups, std::uint8_t* bitmap) {
  const cuckoo_shape& shape = view.shape();
  std::uint64_t count = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    unsigned answers = 0;
    for (std::size_t i = g * group; i < (g + 1) * group; ++i) {
      const std::size_t later = HWY_MIN(i + ahead * group, groups * group - 1);
      const cuckoo_shape::place next = shape.place_of(hashes[later]);
      hwy::Prefetch(view.words() + shape.where_is(next.first).word);
      hwy::Prefetch(view.words() + shape.where_is(next.second).word);
      answers |= static_cast<unsigned>(view.may_contain_hash(hashes[i])) << (i % group);
    }
    if (bitmap != nullptr) bitmap[g] = static_cast<std::uint8_t>(answers);
    count += hwy::PopCount(answers);
  }
  return count;
}

#endif

std::uint64_t cuckoo_may_contain(const cuckoo_view& view, const key_batch& keys,
                                 std::uint8_t* bitmap) {
  alignas(64) std::uint64_t hashes[piece];
  const std::size_t whole = keys.size() / group * group;
  std::uint64_t count = 0;
  for (std::size_t first = 0; first < whole; first += piece) {
    const std::size_t size = HWY_MIN(piece, whole - first);
    hash(keys.slice(first, size), view.seed(), hashes);
    count += answer_groups(view, hashes, size / group,
                           bitmap == nullptr ? nullptr : bitmap + first / group);
  }
  return count + answer_rest(keys, view.seed(), bitmap,
                             [&](std::uint64_t hash) { return view.may_contain_hash(hash); });
}

}  // namespace octobloom::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
