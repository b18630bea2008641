#include "kernels.h"

#include <array>
#include <bit>
#include <cstring>

#include <octobloom/hash.h>
#include <octobloom/rot8.h>

// Everything between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE is compiled once a target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels.cpp"
#define HWY_COMPILE_ALL_ATTAINABLE
#include <hwy/foreach_target.h>
// After foreach_target.h: this one follows the target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace octobloom::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

enum class operation : std::uint8_t { insert, may_contain, insert_new };

/// Bits of an answer are made eight at a time, so keys go in groups of eight.
constexpr std::size_t group = 8;

/// Groups between the prefetch of a block and its use, and the ring that holds them.
constexpr std::size_t ahead = 7;
constexpr std::size_t ring = 8;
static_assert(std::has_single_bit(ring) && ahead < ring);

#if HWY_TARGET == HWY_SCALAR
constexpr bool vectors = false;
#else
constexpr bool vectors = true;

/// Words of a block in one vector. Scalable vectors (SVE) cannot be counted on beyond 128 bits.
#if HWY_HAVE_SCALABLE
constexpr std::size_t lanes = 2;
#else
constexpr std::size_t lanes = HWY_MIN(HWY_LANES(std::uint64_t), rot8::words_per_block);
#endif
using words_tag = hn::FixedTag<std::uint64_t, lanes>;
using halves_tag = hn::FixedTag<std::uint32_t, 2 * lanes>;

/// The salts in the order in which one 32-bit multiplication serves two vectors of words: even
/// lanes for the first, odd lanes for the second.
struct salt_table {
  alignas(64) std::array<std::uint32_t, 32> values{};
  constexpr salt_table() {
    for (unsigned i = 0; i < rot8::max_k; ++i) {
      const unsigned pair = i / (2 * lanes);
      const unsigned within = i % (2 * lanes);
      values[pair * 2 * lanes + within % lanes * 2 + within / lanes] = rot8::salt(i);
    }
  }
};
constexpr salt_table salts;
#endif

/// Row s: 1 for the words that a partial round starting at word s reaches, 0 for the others.
struct partial_rounds {
  alignas(64) std::uint64_t ones[rot8::words_per_block][rot8::words_per_block];
  explicit partial_rounds(unsigned k) {
    for (unsigned start = 0; start < rot8::words_per_block; ++start) {
      for (unsigned w = 0; w < rot8::words_per_block; ++w) {
        ones[start][w] = ((w - start) & 7u) < k % rot8::words_per_block ? 1 : 0;
      }
    }
  }
};

// ------------------------------------------------------------------ from keys to blocks

HWY_INLINE void hash_integers(const std::uint64_t* HWY_RESTRICT keys, std::uint64_t seed,
                              std::uint64_t* HWY_RESTRICT hashes) {
#if HWY_TARGET != HWY_SCALAR
  // Narrow vectors lose to the processor's own 64-bit multiplier.
  if constexpr (lanes >= 4) {
    const words_tag d;
    const auto start = hn::Set(d, seed + detail::prime5 + 8);
    const auto prime1 = hn::Set(d, detail::prime1);
    const auto prime2 = hn::Set(d, detail::prime2);
    const auto prime3 = hn::Set(d, detail::prime3);
    const auto prime4 = hn::Set(d, detail::prime4);
    for (std::size_t i = 0; i < group; i += lanes) {
      const auto lane = hn::Mul(hn::LoadU(d, keys + i), prime2);
      auto h = hn::Xor(start, hn::Mul(hn::RotateRight<64 - 31>(lane), prime1));
      h = hn::Add(hn::Mul(hn::RotateRight<64 - 27>(h), prime1), prime4);
      h = hn::Mul(hn::Xor(h, hn::ShiftRight<33>(h)), prime2);
      h = hn::Mul(hn::Xor(h, hn::ShiftRight<29>(h)), prime3);
      hn::Store(hn::Xor(h, hn::ShiftRight<32>(h)), d, hashes + i);
    }
    return;
  }
#endif
  for (std::size_t i = 0; i < group; ++i) hashes[i] = hash_integer(keys[i], seed);
}

/// The hashes of keys `first` to `first` + 7.
HWY_INLINE void hash_group(const key_batch& keys, std::size_t first, std::uint64_t seed,
                           std::uint64_t* HWY_RESTRICT hashes) {
  switch (keys.kind()) {
    case key_kind::integers:
      hash_integers(keys.values() + first, seed, hashes);
      break;
    case key_kind::hashes:
      std::memcpy(hashes, keys.values() + first, group * sizeof(std::uint64_t));
      break;
    case key_kind::strings:
      for (std::size_t i = 0; i < group; ++i) hashes[i] = keys.hash(first + i, seed);
      break;
  }
}

/// Where the blocks of eight hashes start, in bytes from the filter's first.
HWY_INLINE void locate(const std::uint64_t* HWY_RESTRICT hashes, std::uint32_t blocks,
                       std::uint64_t* HWY_RESTRICT offsets) {
#if HWY_TARGET != HWY_SCALAR
  const words_tag d;
  const halves_tag d32;
  const auto count = hn::Set(d32, blocks);
  const auto whole_blocks = hn::Set(d, ~std::uint64_t{rot8::bytes_per_block - 1});
  for (std::size_t i = 0; i < group; i += lanes) {
    const auto upper = hn::BitCast(d32, hn::ShiftRight<32>(hn::Load(d, hashes + i)));
    const auto scaled = hn::MulEven(upper, count);
    hn::Store(hn::And(hn::ShiftRight<26>(scaled), whole_blocks), d, offsets + i);
  }
#else
  for (std::size_t i = 0; i < group; ++i) {
    offsets[i] = std::uint64_t{rot8::block_index(hashes[i], blocks)} * rot8::bytes_per_block;
  }
#endif
}

// ------------------------------------------------------------------ one key, one block

#if HWY_TARGET != HWY_SCALAR

/// The bits that a vector of salts' products chooses: in even 32-bit lanes for one vector of
/// words, in odd ones for the next.
template <class V>
HWY_INLINE auto even_bits(V products) {
  const words_tag d;
  return hn::ShiftRight<58>(hn::ShiftLeft<32>(hn::BitCast(d, products)));
}
template <class V>
HWY_INLINE auto odd_bits(V products) {
  const words_tag d;
  return hn::ShiftRight<58>(hn::BitCast(d, products));
}

/// Gives words of the block their bits, and adds to `missing` those that were not there.
template <operation Op, class V>
HWY_INLINE V touch(std::uint64_t* HWY_RESTRICT words, V pattern, V missing) {
  const words_tag d;
  const auto old = hn::Load(d, words);
  if constexpr (Op != operation::may_contain) hn::Store(hn::Or(old, pattern), d, words);
  if constexpr (Op == operation::insert) return missing;
  return hn::Or(missing, hn::AndNot(old, pattern));
}

/// Does `Op` for the key whose bits `x` chooses; whether a bit was missing. `reach` is the row of
/// partial_rounds.
template <operation Op, unsigned Rounds, bool Partial>
HWY_INLINE bool visit(std::uint64_t* HWY_RESTRICT block, std::uint32_t x,
                      const std::uint64_t* HWY_RESTRICT reach) {
  const words_tag d;
  const halves_tag d32;
  constexpr unsigned rows = Rounds + (Partial ? 1 : 0);
  const auto xs = hn::Set(d32, x);
  const auto one = hn::Set(d, std::uint64_t{1});
  auto missing = hn::Zero(d);
  if constexpr (lanes == rot8::words_per_block) {
    auto pattern = hn::Zero(d);
    for (unsigned row = 0; row < rows; row += 2) {
      const auto products = hn::Mul(xs, hn::Load(d32, salts.values.data() + row * lanes));
      const auto first = Partial && row == Rounds ? hn::Load(d, reach) : one;
      pattern = hn::Or(pattern, hn::Shl(first, even_bits(products)));
      if (row + 1 < rows) {
        const auto second = Partial && row + 1 == Rounds ? hn::Load(d, reach) : one;
        pattern = hn::Or(pattern, hn::Shl(second, odd_bits(products)));
      }
    }
    missing = touch<Op>(block, pattern, missing);
  } else {
    for (unsigned w = 0; w < rot8::words_per_block; w += 2 * lanes) {
      auto first = hn::Zero(d);
      auto second = hn::Zero(d);
      for (unsigned row = 0; row < rows; ++row) {
        const auto products =
            hn::Mul(xs, hn::Load(d32, salts.values.data() + row * rot8::words_per_block + w));
        const bool whole = !Partial || row < Rounds;
        first = hn::Or(first, hn::Shl(whole ? one : hn::Load(d, reach + w), even_bits(products)));
        second = hn::Or(second,
                        hn::Shl(whole ? one : hn::Load(d, reach + w + lanes), odd_bits(products)));
      }
      missing = touch<Op>(block + w, first, missing);
      missing = touch<Op>(block + w + lanes, second, missing);
    }
  }
  if constexpr (Op == operation::insert) return false;
  return !hn::AllTrue(d32, hn::Eq(hn::BitCast(d32, missing), hn::Zero(d32)));
}

#else

template <operation Op, unsigned Rounds, bool Partial>
HWY_INLINE bool visit(std::uint64_t* HWY_RESTRICT block, std::uint32_t x,
                      const std::uint64_t* HWY_RESTRICT reach) {
  std::uint64_t missing = 0;
  for (unsigned w = 0; w < rot8::words_per_block; ++w) {
    std::uint64_t pattern = 0;
    for (unsigned row = 0; row < Rounds; ++row) {
      pattern |= std::uint64_t{1} << rot8::bit_index(x, row * rot8::words_per_block + w);
    }
    if constexpr (Partial) {
      pattern |= reach[w] << rot8::bit_index(x, Rounds * rot8::words_per_block + w);
    }
    missing |= pattern & ~block[w];
    if constexpr (Op != operation::may_contain) block[w] |= pattern;
  }
  return missing != 0;
}

#endif

// ------------------------------------------------------------------ many keys

/// Keys between their prefetch and their use.
struct pipeline {
  alignas(64) std::uint64_t hashes[ring][group];
  alignas(64) std::uint64_t offsets[ring][group];
};

HWY_INLINE std::uint64_t* block_at(std::uint64_t* words, std::uint64_t offset) {
  return words + offset / sizeof(std::uint64_t);
}

template <operation Op, unsigned Rounds, bool Partial>
HWY_NOINLINE std::uint64_t run(std::uint64_t* HWY_RESTRICT words, const filter_shape& shape,
                               const key_batch& keys, std::uint8_t* bitmap) {
  const partial_rounds partial(shape.k);
  const std::size_t groups = keys.size() / group;
  pipeline line;
  std::uint64_t count = 0;
  std::size_t fetched = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    for (; fetched < groups && fetched <= g + ahead; ++fetched) {
      const std::size_t slot = fetched % ring;
      hash_group(keys, fetched * group, shape.seed, line.hashes[slot]);
      locate(line.hashes[slot], shape.blocks, line.offsets[slot]);
      for (std::size_t i = 0; i < group; ++i) {
        hwy::Prefetch(block_at(words, line.offsets[slot][i]));
      }
    }
    const std::size_t slot = g % ring;
    unsigned missing = 0;
    for (unsigned i = 0; i < group; ++i) {
      const std::uint32_t x = rot8::pattern_source(line.hashes[slot][i]);
      const std::uint64_t* reach = Partial ? partial.ones[rot8::partial_start(x)] : nullptr;
      const bool absent =
          visit<Op, Rounds, Partial>(block_at(words, line.offsets[slot][i]), x, reach);
      missing |= static_cast<unsigned>(absent) << i;
    }
    if constexpr (Op != operation::insert) {
      const unsigned answers = Op == operation::may_contain ? missing ^ 0xFFu : missing;
      if (bitmap != nullptr) bitmap[g] = static_cast<std::uint8_t>(answers);
      count += hwy::PopCount(answers);
    }
  }
  return count;
}

template <operation Op>
std::uint64_t run_k(std::uint64_t* words, const filter_shape& shape, const key_batch& keys,
                    std::uint8_t* bitmap) {
  const unsigned rounds = shape.k / rot8::words_per_block;
  if (shape.k % rot8::words_per_block == 0) {
    switch (rounds) {
      case 1:
        return run<Op, 1, false>(words, shape, keys, bitmap);
      case 2:
        return run<Op, 2, false>(words, shape, keys, bitmap);
      default:
        return run<Op, 3, false>(words, shape, keys, bitmap);
    }
  }
  switch (rounds) {
    case 0:
      return run<Op, 0, true>(words, shape, keys, bitmap);
    case 1:
      return run<Op, 1, true>(words, shape, keys, bitmap);
    default:
      return run<Op, 2, true>(words, shape, keys, bitmap);
  }
}

// ------------------------------------------------------------------ what the table holds

void insert(const filter_view& view, const key_batch& keys) {
  run_k<operation::insert>(view.words(), view.shape(), keys, nullptr);
  for (std::size_t i = keys.size() / group * group; i < keys.size(); ++i) {
    view.insert_hash(keys.hash(i, view.seed()));
  }
}

std::uint64_t may_contain(const const_filter_view& view, const key_batch& keys,
                          std::uint8_t* bitmap) {
  // One body serves readers and writers; with this operation it only reads.
  auto* words = const_cast<std::uint64_t*>(view.words());
  std::uint64_t count = run_k<operation::may_contain>(words, view.shape(), keys, bitmap);
  const std::size_t whole = keys.size() / group * group;
  unsigned answers = 0;
  for (std::size_t i = whole; i < keys.size(); ++i) {
    const bool found = view.may_contain_hash(keys.hash(i, view.seed()));
    answers |= static_cast<unsigned>(found) << (i - whole);
  }
  if (whole < keys.size() && bitmap != nullptr) {
    bitmap[whole / group] = static_cast<std::uint8_t>(answers);
  }
  return count + hwy::PopCount(answers);
}

std::uint64_t insert_new(const filter_view& view, const key_batch& keys, std::uint8_t* bitmap) {
  std::uint64_t count = run_k<operation::insert_new>(view.words(), view.shape(), keys, bitmap);
  const std::size_t whole = keys.size() / group * group;
  unsigned answers = 0;
  for (std::size_t i = whole; i < keys.size(); ++i) {
    const bool fresh = view.insert_new_hash(keys.hash(i, view.seed()));
    answers |= static_cast<unsigned>(fresh) << (i - whole);
  }
  if (whole < keys.size() && bitmap != nullptr) {
    bitmap[whole / group] = static_cast<std::uint8_t>(answers);
  }
  return count + hwy::PopCount(answers);
}

void hash(const key_batch& keys, std::uint64_t seed, std::uint64_t* hashes) {
  alignas(64) std::uint64_t eight[group];
  std::size_t i = 0;
  for (; i + group <= keys.size(); i += group) {
    hash_group(keys, i, seed, eight);
    std::memcpy(hashes + i, eight, sizeof(eight));
  }
  for (; i < keys.size(); ++i) hashes[i] = keys.hash(i, seed);
}

const kernels* table() {
  static const kernels here{hwy::TargetName(HWY_TARGET), hash, insert, may_contain, insert_new};
  return &here;
}

}  // namespace octobloom::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octobloom::simd {

HWY_EXPORT(table);

const std::vector<const kernels*>& available_kernels() {
  static const std::vector<const kernels*> all = [] {
    std::vector<const kernels*> found;
    // Lower bits are better targets. Asked one by one and not through Highway's global choice,
    // which belongs to the whole process.
    for (std::int64_t bits = hwy::SupportedTargets() & HWY_TARGETS; bits != 0; bits &= bits - 1) {
      hwy::ChosenTarget one;
      one.Update(bits & -bits);
      constexpr std::size_t entries = std::size(HWY_DISPATCH_TABLE(table));
      found.push_back(HWY_DISPATCH_TABLE(table)[entries == 1 ? 0 : one.GetIndex()]());
    }
    return found;
  }();
  return all;
}

}  // namespace octobloom::simd
#endif
