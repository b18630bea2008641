#pragma once

#include <cstdint>
#include <optional>

#include <octobloom/filter_view.h>
#include <octobloom/keys.h>

#include "kernels.h"

namespace octobloom::simd {

/// How a bulk operation is cut into parts.
struct partition {
  unsigned shift;     ///< part = block >> shift
  std::size_t parts;  ///< 1 <= parts <= 65,536
  unsigned threads;
  std::size_t chunk;  ///< keys at a time, a multiple of 8
};

/// The partition that pays for `keys` keys on `threads` threads, if one does; when answers are
/// asked for, it pays later. Without one, writers have to go by copies or on one thread.
[[nodiscard]] std::optional<partition> plan_partition(const filter_shape& shape, std::size_t keys,
                                                      unsigned threads, bool writes, bool answers);

/// The operations of `kernels`, part by part: the hashes of a chunk of keys are split by ranges of
/// blocks, then every part is served by one thread, in input order, while its blocks are in that
/// core's cache. Bits and answers are those of the plain operation. Takes about 10 bytes of memory
/// a key of a chunk, plus 4.25 KiB a part and thread; throws error{out_of_memory} or std::bad_alloc
/// before it changes anything.
void insert_by_parts(const kernels&, const partition&, const filter_view&, const key_batch&);
std::uint64_t may_contain_by_parts(const kernels&, const partition&, const const_filter_view&,
                                   const key_batch&, std::uint8_t* bitmap);
std::uint64_t insert_new_by_parts(const kernels&, const partition&, const filter_view&,
                                  const key_batch&, std::uint8_t* bitmap);

}  // namespace octobloom::simd
