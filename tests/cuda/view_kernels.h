#pragma once

#include <cstdint>

#include <octobloom/gpu/filter_view.h>

namespace octobloom::test {

/// Inserts the first `inserted` keys and asks for all of them, by groups of `lanes` threads, or by
/// single threads when lanes is 0. Device memory; asynchronous on the default stream.
void run_view_kernels(unsigned lanes, const gpu::filter_view& filter, const std::uint64_t* keys,
                      std::uint64_t count, std::uint64_t inserted, std::uint8_t* answers);

}  // namespace octobloom::test
