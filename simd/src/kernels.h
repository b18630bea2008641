#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <octobloom/cuckoo_view.h>
#include <octobloom/filter_view.h>
#include <octobloom/keys.h>

#include "parts.h"

namespace octobloom::simd {

/// Blocks to bring into the cache, in memory's order, while other ones are served: a few with each
/// group of eight keys. Trivial, so that it can be used in code of any target.
struct read_ahead {
  const std::uint64_t* next;  ///< from `end` on: nothing
  const std::uint64_t* end;
  std::size_t words_per_group;

  /// After `keys` keys.
  void advance(std::size_t keys) noexcept { next += keys / 8 * words_per_group; }
};

/// The code of one target: bulk operations on one core, straight on the filter. Answers as in
/// `engine`.
struct kernels {
  const char* target;
  void (*hash)(const key_batch&, std::uint64_t seed, std::uint64_t* hashes);
  void (*insert)(const filter_view&, const key_batch&, const read_ahead&);
  std::uint64_t (*may_contain)(const const_filter_view&, const key_batch&, std::uint8_t* bitmap,
                               const read_ahead&);
  std::uint64_t (*insert_new)(const filter_view&, const key_batch&, std::uint8_t* bitmap,
                              const read_ahead&);
  std::uint64_t (*cuckoo_may_contain)(const cuckoo_view&, const key_batch&, std::uint8_t* bitmap);
  /// Appends the hashes of `keys` to their parts, and writes every key's part to `part_of_key` if
  /// that is not null.
  void (*split)(const key_batch& keys, std::uint64_t seed, std::uint32_t blocks,
                const part_writer& parts, std::uint16_t* part_of_key);
  void (*touch_lines)(const filter_view&, const key_batch&, bool write);
};

/// What is compiled in and supported here, best first.
[[nodiscard]] const std::vector<const kernels*>& available_kernels();

}  // namespace octobloom::simd
