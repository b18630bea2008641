#pragma once

#include <cstdint>

#include <octobloom/gpu/filter_view.h>
#include <octobloom/gpu/memory.h>

/// The least that any filter of this layout can do: the same lines, in the same order, without
/// hashing or testing. And the widths of the kernels that the library does not choose.
namespace octobloom::bench {

/// Fills `blocks_of` with the block of each key, 8 bytes each, so that a floor reads what the
/// filter reads a key.
void find_blocks(const gpu::filter_view& filter, const std::uint64_t* keys, std::uint64_t count,
                 std::uint64_t* blocks_of, gpu::stream on);

/// Reads the 64 bytes of each block, four lanes of 16 bytes; writes a bit a key. On sm_100 too,
/// where the library's contains takes two lanes of 32 bytes.
void read_floor(const gpu::filter_view& filter, const std::uint64_t* blocks_of, std::uint64_t count,
                std::uint8_t* bitmap, gpu::stream on);

/// Updates the 8 words of each block by RED, four lanes of two words.
void update_floor(const gpu::filter_view& filter, const std::uint64_t* blocks_of,
                  std::uint64_t count, gpu::stream on);

struct width {
  unsigned lanes;
  unsigned words;
};
/// contains of 64-bit keys with k = 8 by other widths: {1,2} {2,2} {2,4} {4,2} {8,1}.
void contains_by_width(width w, const gpu::filter_view& filter, const std::uint64_t* keys,
                       std::uint64_t count, std::uint8_t* bitmap, gpu::stream on);
/// insert by {1,1} {2,1} {4,1} {8,1}.
void insert_by_width(width w, const gpu::filter_view& filter, const std::uint64_t* keys,
                     std::uint64_t count, gpu::stream on);

}  // namespace octobloom::bench
