#pragma once

#include <cstdint>

#include <octobloom/filter_view.h>

namespace octobloom::gpu {

/// How a batch is inserted. The result is the same.
enum class insert_method : std::uint8_t {
  automatic,      ///< plan_insert() chooses
  direct,         ///< every key to its block, in the order of the keys
  l2_slices,      ///< keys sorted by block range, so that the blocks in use fit the L2
  shared_slices,  ///< keys sorted by finer ranges, each built in a multiprocessor's shared memory
};

struct insert_plan {
  insert_method method = insert_method::direct;
  unsigned bits = 0;  ///< hashes are sorted by their top `bits` bits: 2^bits ranges; 0 when direct
};

/// Blocks that a slice in shared memory holds at most: 64 KiB, so that a multiprocessor holds two
/// or three.
inline constexpr std::uint32_t shared_slice_blocks = 1024;

/// How to insert `keys` keys into a filter of this shape on a device with an L2 of `l2_bytes`.
///
/// Direct while the filter fits the L2, where atomics on random blocks are cheap, and for batches
/// that would meet fewer than one block in two, where reading every slice costs more than it saves.
/// Otherwise a direct insert moves 128 bytes a key to and from memory; sorted, a pass of the radix
/// sort (8 bits) moves 16, and each block is read and written once. So: the way with the fewer
/// passes, slices half the L2's size or slices in shared memory; at a tie the latter, whose
/// atomics do not leave the multiprocessor. Of the forced methods only the number of bits is
/// chosen.
[[nodiscard]] insert_plan plan_insert(const filter_shape& shape, std::uint64_t keys,
                                      std::uint64_t l2_bytes,
                                      insert_method wish = insert_method::automatic) noexcept;

}  // namespace octobloom::gpu
