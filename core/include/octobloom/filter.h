#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <octobloom/detail/keyed.h>
#include <octobloom/detail/stored.h>
#include <octobloom/engine.h>
#include <octobloom/error.h>
#include <octobloom/file.h>
#include <octobloom/filter_record.h>
#include <octobloom/keys.h>
#include <octobloom/plan.h>
#include <octobloom/statistics.h>
#include <octobloom/storage.h>

namespace octobloom {

struct filter_options {
  std::uint64_t seed = 0;
  key_hashing hashing = key_hashing::xxh64;
};

/// What `merge` says of two filters that do not fit: names the fields that differ. Empty: they fit.
[[nodiscard]] std::string describe_mismatch(const filter_shape& target, const filter_shape& other);

namespace detail {

/// Whether anything is in the filter. Ends at the first word that is not zero.
[[nodiscard]] bool any_bit(const const_filter_view& view) noexcept;

[[nodiscard]] inline filter_record record_of(const plan& plan, const filter_options& options) {
  return {
      {plan.blocks, plan.k, options.seed, options.hashing}, plan.expected_keys, plan.target_fpr, 0};
}

}  // namespace detail

/// What `Derived`, whatever holds its bits, answers by its view() and its record().
template <class Derived>
class filter_queries : public detail::keyed_queries<Derived> {
 public:
  [[nodiscard]] std::uint32_t blocks() const noexcept { return self().view().blocks(); }
  [[nodiscard]] std::uint32_t k() const noexcept { return self().view().k(); }
  [[nodiscard]] std::uint64_t seed() const noexcept { return self().view().seed(); }
  [[nodiscard]] key_hashing hashing() const noexcept { return self().view().shape().hashing; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return self().view().shape().bytes(); }

  /// Calls so far, not distinct keys, less removals: `insert` counts every key, `insert_new` those
  /// it told new, a merge the sum. Saturates at 2^64 - 1.
  [[nodiscard]] std::uint64_t inserted_keys() const noexcept {
    return self().record().inserted_keys;
  }
  [[nodiscard]] std::uint64_t planned_keys() const noexcept { return self().record().planned_keys; }
  [[nodiscard]] double target_fpr() const noexcept { return self().record().target_fpr; }

  /// Each of these reads the whole filter; ask statistics() once when several are wanted.
  [[nodiscard]] filter_statistics statistics() const noexcept {
    return statistics_of(self().view());
  }
  [[nodiscard]] double fill_ratio() const noexcept { return statistics().fill; }
  [[nodiscard]] std::optional<double> estimated_keys() const noexcept {
    return statistics().estimated_keys;
  }
  [[nodiscard]] double current_fpr() const noexcept { return statistics().current_fpr; }
  [[nodiscard]] saturation verdict() const {
    const filter_statistics now = statistics();
    return judge(now, target_fpr(), use_of_plan(now, self().record()));
  }

 private:
  friend class detail::keyed_queries<Derived>;

  [[nodiscard]] bool holds(std::uint64_t hash) const noexcept {
    return self().view().may_contain_hash(hash);
  }
  [[nodiscard]] std::uint64_t probe(const key_batch& keys, std::uint8_t* bitmap,
                                    const bulk_options& options) const {
    return detail::may_contain(self().view(), keys, bitmap, options);
  }
  [[nodiscard]] const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }
};

/// A Bloom filter that owns its memory: zeroed, 64-byte aligned, on huge pages from 2 MiB. Move
/// only (copy() says so when gigabytes are copied); a moved-from filter may only be assigned or
/// destroyed. Concurrent const calls are safe; writers need the filter to themselves.
class filter : public filter_queries<filter>,
               public detail::keyed_inserts<filter>,
               public detail::stored<filter> {
 public:
  /// An empty filter of the planned size. Throws error{invalid_argument} for a plan or options that
  /// no file could tell of, and error{out_of_memory} before it allocates when the size is above the
  /// memory of the machine or of its control group.
  explicit filter(const plan& plan, const filter_options& options = {})
      : filter(detail::record_of(plan, options)) {}
  /// One without bits that says of itself what another one does, for whoever fills its words next.
  /// Throws as above.
  explicit filter(const filter_record& record);

  /// plan_for, plan_with_memory, plan_with_bits and plan_with_blocks, and a filter of that plan.
  [[nodiscard]] static filter with_fpr(std::uint64_t n, double p, const filter_options& o = {}) {
    return filter(plan_for(n, p), o);
  }
  [[nodiscard]] static filter with_memory(std::uint64_t bytes, std::uint64_t n,
                                          const filter_options& o = {}) {
    return filter(plan_with_memory(bytes, n), o);
  }
  [[nodiscard]] static filter with_bits(std::uint64_t total_bits, std::uint32_t k,
                                        const filter_options& o = {}) {
    return filter(plan_with_bits(total_bits, k), o);
  }
  [[nodiscard]] static filter with_blocks(std::uint64_t blocks, std::uint32_t k,
                                          const filter_options& o = {}) {
    return filter(plan_with_blocks(blocks, k), o);
  }

  filter(filter&&) noexcept = default;
  filter& operator=(filter&&) noexcept = default;
  [[nodiscard]] filter copy() const;

  /// insert and insert_new for a ready 64-bit hash; `family` says what it was made of. O(1), one
  /// cache line.
  void insert_hash(std::uint64_t hash, key_family family = key_family::hashes) noexcept {
    state_family(family);
    bits().insert_hash(hash);
    record_.count_inserted(1);
  }

  [[nodiscard]] bool insert_new_hash(std::uint64_t hash,
                                     key_family family = key_family::hashes) noexcept {
    state_family(family);
    const bool is_new = bits().insert_new_hash(hash);
    record_.count_inserted(is_new ? 1 : 0);
    return is_new;
  }

  /// Adds the keys of `other`; its planned keys and target rate stay this filter's. O(blocks).
  /// Throws error{mismatch} when block count, k, seed or hash differ, and changes nothing then.
  template <class Other>
  void merge(const filter_queries<Other>& other) {
    const auto& source = static_cast<const Other&>(other);
    merge(source.view(), source.inserted_keys(), source.families());
  }
  /// `families` 0 says that those of the keys in the view are not known.
  void merge(const const_filter_view& other, std::uint64_t inserted_keys,
             key_families families = 0);

  /// Forgets every key; size, plan and seed stay.
  void clear() noexcept;

  /// Whoever inserts through it says so by count_inserted().
  [[nodiscard]] filter_view view() noexcept {
    view_given_ = true;
    return bits();
  }
  [[nodiscard]] const_filter_view view() const noexcept {
    return {storage_.words(), record_.shape};
  }
  [[nodiscard]] const filter_record& record() const noexcept { return record_; }

  /// For those who write through view() with an engine of their choice: adds to inserted_keys().
  /// When they do not say of which family the keys were, families() is not known from then on.
  void count_inserted(std::uint64_t keys) noexcept {
    if (keys > 0) families_.forget();
    record_.count_inserted(keys);
  }
  void count_inserted(std::uint64_t keys, key_family family) noexcept {
    if (keys > 0) families_.state(family);
    record_.count_inserted(keys);
  }
  /// Says of all keys in it what they are, in place of all that was said before; 0 is not known.
  void set_families(key_families families) noexcept;
  /// The opposite, for those who take bits away. Stops at 0, and a saturated count stays.
  void count_removed(std::uint64_t keys) noexcept { record_.count_removed(keys); }

 private:
  friend class detail::keyed_inserts<filter>;
  friend class detail::stored<filter>;

  [[nodiscard]] static filter decoded(filter_reader& from, const load_options& options);
  [[nodiscard]] encoded_filter encoded() const;

  void add(const key_batch& keys, const bulk_options& options) {
    detail::insert(bits(), keys, options);
    record_.count_inserted(keys.size());
  }
  std::uint64_t add_new(const key_batch& keys, std::uint8_t* bitmap, const bulk_options& options) {
    const std::uint64_t fresh = detail::insert_new(bits(), keys, bitmap, options);
    record_.count_inserted(fresh);
    return fresh;
  }

  [[nodiscard]] filter_view bits() noexcept { return {storage_.words(), record_.shape}; }
  void state_family(key_family family) noexcept {
    if (families_.is_news(family)) [[unlikely]]
      state_news(family);
  }
  void state_news(key_family family) noexcept;

  filter_record record_;
  bool view_given_ = false;  // and perhaps written through before any family was stated
  storage storage_;
};

}  // namespace octobloom
