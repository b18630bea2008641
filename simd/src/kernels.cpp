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

#include "kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace octobloom::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The last two only read, or only write, a word of each block: the least that the memory asks for.
enum class operation : std::uint8_t { insert, may_contain, insert_new, read_line, write_line };

constexpr bool answers(operation op) {
  return op == operation::may_contain || op == operation::insert_new;
}

#if HWY_TARGET != HWY_SCALAR
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

// Narrow vectors lose to the processor's own 64-bit multiplier: there one key after the other is
// hashed. Wide ones hash four vectors of keys at a time, so that four chains of multiplications
// overlap.
#if HWY_MAX_BYTES >= 32 && !HWY_HAVE_SCALABLE

constexpr std::size_t chains = 4;
constexpr std::size_t hashed_together = chains * lanes;

using word = hn::Vec<words_tag>;
struct words {
  word chain[chains];
};

/// x * c for x below 2^32.
HWY_INLINE word multiply_low(word x, std::uint64_t c) {
  const words_tag d;
  const halves_tag d32;
  const auto x32 = hn::BitCast(d32, x);
  const auto low = hn::MulEven(x32, hn::BitCast(d32, hn::Set(d, c)));
  const auto high = hn::MulEven(x32, hn::BitCast(d32, hn::Set(d, c >> 32)));
  return hn::Add(low, hn::ShiftLeft<32>(high));
}

template <int Bits>
HWY_INLINE void rotate_left(words& h) {
  for (word& x : h.chain) x = hn::RotateRight<64 - Bits>(x);
}
HWY_INLINE void multiply(words& h, std::uint64_t c) {
  const auto factor = hn::Set(words_tag(), c);
  for (word& x : h.chain) x = hn::Mul(x, factor);
}
HWY_INLINE void add(words& h, std::uint64_t c) {
  const auto term = hn::Set(words_tag(), c);
  for (word& x : h.chain) x = hn::Add(x, term);
}
HWY_INLINE void exclusive_or(words& h, const words& other) {
  for (std::size_t c = 0; c < chains; ++c) h.chain[c] = hn::Xor(h.chain[c], other.chain[c]);
}
template <int Bits>
HWY_INLINE void fold(words& h) {
  for (word& x : h.chain) x = hn::Xor(x, hn::ShiftRight<Bits>(x));
}
HWY_INLINE words load(const std::uint64_t* from) {
  words w;
  for (std::size_t c = 0; c < chains; ++c) w.chain[c] = hn::LoadU(words_tag(), from + c * lanes);
  return w;
}
HWY_INLINE void store(const words& w, std::uint64_t* to) {
  for (std::size_t c = 0; c < chains; ++c) hn::StoreU(w.chain[c], words_tag(), to + c * lanes);
}

// XXH64 as in <octobloom/hash.h>, of `hashed_together` keys at a time.
HWY_INLINE void merge8(words& h, words lane) {
  multiply(lane, detail::prime2);
  rotate_left<31>(lane);
  multiply(lane, detail::prime1);
  exclusive_or(h, lane);
  rotate_left<27>(h);
  multiply(h, detail::prime1);
  add(h, detail::prime4);
}
HWY_INLINE void avalanche(words& h) {
  fold<33>(h);
  multiply(h, detail::prime2);
  fold<29>(h);
  multiply(h, detail::prime3);
  fold<32>(h);
}

HWY_INLINE void hash_integers(const std::uint64_t* HWY_RESTRICT keys, std::uint64_t seed,
                              std::uint64_t* HWY_RESTRICT hashes) {
  words h;
  for (word& x : h.chain) x = hn::Set(words_tag(), seed + detail::prime5 + 8);
  merge8(h, load(keys));
  avalanche(h);
  store(h, hashes);
}

/// What is left of strings after their full 32-byte stripes.
struct string_tails {
  alignas(64) std::uint64_t start[hashed_together];  ///< the hash so far
  alignas(64) std::uint64_t left[hashed_together];   ///< bytes, 0 to 31
  alignas(64)
      std::uint64_t whole[3][hashed_together];  ///< whole words of eight bytes, as far as there are
  alignas(64) std::uint64_t last[hashed_together];  ///< the bytes after them, and what follows
};

HWY_INLINE std::uint64_t load_word(const char* from) {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

HWY_INLINE void load_tails(const string_keys& keys, std::size_t first, std::uint64_t seed,
                           string_tails& tails) {
  for (std::size_t i = 0; i < hashed_together; ++i) {
    const char* p = keys.bytes + keys.offsets[first + i];
    const std::uint64_t size =
        keys.offsets[first + i + 1] - keys.offsets[first + i] - keys.separator;
    std::uint64_t start = seed + detail::prime5;
    std::uint64_t left = size;
    if (HWY_UNLIKELY(left >= 32)) {
      detail::xxh64_lanes stripes(seed);
      for (; left >= 32; left -= 32, p += 32) {
        stripes.add(load_word(p), load_word(p + 8), load_word(p + 16), load_word(p + 24));
      }
      start = stripes.merged();
    }
    const std::uint64_t whole = left & 24;
    tails.start[i] = start + size;
    tails.left[i] = left;
    tails.whole[0][i] = load_word(p);
    tails.whole[1][i] = load_word(p + HWY_MIN(whole, 8));
    tails.whole[2][i] = load_word(p + HWY_MIN(whole, 16));
    tails.last[i] = load_word(p + whole);
  }
}

/// Keeps `changed` where `left`, in two's complement, is above `limit`.
HWY_INLINE void keep_where_above(words& h, const words& changed, const words& left,
                                 std::int64_t limit) {
  const hn::RebindToSigned<words_tag> di;
  for (std::size_t c = 0; c < chains; ++c) {
    const auto above = hn::Gt(hn::BitCast(di, left.chain[c]), hn::Set(di, limit));
    h.chain[c] = hn::IfThenElse(hn::RebindMask(words_tag(), above), changed.chain[c], h.chain[c]);
  }
}
HWY_INLINE words masked(const words& w, std::uint64_t mask) {
  words result;
  for (std::size_t c = 0; c < chains; ++c) {
    result.chain[c] = hn::And(w.chain[c], hn::Set(words_tag(), mask));
  }
  return result;
}

/// Strings of any lengths without a branch on a length below 32. Reads up to seven bytes past
/// each.
HWY_INLINE void hash_strings(const string_keys& keys, std::size_t first, std::uint64_t seed,
                             std::uint64_t* HWY_RESTRICT hashes) {
  string_tails tails;
  load_tails(keys, first, seed, tails);
  words h = load(tails.start);
  const words left = load(tails.left);
  for (std::size_t word_index = 0; word_index < 3; ++word_index) {
    words changed = h;
    merge8(changed, load(tails.whole[word_index]));
    keep_where_above(h, changed, left, static_cast<std::int64_t>(8 * word_index + 7));
  }
  words rest = load(tails.last);
  const words four = masked(left, 4);
  {
    words changed = h;
    for (std::size_t c = 0; c < chains; ++c) {
      const auto low = hn::And(rest.chain[c], hn::Set(words_tag(), 0xFFFFFFFFu));
      changed.chain[c] = hn::Xor(changed.chain[c], multiply_low(low, detail::prime1));
    }
    rotate_left<23>(changed);
    multiply(changed, detail::prime2);
    add(changed, detail::prime3);
    keep_where_above(h, changed, four, 0);
    words upper = rest;
    for (word& x : upper.chain) x = hn::ShiftRight<32>(x);
    keep_where_above(rest, upper, four, 0);
  }
  const words bytes = masked(left, 3);
  for (std::int64_t byte = 0; byte < 3; ++byte) {
    words changed = h;
    for (std::size_t c = 0; c < chains; ++c) {
      const auto low = hn::And(rest.chain[c], hn::Set(words_tag(), 0xFFu));
      changed.chain[c] = hn::Xor(changed.chain[c], multiply_low(low, detail::prime5));
      rest.chain[c] = hn::ShiftRight<8>(rest.chain[c]);
    }
    rotate_left<11>(changed);
    multiply(changed, detail::prime1);
    keep_where_above(h, changed, bytes, byte);
  }
  avalanche(h);
  store(h, hashes);
}

/// Whether hash_strings() stays inside the bytes of `keys`.
HWY_INLINE bool has_room_behind(const string_keys& keys, std::size_t first) {
  return keys.offsets[first + hashed_together] + 8 <= keys.offsets[keys.count];
}

#else

constexpr std::size_t hashed_together = group;

HWY_INLINE void hash_integers(const std::uint64_t* HWY_RESTRICT keys, std::uint64_t seed,
                              std::uint64_t* HWY_RESTRICT hashes) {
  for (std::size_t i = 0; i < hashed_together; ++i) hashes[i] = hash_integer(keys[i], seed);
}
HWY_INLINE void hash_strings(const string_keys&, std::size_t, std::uint64_t, std::uint64_t*) {}
HWY_INLINE bool has_room_behind(const string_keys&, std::size_t) {
  return false;
}

#endif

static_assert(hashed_together % group == 0);

/// The hashes of `count` keys from `first` on; `hashed_together` of them are faster.
HWY_INLINE void hash_keys(const key_batch& keys, std::size_t first, std::size_t count,
                          std::uint64_t seed, std::uint64_t* HWY_RESTRICT hashes) {
  if (keys.kind() == key_kind::hashes) {
    std::memcpy(hashes, keys.values() + first, count * sizeof(std::uint64_t));
  } else if (count == hashed_together && keys.kind() == key_kind::integers) {
    hash_integers(keys.values() + first, seed, hashes);
  } else if (count == hashed_together && has_room_behind(keys.as_strings(), first)) {
    hash_strings(keys.as_strings(), first, seed, hashes);
  } else {
    for (std::size_t i = 0; i < count; ++i) hashes[i] = keys.hash(first + i, seed);
  }
}

/// Where the blocks of a group of hashes start, in words from the filter's first.
HWY_INLINE void locate(const std::uint64_t* HWY_RESTRICT hashes, std::uint32_t blocks,
                       std::uint64_t* HWY_RESTRICT offsets) {
#if HWY_TARGET != HWY_SCALAR
  const words_tag d;
  const halves_tag d32;
  const auto count = hn::Set(d32, blocks);
  const auto whole_blocks = hn::Set(d, ~std::uint64_t{rot8::words_per_block - 1});
  for (std::size_t i = 0; i < group; i += lanes) {
    const auto upper = hn::BitCast(d32, hn::ShiftRight<32>(hn::Load(d, hashes + i)));
    const auto scaled = hn::MulEven(upper, count);
    hn::Store(hn::And(hn::ShiftRight<29>(scaled), whole_blocks), d, offsets + i);
  }
#else
  for (std::size_t i = 0; i < group; ++i) {
    offsets[i] = std::uint64_t{rot8::block_index(hashes[i], blocks)} * rot8::words_per_block;
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
  return hn::And(hn::ShiftRight<26>(hn::BitCast(d, products)), hn::Set(d, std::uint64_t{63}));
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

/// Notes a key's answer, where a bit is missing: a byte other than 0.
template <class V>
HWY_INLINE void note(std::uint8_t* HWY_RESTRICT answer, V missing) {
  const words_tag d;
  const halves_tag d32;
  if constexpr (lanes == rot8::words_per_block) {
    hn::StoreMaskBits(d, hn::Ne(missing, hn::Zero(d)), answer);
  } else {
    *answer = !hn::AllTrue(d32, hn::Eq(hn::BitCast(d32, missing), hn::Zero(d32)));
  }
}

/// Does `Op` for the key whose bits `x` chooses. `reach` is the row of partial_rounds.
template <operation Op, unsigned Rounds, bool Partial>
HWY_INLINE void visit(std::uint64_t* HWY_RESTRICT block, std::uint32_t x,
                      const std::uint64_t* HWY_RESTRICT reach, std::uint8_t* HWY_RESTRICT answer) {
  const words_tag d;
  const halves_tag d32;
  constexpr unsigned rows = Rounds + (Partial ? 1 : 0);
  const auto xs = hn::Set(d32, x);
  const auto one = hn::Set(d, std::uint64_t{1});
  auto missing = hn::Zero(d);
  if constexpr (lanes == rot8::words_per_block) {
    auto pattern = hn::Zero(d);
    for (unsigned row = 0; row < rows; row += 2) {
      const auto row_salts = hn::Load(d32, salts.values.data() + row * lanes);
      // A row on its own has its salts in even lanes, where a product is cheaper.
      const auto products =
          row + 1 < rows ? hn::Mul(xs, row_salts) : hn::BitCast(d32, hn::MulEven(xs, row_salts));
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
  if constexpr (answers(Op)) note(answer, missing);
}

#else

template <operation Op, unsigned Rounds, bool Partial>
HWY_INLINE void visit(std::uint64_t* HWY_RESTRICT block, std::uint32_t x,
                      const std::uint64_t* HWY_RESTRICT reach, std::uint8_t* HWY_RESTRICT answer) {
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
  *answer = missing != 0;
}

#endif

/// A bit for each byte that is not 0.
HWY_INLINE unsigned bits_of(const std::uint8_t* HWY_RESTRICT answers) {
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<std::uint8_t, group> d;
  std::uint8_t bits[8] = {};
  hn::StoreMaskBits(d, hn::Ne(hn::Load(d, answers), hn::Zero(d)), bits);
  return bits[0];
#else
  unsigned bits = 0;
  for (unsigned i = 0; i < group; ++i) bits |= static_cast<unsigned>(answers[i] != 0) << i;
  return bits;
#endif
}

// ------------------------------------------------------------------ many keys

/// Groups that are hashed before their use, at most, and those of them whose blocks are on their
/// way.
constexpr std::size_t ring = 16;
constexpr std::size_t on_their_way = 8;
constexpr std::size_t groups_hashed_together = hashed_together / group;
static_assert(std::has_single_bit(ring) && ring % groups_hashed_together == 0 &&
              on_their_way + groups_hashed_together <= ring);

/// Filters up to this size lie in a core's own cache: calling for blocks costs more than it saves.
constexpr std::uint64_t near_bytes = std::uint64_t{256} << 10;

/// Keys between their hashing and their use: group g is in slot g mod `ring`.
struct pipeline {
  alignas(64) std::uint64_t hashes[ring][group];
  alignas(64) std::uint64_t offsets[ring][group];

  template <std::size_t Groups>
  HWY_INLINE void hash(const filter_shape& shape, const key_batch& keys, std::size_t first) {
    const std::size_t slot = first % ring;
    hash_keys(keys, first * group, Groups * group, shape.seed, hashes[slot]);
    for (std::size_t g = 0; g < Groups; ++g) {
      locate(hashes[slot + g], shape.blocks, offsets[slot + g]);
    }
  }
};

template <operation Op, unsigned Rounds, bool Partial>
HWY_NOINLINE std::uint64_t run(std::uint64_t* HWY_RESTRICT words, const filter_shape& shape,
                               const key_batch& keys, std::uint8_t* bitmap,
                               const read_ahead& ahead) {
  const partial_rounds partial(shape.k);
  const std::uint64_t* next = ahead.next;
  const std::size_t groups = keys.size() / group;
  const bool far = shape.bytes() > near_bytes;
  pipeline line;
  std::uint64_t count = 0;
  std::size_t hashed = 0;
  std::size_t called = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    while (hashed < groups && hashed + groups_hashed_together <= g + ring) {
      if (groups_hashed_together > 1 && hashed + groups_hashed_together > groups) {
        line.hash<1>(shape, keys, hashed);
        ++hashed;
      } else {
        line.hash<groups_hashed_together>(shape, keys, hashed);
        hashed += groups_hashed_together;
      }
    }
    // A few blocks are called for before each group, never many at once: a core waits when more are
    // on their way than it has slots for.
    if (far) {
      for (; called < HWY_MIN(groups, g + on_their_way + 1); ++called) {
        for (const std::uint64_t offset : line.offsets[called % ring])
          hwy::Prefetch(words + offset);
      }
    }
    if (next < ahead.end) {
      const std::uint64_t* const stop = next + ahead.words_per_group;
      for (; next < stop; next += rot8::words_per_block) __builtin_prefetch(next, 0, 2);
    }
    const std::size_t slot = g % ring;
    alignas(8) std::uint8_t missing[group];
    for (unsigned i = 0; i < group; ++i) {
      std::uint64_t* block = words + line.offsets[slot][i];
      if constexpr (Op == operation::read_line) {
        static_cast<void>(*static_cast<const volatile std::uint64_t*>(block));
      } else if constexpr (Op == operation::write_line) {
        *static_cast<volatile std::uint64_t*>(block) = *block;
      } else {
        const std::uint32_t x = rot8::pattern_source(line.hashes[slot][i]);
        const std::uint64_t* reach = Partial ? partial.ones[rot8::partial_start(x)] : nullptr;
        visit<Op, Rounds, Partial>(block, x, reach, missing + i);
      }
    }
    if constexpr (answers(Op)) {
      const unsigned any = bits_of(missing);
      const unsigned byte = Op == operation::may_contain ? any ^ 0xFFu : any;
      if (bitmap != nullptr) bitmap[g] = static_cast<std::uint8_t>(byte);
      count += hwy::PopCount(byte);
    }
  }
  return count;
}

template <operation Op>
std::uint64_t run_k(std::uint64_t* words, const filter_shape& shape, const key_batch& keys,
                    std::uint8_t* bitmap, const read_ahead& ahead) {
  const unsigned rounds = shape.k / rot8::words_per_block;
  if (shape.k % rot8::words_per_block == 0) {
    switch (rounds) {
      case 1:
        return run<Op, 1, false>(words, shape, keys, bitmap, ahead);
      case 2:
        return run<Op, 2, false>(words, shape, keys, bitmap, ahead);
      default:
        return run<Op, 3, false>(words, shape, keys, bitmap, ahead);
    }
  }
  switch (rounds) {
    case 0:
      return run<Op, 0, true>(words, shape, keys, bitmap, ahead);
    case 1:
      return run<Op, 1, true>(words, shape, keys, bitmap, ahead);
    default:
      return run<Op, 2, true>(words, shape, keys, bitmap, ahead);
  }
}

// ------------------------------------------------------------------ what the table holds

void insert(const filter_view& view, const key_batch& keys, const read_ahead& ahead) {
  run_k<operation::insert>(view.words(), view.shape(), keys, nullptr, ahead);
  for (std::size_t i = keys.size() / group * group; i < keys.size(); ++i) {
    view.insert_hash(keys.hash(i, view.seed()));
  }
}

std::uint64_t may_contain(const const_filter_view& view, const key_batch& keys,
                          std::uint8_t* bitmap, const read_ahead& ahead) {
  // One body serves readers and writers; with this operation it only reads.
  auto* words = const_cast<std::uint64_t*>(view.words());
  const std::uint64_t count =
      run_k<operation::may_contain>(words, view.shape(), keys, bitmap, ahead);
  return count + answer_rest(keys, view.seed(), bitmap,
                             [&](std::uint64_t hash) { return view.may_contain_hash(hash); });
}

std::uint64_t insert_new(const filter_view& view, const key_batch& keys, std::uint8_t* bitmap,
                         const read_ahead& ahead) {
  const std::uint64_t count =
      run_k<operation::insert_new>(view.words(), view.shape(), keys, bitmap, ahead);
  return count + answer_rest(keys, view.seed(), bitmap,
                             [&](std::uint64_t hash) { return view.insert_new_hash(hash); });
}

// ------------------------------------------------------------------ hashes into parts

/// Full lines go to memory past the caches: nobody reads them soon, and fetching what they replace
/// would cost more than writing them. The last hash joins its line in a register, as a load of what
/// was just stored in pieces would wait.
HWY_INLINE void append(const part_writer& out, std::size_t part, std::uint64_t hash) {
  const std::uint32_t at = out.cursors[part];
  const std::size_t slot = at % part_writer::line_hashes;
  std::uint64_t* line = out.lines + part * part_writer::line_hashes;
  out.cursors[part] = at + 1;
  if (HWY_LIKELY(slot + 1 != part_writer::line_hashes)) {
    line[slot] = hash;
    return;
  }
  std::uint64_t* to = out.pages + (at - slot);
#if HWY_TARGET != HWY_SCALAR
  const words_tag d;
  constexpr std::size_t last = part_writer::line_hashes - lanes;
  for (std::size_t i = 0; i < last; i += lanes) hn::Stream(hn::Load(d, line + i), d, to + i);
  const auto is_last = hn::Eq(hn::Iota(d, 1), hn::Set(d, std::uint64_t{lanes}));
  hn::Stream(hn::IfThenElse(is_last, hn::Set(d, hash), hn::Load(d, line + last)), d, to + last);
#else
  line[slot] = hash;
  std::memcpy(to, line, part_writer::line_hashes * sizeof(hash));
#endif
  if (HWY_UNLIKELY((at + 1) % part_writer::page_hashes == 0)) out.add_page(part);
}

HWY_INLINE void stream(const std::uint16_t* HWY_RESTRICT from, std::size_t count,
                       std::uint16_t* HWY_RESTRICT to) {
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<std::uint16_t, hashed_together> d;  // one vector
  if (HWY_LIKELY(count == hashed_together)) {
    hn::Stream(hn::Load(d, from), d, to);
    return;
  }
#endif
  std::memcpy(to, from, count * sizeof(*to));
}

void split(const key_batch& keys, std::uint64_t seed, std::uint32_t blocks,
           const part_writer& parts, std::uint16_t* part_of_key) {
  alignas(64) std::uint64_t hashes[hashed_together] = {};
  alignas(64) std::uint64_t offsets[hashed_together];
  alignas(64) std::uint16_t part[hashed_together];
  const part_writer out = parts;
  const unsigned shift = out.shift + std::countr_zero(rot8::words_per_block);
  for (std::size_t i = 0; i < keys.size(); i += hashed_together) {
    const std::size_t count = HWY_MIN(hashed_together, keys.size() - i);
    hash_keys(keys, i, count, seed, hashes);
    for (std::size_t j = 0; j < hashed_together; j += group)
      locate(hashes + j, blocks, offsets + j);
    for (std::size_t j = 0; j < hashed_together; ++j)
      part[j] = static_cast<std::uint16_t>(offsets[j] >> shift);
    if (part_of_key != nullptr) stream(part, count, part_of_key + i);
    for (std::size_t j = 0; j < count; ++j) append(out, part[j], hashes[j]);
  }
  hwy::FlushStream();
}

void touch_lines(const filter_view& view, const key_batch& keys, bool write) {
  if (write) {
    run<operation::write_line, 1, false>(view.words(), view.shape(), keys, nullptr, {});
  } else {
    run<operation::read_line, 1, false>(view.words(), view.shape(), keys, nullptr, {});
  }
}

void hash(const key_batch& keys, std::uint64_t seed, std::uint64_t* hashes) {
  for (std::size_t i = 0; i < keys.size(); i += hashed_together) {
    hash_keys(keys, i, HWY_MIN(hashed_together, keys.size() - i), seed, hashes + i);
  }
}

const kernels* table() {
  static const kernels here{.target = hwy::TargetName(HWY_TARGET),
                            .hash = hash,
                            .insert = insert,
                            .may_contain = may_contain,
                            .insert_new = insert_new,
                            .cuckoo_may_contain = cuckoo_may_contain,
                            .split = split,
                            .touch_lines = touch_lines};
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
