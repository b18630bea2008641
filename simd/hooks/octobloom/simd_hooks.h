#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <octobloom/filter_view.h>
#include <octobloom/keys.h>

/// What tests and benchmarks of the SIMD engine look at and turn. Not installed.
namespace octobloom {

/// The target whose code ran in the last bulk operation that this thread called; empty before the
/// first one.
[[nodiscard]] std::string_view simd_last_target() noexcept;

/// For measurements, the floor under the plain path: the same keys, hashed and prefetched in the
/// same way, but of each block one word is only read, or, for `write`, written back as it was. One
/// thread.
void simd_touch_lines(const filter_view& view, const key_batch& keys, bool write);

/// When the engine leaves its plain path. These numbers decide speed, never bits or answers.
struct simd_tuning {
  /// Filters of this many bytes and more are built part by part,
  std::uint64_t partition_from_bytes;
  /// and these when a bitmap of answers is asked for, which have to come back in order,
  std::uint64_t partition_answers_from_bytes;
  /// when one call brings at least a key for this many blocks.
  std::uint64_t blocks_per_key;
  /// Bytes of filter in one part: what fits a core's own cache.
  std::uint64_t part_bytes;
  /// Keys that are partitioned at a time, at most: this bounds the extra memory.
  std::size_t chunk_keys;
  /// Several threads insert into copies of a smaller filter when this many keys come for a block.
  std::size_t copies_from_keys_per_block;
  /// Fewer keys than this a thread are not worth a thread.
  std::size_t keys_per_thread;

  /// What fits this machine's caches.
  [[nodiscard]] static simd_tuning of_this_machine() noexcept;
};

/// Forces a target or a tuning while it lives, for the whole process: for tests and measurements.
/// Overrides nest like scopes; make and destroy them while no bulk operation runs.
class simd_override {
 public:
  /// Throws error{engine_unavailable}, naming what there is, for a target that is not compiled in
  /// or that this processor lacks.
  explicit simd_override(std::string_view target);
  explicit simd_override(const simd_tuning& tuning) noexcept;
  ~simd_override();
  simd_override(const simd_override&) = delete;
  simd_override& operator=(const simd_override&) = delete;

 private:
  const void* previous_;
  simd_tuning tuning_{};
  bool of_target_;
};

}  // namespace octobloom
