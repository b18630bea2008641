#pragma once

#include <cstdint>
#include <string>

#include <octobloom/facts.h>
#include <octobloom/filter.h>

namespace octobloom {

/// A Bloom filter that can forget: beside the bits of a plain filter it keeps a counter of four
/// bits for each of them, 320 bytes a block instead of 64. may_contain reads the bits alone, so it
/// is as fast as on a plain filter.
///
/// A counter holds how many insertions set its bit (a key whose rounds choose one bit twice counts
/// it once). At 15 it is saturated and never goes down: such a bit stays, and a key can remain
/// present after it was removed as often as it was inserted; it can never go missing by that.
///
/// Only keys that are in may be removed. A key that is certainly absent is reported and nothing
/// changes; a key that was never inserted but looks present (a false positive) cannot be told
/// apart, and removing it can make others go missing.
///
/// Move only. Concurrent const calls are safe; writers need the filter to themselves. Writing runs
/// on the calling thread whatever bulk_options say.
class counting_filter : public filter_queries<counting_filter>,
                        public detail::keyed_inserts<counting_filter>,
                        public detail::keyed_removes<counting_filter>,
                        public detail::stored<counting_filter> {
 public:
  /// Bytes of counters for each block.
  static constexpr std::uint64_t counter_bytes_per_block = 256;

  /// Throws error{out_of_memory} before it allocates.
  explicit counting_filter(const plan& plan, const filter_options& options = {});
  [[nodiscard]] static counting_filter with_fpr(std::uint64_t n, double p,
                                                const filter_options& o = {}) {
    return counting_filter(plan_for(n, p), o);
  }

  /// For ready 64-bit hashes: counts one more insertion. O(1), up to five cache lines.
  void insert_hash(std::uint64_t hash, key_family family = key_family::hashes) noexcept;
  /// Inserts a key that is absent, and counts nothing for one that may be present: a set's way, in
  /// which one removal takes the key out. So do all insert_new.
  [[nodiscard]] bool insert_new_hash(std::uint64_t hash,
                                     key_family family = key_family::hashes) noexcept;

  /// For ready 64-bit hashes: takes back one insertion, and tells whether the key was in. O(1).
  /// Throws error{wrong_key} as keyed removals do.
  bool remove_hash(std::uint64_t hash, key_family family = key_family::hashes);

  /// Adds the counters of `other`; they saturate. Throws error{mismatch} as filter::merge.
  void merge(const counting_filter& other);

  /// A plain filter of the same keys: copies the bits, nothing else.
  [[nodiscard]] filter snapshot() const;

  void clear() noexcept;

  [[nodiscard]] const_filter_view view() const noexcept { return bits_.view(); }
  [[nodiscard]] const filter_record& record() const noexcept { return bits_.record(); }
  /// Bytes of bits and counters together; bytes() is that of the bits.
  [[nodiscard]] std::uint64_t total_bytes() const noexcept {
    return bytes() + blocks() * counter_bytes_per_block;
  }
  /// Counters that will never go down again. Reads all of them.
  [[nodiscard]] std::uint64_t saturated_counters() const noexcept;

 private:
  friend class detail::stored<counting_filter>;
  [[nodiscard]] static counting_filter decoded(filter_reader& from, const load_options& options);
  [[nodiscard]] encoded_filter encoded() const;

  friend class detail::keyed_inserts<counting_filter>;
  friend class detail::keyed_removes<counting_filter>;

  explicit counting_filter(filter&& bits);

  void put(std::uint64_t hash) noexcept;
  [[nodiscard]] bool put_absent(std::uint64_t hash) noexcept;
  [[nodiscard]] bool take(std::uint64_t hash) noexcept;
  void add(const key_batch& keys, const bulk_options& options);
  std::uint64_t add_new(const key_batch& keys, std::uint8_t* bitmap, const bulk_options& options);
  std::uint64_t take_out(const key_batch& keys, std::uint8_t* bitmap, const bulk_options& options);
  template <class Act>
  std::uint64_t for_each_hash(const key_batch& keys, std::uint8_t* bitmap,
                              const bulk_options& options, Act act);
  void prefetch(std::uint64_t hash) const noexcept;

  filter bits_;
  storage counters_;  // bit b of a block has nibble b of its 256 bytes, the low one of a byte first
};

[[nodiscard]] filter_facts facts_of(const counting_filter& filter, reading how = reading::whole);

}  // namespace octobloom
