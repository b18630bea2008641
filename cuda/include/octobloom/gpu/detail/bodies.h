#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include <octobloom/detail/host_device.h>
#include <octobloom/gpu/detail/lanes.h>
#include <octobloom/rot8.h>

/// What the kernels do, written once: device_tile makes them kernels, host_tile lets a host run
/// them.
namespace octobloom::gpu::detail {

/// Threads of a block. The loops take whole blocks' worth of keys, so that their trip count is the
/// same for all threads of a block: otherwise the compiler guards every shuffle.
inline constexpr unsigned block_threads = 256;
/// Of the kernel that builds slices: no more than three of its blocks have room on a
/// multiprocessor.
inline constexpr unsigned slice_threads = 512;

/// Which warp of which block of how many.
struct position {
  std::uint32_t block;
  std::uint32_t blocks;
  unsigned warp;
};

/// Whether a group may have less than 32 keys.
template <bool Tail>
struct group_kind {
  static constexpr bool tail = Tail;
};

/// More keys than this a launch does not take: turns are counted in 32 bits.
inline constexpr std::uint64_t max_keys = std::uint64_t{1} << 38;

/// Calls step(turn, left, group_kind) for each group of `left` keys of this warp, the first of
/// which is key 256 * turn + 32 * at.warp.
template <class Step>
OCTOBLOOM_HOST_DEVICE void for_each_group(const position& at, std::uint64_t keys, Step step) {
  const auto whole = static_cast<std::uint32_t>(keys / block_threads);
  std::uint32_t turn = at.block;
  for (; turn < whole; turn += at.blocks) step(turn, warp_size, group_kind<false>{});
  const auto rest = static_cast<unsigned>(keys % block_threads);
  const unsigned offset = at.warp * warp_size;
  if (turn == whole && offset < rest) {
    const unsigned left = rest - offset;
    step(turn, left < warp_size ? left : warp_size, group_kind<true>{});
  }
}

/// `Words` words in one access. Words = 4 is one access of 256 bits where a device has it.
template <unsigned Words>
struct alignas(8 * Words) access {
  std::uint64_t word[Words];
};

template <unsigned Words>
OCTOBLOOM_HOST_DEVICE inline access<Words> read(const std::uint64_t* from) noexcept {
  access<Words> out;
#if defined(__CUDA_ARCH__)
  if constexpr (Words == 1) {
    out.word[0] = *from;
  } else if constexpr (Words == 2) {
    asm("ld.global.v2.u64 {%0, %1}, [%2];" : "=l"(out.word[0]), "=l"(out.word[1]) : "l"(from));
  } else {
#if __CUDA_ARCH__ >= 1000
    asm("ld.global.v4.u64 {%0, %1, %2, %3}, [%4];"
        : "=l"(out.word[0]), "=l"(out.word[1]), "=l"(out.word[2]), "=l"(out.word[3])
        : "l"(from));
#else
    const access<2> low = read<2>(from);
    const access<2> high = read<2>(from + 2);
    out = {low.word[0], low.word[1], high.word[0], high.word[1]};
#endif
  }
#else
  for (unsigned i = 0; i < Words; ++i) out.word[i] = from[i];
#endif
  return out;
}

/// The words of a key's block that a lane serves.
template <class Layout>
struct share {
  access<Layout::words> access_[Layout::accesses];
};

/// A lane's start in block 0; a block further is 8 words further.
template <class Tile, class Layout, class Word>
OCTOBLOOM_HOST_DEVICE auto lane_starts(const Tile& tile, Word* words) {
  return tile.each(
      [&](unsigned lane) { return opaque(words + Layout::word(lane % Layout::lanes, 0)); });
}

template <class Tile, class Layout, rounds Rounds>
OCTOBLOOM_HOST_DEVICE auto lane_patterns(const Tile& tile, unsigned k) {
  return tile.each(
      [&](unsigned lane) { return lane_pattern<Layout, Rounds>(lane % Layout::lanes, k); });
}

/// Each lane's own keys: key i of lane l is key i + 32 * at.warp + l of the batch.
template <class Tile, class Source>
OCTOBLOOM_HOST_DEVICE auto lane_sources(const Tile& tile, const position& at,
                                        const Source& source) {
  return tile.each([&](unsigned lane) { return source.from(at.warp * warp_size + lane); });
}

template <bool Tail, class Tile, class Sources>
OCTOBLOOM_HOST_DEVICE auto hashes_of(const Tile& tile, const Sources& sources, std::uint32_t turn,
                                     unsigned left) {
  return tile.each(
      [&]([[maybe_unused]] unsigned lane, const auto& source) -> std::uint64_t {
        if constexpr (Tail) {
          if (lane >= left) return 0;
        }
        return source.hash(std::uint64_t{turn} * block_threads);
      },
      sources);
}

/// Tells for every key whether it may be in the filter: bit i of `bitmap`. `bitmap` is aligned to
/// 4 bytes and bitmap_bytes(keys) long.
template <class Layout, rounds Rounds, class Tile, class Source>
OCTOBLOOM_HOST_DEVICE void contains_body(const Tile& tile, const position& at,
                                         const std::uint64_t* words, std::uint32_t blocks,
                                         unsigned k, const Source& source, std::uint64_t keys,
                                         std::uint8_t* bitmap) {
  const auto starts = lane_starts<Tile, Layout>(tile, words);
  const auto patterns = lane_patterns<Tile, Layout, Rounds>(tile, k);
  const auto sources = lane_sources(tile, at, source);
  std::uint8_t* const results = opaque(bitmap + at.warp * (warp_size / 8));
  for_each_group(at, keys, [&](std::uint32_t turn, unsigned left, auto kind) {
    const auto hashes = hashes_of<decltype(kind)::tail>(tile, sources, turn, left);
    const auto block =
        tile.each([&](unsigned, std::uint64_t h) { return rot8::block_index(h, blocks); }, hashes);
    const auto x =
        tile.each([](unsigned, std::uint64_t h) { return rot8::pattern_source(h); }, hashes);

    // All loads are on their way before the first answer is needed.
    typename Tile::template lanes<share<Layout>> shares[Layout::lanes];
    OCTOBLOOM_UNROLL
    for (unsigned r = 0; r < Layout::lanes; ++r) {
      shares[r] = tile.each(
          [](unsigned, const std::uint64_t* block_0, std::uint32_t b) {
            const std::uint64_t* from = block_0 + std::uint64_t{b} * rot8::words_per_block;
            share<Layout> out;
            OCTOBLOOM_UNROLL
            for (unsigned a = 0; a < Layout::accesses; ++a) {
              out.access_[a] = read<Layout::words>(from + a * Layout::words * Layout::lanes);
            }
            return out;
          },
          starts, tile.from(block, r));
    }

    // One answer a turn is shifted in from the top; the key of turn r is lane r's.
    auto answers = tile.each([](unsigned) { return opaque(std::uint32_t{0}); });
    OCTOBLOOM_UNROLL
    for (unsigned r = 0; r < Layout::lanes; ++r) {
      answers = tile.each(
          [](unsigned, std::uint32_t before, const auto& pattern, const share<Layout>& words_of,
             std::uint32_t source_of) {
            const unsigned start = pattern.start(source_of);
            std::uint32_t all = ~0u;
            OCTOBLOOM_UNROLL
            for (unsigned i = 0; i < Layout::words_per_lane; ++i) {
              all &= pattern.has(words_of.access_[i / Layout::words].word[i % Layout::words], i,
                                 source_of, start);
            }
            return shift_in(before, all);
          },
          answers, patterns, shares[r], tile.from(x, r));
    }
    answers = tile.group_and(answers);
    const std::uint32_t found = tile.ballot(tile.each(
        [](unsigned lane, std::uint32_t a) {
          return a >> (warp_size - Layout::lanes + lane % Layout::lanes);
        },
        answers));

    tile.one_lane([&] {
      std::uint8_t* out = results + std::uint64_t{turn} * (block_threads / 8);
      if constexpr (!decltype(kind)::tail) {
        *reinterpret_cast<std::uint32_t*>(out) = found;
      } else {
        for (unsigned done = 0; done < left; done += 8) {
          const unsigned bits = left - done < 8 ? left - done : 8;
          out[done / 8] = static_cast<std::uint8_t>(found >> done & ((1u << bits) - 1));
        }
      }
    });
  });
}

/// Inserts every key.
template <class Layout, rounds Rounds, class Tile, class Source>
OCTOBLOOM_HOST_DEVICE void insert_body(const Tile& tile, const position& at, std::uint64_t* words,
                                       std::uint32_t blocks, unsigned k, const Source& source,
                                       std::uint64_t keys) {
  static_assert(Layout::words == 1, "an atomic takes one word");
  const auto starts = lane_starts<Tile, Layout>(tile, words);
  const auto patterns = lane_patterns<Tile, Layout, Rounds>(tile, k);
  const auto sources = lane_sources(tile, at, source);
  for_each_group(at, keys, [&](std::uint32_t turn, unsigned left, auto kind) {
    const auto hashes = hashes_of<decltype(kind)::tail>(tile, sources, turn, left);
    const auto block =
        tile.each([&](unsigned, std::uint64_t h) { return rot8::block_index(h, blocks); }, hashes);
    const auto x =
        tile.each([](unsigned, std::uint64_t h) { return rot8::pattern_source(h); }, hashes);
    OCTOBLOOM_UNROLL
    for (unsigned r = 0; r < Layout::lanes; ++r) {
      tile.each(
          [&]([[maybe_unused]] unsigned lane, std::uint64_t* block_0, const auto& pattern,
              std::uint32_t b, std::uint32_t source_of) {
            if constexpr (decltype(kind)::tail) {
              if (lane / Layout::lanes * Layout::lanes + r >= left) return;
            }
            std::uint64_t* to = block_0 + std::uint64_t{b} * rot8::words_per_block;
            const unsigned start = pattern.start(source_of);
            OCTOBLOOM_UNROLL
            for (unsigned i = 0; i < Layout::words_per_lane; ++i) {
              tile.or_word(to + i * Layout::lanes, pattern.mask(i, source_of, start));
            }
          },
          starts, patterns, tile.from(block, r), tile.from(x, r));
    }
  });
}

/// The part of a filter that one block of threads builds in shared memory: all blocks that the
/// hashes with the same top `bits` bits can meet. Its first and last block may belong to the
/// neighbouring part as well.
struct slice {
  std::uint32_t first = 0;  ///< the filter's block
  std::uint32_t blocks = 0;

  /// 1 <= bits <= 32.
  OCTOBLOOM_HOST_DEVICE static constexpr slice of(std::uint64_t part, unsigned bits,
                                                  std::uint32_t filter_blocks) noexcept {
    const unsigned shift = 64 - bits;
    const std::uint64_t lowest = part << shift;
    const std::uint64_t highest = lowest + ((std::uint64_t{1} << shift) - 1);
    const std::uint32_t from = rot8::block_index(lowest, filter_blocks);
    return {from, rot8::block_index(highest, filter_blocks) - from + 1};
  }
  /// No slice has more blocks than this.
  OCTOBLOOM_HOST_DEVICE static constexpr std::uint32_t most_blocks(
      unsigned bits, std::uint32_t filter_blocks) noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{filter_blocks} >> bits) + 2);
  }
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE constexpr std::uint32_t words() const noexcept {
    return blocks * rot8::words_per_block;
  }
  /// Where a word of one of its blocks lies in shared memory. Blocks are half as long as the banks
  /// are wide: were their words in order, threads at the same word would meet in two banks.
  OCTOBLOOM_HOST_DEVICE static constexpr std::uint32_t place(std::uint32_t block,
                                                             unsigned word) noexcept {
    return block * rot8::words_per_block + ((word ^ (block >> 1)) % rot8::words_per_block);
  }
};

/// Phase 1 of a slice: no bits.
OCTOBLOOM_HOST_DEVICE inline void clear_slice(const slice& part, std::uint64_t* local,
                                              unsigned thread, unsigned threads) noexcept {
  for (std::uint32_t i = thread; i < part.words(); i += threads) local[i] = 0;
}

/// Sets bits in one half of a word of shared memory, where 64-bit atomics are loops.
OCTOBLOOM_HOST_DEVICE inline void or_half(std::uint32_t* half, std::uint32_t mask) noexcept {
#if defined(__CUDA_ARCH__)
  atomicOr(half, mask);
#else
  std::atomic_ref(*half).fetch_or(mask, std::memory_order_relaxed);
#endif
}

/// Phase 2: the hashes of the slice, one a thread.
template <rounds Rounds>
OCTOBLOOM_HOST_DEVICE void fill_slice(const slice& part, std::uint32_t filter_blocks, unsigned k,
                                      const std::uint64_t* first, const std::uint64_t* last,
                                      std::uint64_t* local, unsigned thread,
                                      unsigned threads) noexcept {
  const lane_pattern<layout<1, 1>, Rounds> pattern(0, k);
  for (const std::uint64_t* hash = first + thread; hash < last; hash += threads) {
    const std::uint32_t block = rot8::block_index(*hash, filter_blocks) - part.first;
    const std::uint32_t x = rot8::pattern_source(*hash);
    const unsigned start = pattern.start(x);
    OCTOBLOOM_UNROLL
    for (unsigned w = 0; w < rot8::words_per_block; ++w) {
      const std::uint64_t mask = pattern.mask(w, x, start);
      const auto low = static_cast<std::uint32_t>(mask);
      const auto high = static_cast<std::uint32_t>(mask >> 32);
      auto* halves = reinterpret_cast<std::uint32_t*>(local + slice::place(block, w));
      if constexpr (Rounds == rounds::one) {
        or_half(halves + (low == 0 ? 1 : 0), low | high);
      } else {
        if (low != 0) or_half(halves, low);
        if (high != 0) or_half(halves + 1, high);
      }
    }
  }
}

/// Phase 3: into the filter, atomically: others may insert into it meanwhile.
template <class Tile>
OCTOBLOOM_HOST_DEVICE void merge_slice(const slice& part, const std::uint64_t* local,
                                       std::uint64_t* words, unsigned thread,
                                       unsigned threads) noexcept {
  std::uint64_t* to = words + std::uint64_t{part.first} * rot8::words_per_block;
  for (std::uint32_t i = thread; i < part.words(); i += threads) {
    const std::uint32_t block = i / rot8::words_per_block;
    const std::uint64_t bits = local[slice::place(block, i % rot8::words_per_block)];
    if (bits != 0) Tile::or_word(to + i, bits);
  }
}

}  // namespace octobloom::gpu::detail
