#pragma once

#include <cstddef>

#include <octobloom/filter_view.h>
#include <octobloom/keys.h>

#include "kernels.h"

namespace octobloom::simd {

/// Whether several threads insert faster into filters of their own, which are united at the end:
/// when many keys come for each block, and the filter is small.
[[nodiscard]] bool copies_pay(const filter_shape& shape, std::size_t keys,
                              unsigned threads) noexcept;

/// `insert` of `kernels`, on `threads` threads. Takes the filter's size of memory for all threads
/// but one; throws error{out_of_memory} or std::bad_alloc before it changes anything.
void insert_by_copies(const kernels&, unsigned threads, const filter_view&, const key_batch&);

}  // namespace octobloom::simd
