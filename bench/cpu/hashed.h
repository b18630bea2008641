#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <octobloom/simd_engine.h>

#include "keys.h"

namespace octobloom::bench {

/// Hashes keys in pieces that stay in the cache, for structures that take hashes only:
/// consume(hashes, count, number of the first key, a multiple of 8). The SIMD engine does it: what
/// is said of a peer's speed never includes a slow hash.
template <class Consume>
void for_each_hashed(const key_set& keys, Consume&& consume) {
  constexpr std::size_t piece = 4096;
  std::array<std::uint64_t, piece> hashes;
  const key_batch batch = keys.batch();
  for (std::size_t first = 0; first < keys.size(); first += piece) {
    const std::size_t count = std::min(piece, keys.size() - first);
    simd_engine().hash(batch.slice(first, count), 0, hashes.data(), {});
    consume(hashes.data(), count, first);
  }
}

}  // namespace octobloom::bench
