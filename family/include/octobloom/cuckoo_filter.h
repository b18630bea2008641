#pragma once

#include <cstdint>
#include <ranges>
#include <span>
#include <string>

#include <octobloom/cuckoo_view.h>
#include <octobloom/facts.h>
#include <octobloom/filter.h>

namespace octobloom {

/// A sized cuckoo filter, before any memory is taken.
struct cuckoo_plan {
  std::uint64_t expected_keys = 0;  ///< n, 0 = unplanned
  double target_fpr = 0;            ///< p, 0 = unplanned
  std::uint32_t lines = 0;          ///< of 64 bytes
  std::uint32_t fingerprint_bits = 0;
  double expected_fpr = 0;  ///< at n keys; 0 when n is unplanned

  [[nodiscard]] constexpr std::uint64_t bytes() const noexcept { return std::uint64_t{lines} * 64; }
  /// Fingerprints that the filter has room for: four for each bucket, whole buckets in each line.
  [[nodiscard]] constexpr std::uint64_t slots() const noexcept {
    return std::uint64_t{lines} * (128 / fingerprint_bits) * 4;
  }
  /// Bits of the filter for each expected key; 0 when n is unplanned.
  [[nodiscard]] constexpr double bits_per_key() const noexcept {
    return expected_keys == 0
               ? 0.0
               : 8.0 * static_cast<double>(bytes()) / static_cast<double>(expected_keys);
  }
};

/// The smallest cuckoo filter that takes `n` keys (with a full one in thousands of trials or less)
/// and then has a rate of at most `p`; of equal ones that with the shortest fingerprints. Throws
/// error{invalid_argument} when n is 0, when p is not in [1e-8, 1), or when it would need 2^32
/// buckets or more.
[[nodiscard]] cuckoo_plan cuckoo_plan_for(std::uint64_t n, double p);

/// Lines and bits as given, 8 to 32 bits; unplanned. Throws error{invalid_argument}.
[[nodiscard]] cuckoo_plan cuckoo_plan_with_lines(std::uint64_t lines, std::uint32_t bits);

/// A filter that forgets at about the memory of a plain one: it keeps a fingerprint of every key in
/// one of two buckets, four to a bucket, buckets whole in cache lines (Fan, Andersen, Kaminsky,
/// Mitzenmacher: "Cuckoo Filter: Practically Better Than Bloom", 2014). A question reads two lines
/// where a plain filter reads one.
///
/// It is a multiset: each insert takes a slot, also that of a key that is in, and up to eight
/// copies of a key (or of keys with equal fingerprints and buckets) fit. Insert refuses when it
/// finds no room, and nothing is lost or changed then; plans are sized so that this does not
/// happen before the planned keys are in.
///
/// Only keys that are in may be removed. A key that is certainly absent is reported and nothing
/// changes; a key that was never inserted but looks present cannot be told apart, and removing it
/// takes another key out.
///
/// Move only. Concurrent const calls are safe; writers need the filter to themselves. Writing
/// runs on the calling thread whatever bulk_options say.
class cuckoo_filter : public detail::keyed_queries<cuckoo_filter>,
                      public detail::keyed_removes<cuckoo_filter>,
                      public detail::stored<cuckoo_filter> {
 public:
  explicit cuckoo_filter(const cuckoo_plan& plan, const filter_options& options = {});
  [[nodiscard]] static cuckoo_filter with_fpr(std::uint64_t n, double p,
                                              const filter_options& o = {}) {
    return cuckoo_filter(cuckoo_plan_for(n, p), o);
  }

  /// One key more. False when there is no room: the filter is as it was. O(1) on average, at most
  /// 500 moves.
  template <detail::single_key Key>
  [[nodiscard]] bool insert(const Key& key) {
    detail::require_keys(hashing(), key_kind::integers);
    return insert_hash(detail::hash_of(key, seed()), family_of<Key>());
  }
  [[nodiscard]] bool insert_hash(std::uint64_t hash,
                                 key_family family = key_family::hashes) noexcept;

  /// Inserts a key that is absent and tells that it was: a set's way, in which one removal takes
  /// the key out. Throws error{full} when it is absent and there is no room.
  template <detail::single_key Key>
  [[nodiscard]] bool insert_new(const Key& key) {
    detail::require_keys(hashing(), key_kind::integers);
    return insert_new_hash(detail::hash_of(key, seed()), family_of<Key>());
  }
  [[nodiscard]] bool insert_new_hash(std::uint64_t hash, key_family family = key_family::hashes);

  /// Inserts keys in order until one finds no room; returns how many are in: all, or the first so
  /// many.
  [[nodiscard]] std::uint64_t insert(const key_batch& keys, const bulk_options& options = {});
  template <detail::key_range Keys>
  [[nodiscard]] std::uint64_t insert(const Keys& keys) {
    std::uint64_t inserted = 0;
    detail::for_each_batch(keys, [&](const key_batch& batch, std::size_t first) {
      if (inserted == first) inserted += insert(batch);
    });
    return inserted;
  }
  /// The same of the rows of a column, or of composite keys, that are no nulls.
  [[nodiscard]] std::uint64_t insert(const key_columns& keys, const bulk_options& options = {});

  /// Tells for each key, in order, whether it was absent, and inserts it then: bit i of `bitmap`
  /// (null: count only) is set for new keys. Returns how many were new. Throws error{full} at the
  /// first that is absent and finds no room; those before it are in.
  std::uint64_t insert_new(const key_batch& keys, std::uint8_t* bitmap,
                           const bulk_options& options = {});
  template <detail::key_range Keys>
  std::uint64_t insert_new(const Keys& keys, std::span<std::uint8_t> bitmap,
                           const bulk_options& options = {}) {
    return detail::sum_over_batches(
        keys, bitmap, options,
        [&](const key_batch& batch, std::uint8_t* marks, const bulk_options& within) {
          return insert_new(batch, marks, within);
        });
  }
  /// The same of the rows of a column, or of composite keys; nulls are left out.
  std::uint64_t insert_new(const key_columns& keys, const row_answers& out,
                           const bulk_options& options = {});

  /// For ready 64-bit hashes: takes one copy out, and tells whether there was one. O(1).
  /// Throws error{wrong_key} as keyed removals do.
  bool remove_hash(std::uint64_t hash, key_family family = key_family::hashes);

  void clear() noexcept;

  [[nodiscard]] std::uint64_t seed() const noexcept { return record_.shape.seed; }
  [[nodiscard]] key_hashing hashing() const noexcept { return record_.shape.hashing; }
  [[nodiscard]] cuckoo_view view() const noexcept { return {storage_.words(), shape_, seed()}; }
  [[nodiscard]] std::uint32_t lines() const noexcept { return shape_.lines(); }
  [[nodiscard]] std::uint32_t fingerprint_bits() const noexcept {
    return shape_.fingerprint_bits();
  }
  [[nodiscard]] std::uint32_t buckets() const noexcept { return shape_.buckets(); }
  [[nodiscard]] std::uint64_t slots() const noexcept { return shape_.slots(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return shape_.bytes(); }
  /// Fingerprints that are in: insertions less removals.
  [[nodiscard]] std::uint64_t inserted_keys() const noexcept { return record_.inserted_keys; }
  [[nodiscard]] std::uint64_t planned_keys() const noexcept { return record_.planned_keys; }
  [[nodiscard]] double target_fpr() const noexcept { return record_.target_fpr; }
  [[nodiscard]] const filter_record& record() const noexcept { return record_; }
  /// Slots that are taken: inserted_keys(), but in a file that says something else and was loaded
  /// without a check. There it reads the whole filter, otherwise O(1).
  [[nodiscard]] std::uint64_t taken_slots() const noexcept;
  /// taken_slots() / slots().
  using detail::stored<cuckoo_filter>::load;
  [[nodiscard]] double load() const noexcept {
    return static_cast<double>(taken_slots()) / static_cast<double>(slots());
  }
  /// The chance that a new, random key is taken for a known one, at this load.
  [[nodiscard]] double current_fpr() const noexcept;
  /// By the slots: see judge().
  [[nodiscard]] saturation verdict() const;

 private:
  friend class detail::stored<cuckoo_filter>;
  [[nodiscard]] static cuckoo_filter decoded(filter_reader& from, const load_options& options);
  [[nodiscard]] encoded_filter encoded() const;

  friend class detail::keyed_queries<cuckoo_filter>;
  friend class detail::keyed_removes<cuckoo_filter>;

  [[nodiscard]] bool holds(std::uint64_t hash) const noexcept {
    return view().may_contain_hash(hash);
  }
  [[nodiscard]] bool put_in(std::uint64_t hash) noexcept;
  [[nodiscard]] bool take(std::uint64_t hash) noexcept;
  [[nodiscard]] std::uint64_t probe(const key_batch& keys, std::uint8_t* bitmap,
                                    const bulk_options& options) const;
  std::uint64_t take_out(const key_batch& keys, std::uint8_t* bitmap, const bulk_options& options);
  [[nodiscard]] std::uint64_t exchange(std::uint32_t bucket, unsigned slot,
                                       std::uint64_t fingerprint) noexcept;
  [[nodiscard]] bool put(std::uint32_t bucket, std::uint64_t fingerprint) noexcept;
  [[nodiscard]] bool make_room(const cuckoo_shape::place& where, std::uint64_t hash) noexcept;
  void prefetch(std::uint64_t hash) const noexcept;
  [[nodiscard]] std::uint64_t count_fingerprints() const noexcept;
  [[nodiscard]] bool has_unused_bits() const noexcept;

  filter_record record_;
  bool counted_ = true;  // record_ tells how many the slots hold
  cuckoo_shape shape_;
  storage storage_;
};

[[nodiscard]] filter_facts facts_of(const cuckoo_filter& filter, reading how = reading::whole);

}  // namespace octobloom
