#pragma once

#include <cstdint>
#include <vector>

#include <octobloom/gpu/detail/bodies.h>
#include <octobloom/gpu/detail/lanes.h>
#include <octobloom/gpu/filter_view.h>

/// Runs the kernel bodies on a host, block by block and warp by warp, with the grid of a small
/// device.
namespace octobloom::test {

using namespace gpu::detail;

template <class F>
void for_each_warp(std::uint32_t blocks, F f) {
  for (std::uint32_t block = 0; block < blocks; ++block) {
    for (unsigned warp = 0; warp < block_threads / warp_size; ++warp) {
      f(position{block, blocks, warp});
    }
  }
}

template <class Layout, class Source>
void host_contains(const gpu::filter_view& view, const Source& source, std::uint64_t keys,
                   std::uint8_t* bitmap, std::uint32_t blocks = 3) {
  with_rounds(view.shape().k, [&](auto r) {
    for_each_warp(blocks, [&](const position& at) {
      contains_body<Layout, decltype(r)::value>(host_tile<Layout::lanes>{}, at, view.words(),
                                                view.shape().blocks, view.shape().k, source, keys,
                                                bitmap);
    });
  });
}

template <class Layout, class Source, class Tile = host_tile<Layout::lanes>>
void host_insert(const gpu::filter_view& view, const Source& source, std::uint64_t keys,
                 std::uint32_t blocks = 3) {
  with_rounds(view.shape().k, [&](auto r) {
    for_each_warp(blocks, [&](const position& at) {
      insert_body<Layout, decltype(r)::value>(Tile{}, at, view.words(), view.shape().blocks,
                                              view.shape().k, source, keys);
    });
  });
}

inline void host_insert_slices(const gpu::filter_view& view, const std::uint64_t* hashes,
                               const std::uint64_t* offsets, unsigned bits) {
  constexpr unsigned threads = 5;
  std::vector<std::uint64_t> local(std::size_t{slice::most_blocks(bits, view.shape().blocks)} *
                                   rot8::words_per_block);
  with_rounds(view.shape().k, [&](auto r) {
    for (std::uint64_t i = 0; i < std::uint64_t{1} << bits; ++i) {
      if (offsets[i] == offsets[i + 1]) continue;
      const slice part = slice::of(i, bits, view.shape().blocks);
      std::fill(local.begin(), local.end(), 0xCDCDCDCDCDCDCDCDu);
      for (unsigned t = 0; t < threads; ++t) {
        clear_slice(part, local.data(), t, threads);
      }
      for (unsigned t = 0; t < threads; ++t) {
        fill_slice<decltype(r)::value>(part, view.shape().blocks, view.shape().k,
                                       hashes + offsets[i], hashes + offsets[i + 1], local.data(),
                                       t, threads);
      }
      for (unsigned t = 0; t < threads; ++t) {
        merge_slice<host_tile<1>>(part, local.data(), view.words(), t, threads);
      }
    }
  });
}

}  // namespace octobloom::test
