#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <octobloom/facts.h>
#include <octobloom/filter.h>

namespace octobloom {

struct growing_options {
  std::uint64_t seed = 0;
  key_hashing hashing = key_hashing::xxh64;
  /// How many times the keys of the level before a new level is planned for: 2 to 16.
  std::uint32_t growth = 2;
  /// The share of its planned keys at which the newest level is closed, from 0.1 to 1. Below 1 the
  /// filter is larger and its rate lower: 0.7 is "double at 70 %".
  double grow_at = 1;
  /// Blocks of 64 bytes that every level gets beyond its plan. A level of few blocks has a rate
  /// that differs much from one set of keys to the next; 64 blocks more make that rate so low that
  /// it does not matter, and large levels do not notice. Files do not keep this number: a filter
  /// that was loaded adds levels with the default.
  std::uint32_t spare_blocks = 64;
};

struct growing_statistics {
  std::uint64_t levels = 0;
  std::uint64_t bytes = 0;          ///< of all levels
  std::uint64_t distinct_keys = 0;  ///< keys that were told new
  double fill = 0;                  ///< share of all bits that are set
  /// The chance that a new, random key is taken for a known one, from the actual bits of all
  /// levels.
  double current_fpr = 0;
  /// The same expected from the number of keys in each level.
  double expected_fpr = 0;
};

/// The lowest target with which a filter can grow: below it, the first level would spend the rate.
inline constexpr double min_growing_target_fpr = 2e-8;

/// How many distinct keys a growing filter of these parameters takes until its rate is spent and
/// the next one is refused with error{full}: at rates of 1e-4 and above only the size of filters
/// bounds it. 2^64 - 1 when it is that or more. Throws error{invalid_argument} as the filter does.
[[nodiscard]] std::uint64_t growing_capacity(std::uint64_t initial_keys, double target_fpr,
                                             const growing_options& options = {});

/// A Bloom filter without a final size. It starts small; when its newest level has taken the keys
/// that it was planned for, a larger level is added, and the full ones only answer. Every level
/// takes 15 % of what is left of the target rate, so the rates of all levels together stay below
/// the target however many keys come. Keys that an older level may contain are not inserted again.
///
/// The price beside a plain filter of the right size: 4 KiB a level, 4 bits a key from the first
/// level on, 7 to 8 after ten doublings, and the room of the newest level that is not used yet; a
/// key that is absent is looked for in every level. Levels have targets of at least min_target_fpr;
/// when a target below 1e-4 has spent its rate (1e-6: after 23 levels, 8 million times the first
/// keys), the next level is refused with error{full}.
///
/// Move only. Concurrent const calls are safe; writers need the filter to themselves.
class growing_filter : public detail::keyed_queries<growing_filter>,
                       public detail::keyed_inserts<growing_filter>,
                       public detail::stored<growing_filter> {
 public:
  /// Starts with one level for `initial_keys`; the rate of all levels together stays at most
  /// `target_fpr`. Throws error{invalid_argument} as plan_for does, for targets below
  /// min_growing_target_fpr, and for options out of range.
  growing_filter(std::uint64_t initial_keys, double target_fpr,
                 const growing_options& options = {});

  /// Goes on from a plain filter, which becomes the first level as it is: one that was sized for a
  /// number of keys which may turn out larger. Its inserted_keys() must be keys that were told new.
  /// Seed and hashing are its own; the levels to come share what it leaves of `target_fpr`. Throws
  /// error{invalid_argument} for a filter without a plan, with more keys than that, or whose target
  /// leaves too little for another level, and for options out of range.
  growing_filter(filter first, double target_fpr, const growing_options& options = {});

  /// A level may be added: then O(its size) once. Throws error{out_of_memory} or error{full} when
  /// it cannot be; nothing is inserted then. A batch that meets this has inserted the keys before
  /// the one that needed the level.
  void insert_hash(std::uint64_t hash, key_family family = key_family::hashes);
  [[nodiscard]] bool insert_new_hash(std::uint64_t hash, key_family family = key_family::hashes);

  /// Replaces all levels by one of the right size: `replay` inserts every key again into the
  /// growing filter that it is handed. Throws what `replay` throws, and error{invalid_argument}
  /// when clearly fewer keys came than were in; this filter is then as before. Both filters are in
  /// memory meanwhile.
  void compact(const std::function<void(growing_filter&)>& replay);

  /// Forgets every key and all levels but the first.
  void clear();

  /// Oldest first, at least one. Levels answer as plain filters do.
  [[nodiscard]] std::span<const filter> levels() const noexcept { return levels_; }
  [[nodiscard]] std::uint64_t seed() const noexcept { return options_.seed; }
  [[nodiscard]] key_hashing hashing() const noexcept { return options_.hashing; }
  [[nodiscard]] const growing_options& options() const noexcept { return options_; }
  [[nodiscard]] double target_fpr() const noexcept { return target_fpr_; }
  /// The keys that the first level was planned for.
  [[nodiscard]] std::uint64_t planned_keys() const noexcept { return levels_[0].planned_keys(); }
  /// Calls, as filter::inserted_keys().
  [[nodiscard]] std::uint64_t inserted_keys() const noexcept { return inserted_keys_; }
  [[nodiscard]] filter_record record() const noexcept {
    return {levels_.back().view().shape(), planned_keys(), target_fpr_, inserted_keys_};
  }
  /// Keys that were told new: the distinct keys, less those lost to false positives. O(levels).
  [[nodiscard]] std::uint64_t distinct_keys() const noexcept;
  /// Of all levels. O(levels).
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  /// The rate that is expected of the keys in each level. O(levels).
  [[nodiscard]] double expected_fpr() const;
  /// How many of the distinct keys so far were taken for repeats: expected, from the number of keys
  /// in each level, not a bound. A few milliseconds a level.
  [[nodiscard]] double expected_lost() const;
  /// Reads the whole filter.
  [[nodiscard]] growing_statistics statistics() const;
  /// The rate of all levels together held against the target. Reads the whole filter.
  [[nodiscard]] saturation verdict() const;

 private:
  friend class detail::stored<growing_filter>;
  [[nodiscard]] static growing_filter decoded(filter_reader& from, const load_options& options);
  [[nodiscard]] encoded_filter encoded() const;

  friend class detail::keyed_queries<growing_filter>;
  friend class detail::keyed_inserts<growing_filter>;

  growing_filter() = default;

  /// O(levels), one cache line in each.
  [[nodiscard]] bool holds(std::uint64_t hash) const noexcept;
  [[nodiscard]] std::uint64_t probe(const key_batch& keys, std::uint8_t* bitmap,
                                    const bulk_options& options) const;
  void add(const key_batch& keys, const bulk_options& options);
  std::uint64_t add_new(const key_batch& keys, std::uint8_t* bitmap, const bulk_options& options);
  /// Both of them; repeats are counted as inserted, chunk by chunk, or not.
  std::uint64_t take_in(const key_batch& keys, std::uint8_t* bitmap, const bulk_options& options,
                        bool count_repeats);
  std::uint64_t add_absent(const key_batch& keys, std::uint8_t* bitmap,
                           const bulk_options& options);

  [[nodiscard]] std::uint64_t room_in_newest() const noexcept;
  void add_level(std::uint64_t keys);
  void add_next_level();
  void count_inserted(std::uint64_t keys) noexcept;

  growing_options options_;
  double target_fpr_ = 0;
  std::uint64_t inserted_keys_ = 0;
  std::vector<filter> levels_;
};

[[nodiscard]] filter_facts facts_of(const growing_filter& filter, reading how = reading::whole);

}  // namespace octobloom
