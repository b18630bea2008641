#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <octobloom/facts.h>
#include <octobloom/filter.h>

namespace octobloom {

/// Time since the Unix epoch.
using window_clock = std::function<std::chrono::nanoseconds()>;

/// The machine's clock. Windows of time go by it, so that they mean the same after a restart.
[[nodiscard]] std::chrono::nanoseconds system_time();

struct window_options {
  std::uint64_t seed = 0;
  key_hashing hashing = key_hashing::xxh64;
  /// Parts of the window, 1 to 64: a key is remembered for the window and at most one part more.
  /// More parts make its end sharper, and cost memory and time.
  std::uint32_t parts = 4;
};

/// A Bloom filter of the recent past, for streams without an end: what was seen within the last N
/// events, or the last T seconds, is answered "seen", always; what was seen longer ago is
/// forgotten, at the latest one part of the window later (25 % with the default of four; parts are
/// whole events).
///
/// The window is cut into parts, and the parts hold plain filters ("layers"). By events, a part has
/// one, and all parts + 1 together keep the target rate. By time, a part gets a layer when there
/// are keys for it, and another one when that has its share, so that the planned keys keep the
/// target rate in whatever pattern they come, all at once too. A key that is seen again in a later
/// part is entered again, so its time counts from the last time: it counts once for each part that
/// it is seen in.
///
/// The price beside a plain filter of the window's keys, with four parts: by events 1.6 times its
/// memory, by time up to 2.6 (1.6 layers more and smaller rates), taken as keys come and given back
/// as they are forgotten; an absent key is looked for in every layer.
///
/// Move only. Concurrent const calls are safe when the clock is; writers need the filter to
/// themselves.
class windowed_filter : public detail::keyed_queries<windowed_filter>,
                        public detail::keyed_inserts<windowed_filter>,
                        public detail::stored<windowed_filter> {
 public:
  /// A plain filter of the keys that were entered into a part, or some of them.
  struct layer {
    std::uint64_t part;  ///< its number: by time, floor(nanoseconds since 1970 / part_length())
    std::uint64_t last;  ///< by time, nanoseconds since 1970: when a key of it last came
    filter bits;         ///< its inserted_keys() are those that were new to the part
  };

  /// The last `events` calls for one key each, inserts of any kind. Throws
  /// error{invalid_argument} for no events, parts out of range, a rate that is no target or whose
  /// share is below 1e-8.
  [[nodiscard]] static windowed_filter last_events(std::uint64_t events, double target_fpr,
                                                   const window_options& options = {});
  /// The last `duration`, in which about `expected_keys` distinct keys come, a key counted once for
  /// each part in which it does; when more come the rate rises, and current_fpr() says so. A batch
  /// is of the moment in which its call begins. A clock that goes back by less than the window
  /// stands still; one that goes back by more makes the filter start anew, see restarts(). Throws
  /// as above, for a duration below one nanosecond a part or above 100 years, for no clock and a
  /// clock before 1970; and error{out_of_memory} when most_bytes() are more than there are.
  [[nodiscard]] static windowed_filter last_duration(std::chrono::nanoseconds duration,
                                                     std::uint64_t expected_keys, double target_fpr,
                                                     const window_options& options = {},
                                                     window_clock clock = system_time);

  /// One event. insert_new tells whether the key had not been seen within the window. Throws
  /// error{out_of_memory} when a layer that is needed cannot be had; the key is not inserted then,
  /// those before it in its batch are. By time, these and all questions throw
  /// error{invalid_argument} when the clock is before 1970.
  void insert_hash(std::uint64_t hash, key_family family = key_family::hashes);
  [[nodiscard]] bool insert_new_hash(std::uint64_t hash, key_family family = key_family::hashes);

  /// Adds what a window by time of the same parts, window, planned keys, target rate and shape has
  /// seen, part by part: both saw the same clock. Throws error{mismatch} when these differ, and
  /// error{invalid_argument} for windows by events, which have no common order; nothing is changed
  /// then.
  void merge(const windowed_filter& other);

  /// As if it were new.
  void clear() noexcept;

  [[nodiscard]] std::uint64_t seed() const noexcept { return record_.shape.seed; }
  [[nodiscard]] key_hashing hashing() const noexcept { return record_.shape.hashing; }
  [[nodiscard]] std::uint32_t parts() const noexcept { return parts_; }
  /// Of one layer.
  [[nodiscard]] std::uint32_t blocks() const noexcept { return record_.shape.blocks; }
  [[nodiscard]] std::uint32_t k() const noexcept { return record_.shape.k; }
  [[nodiscard]] bool by_time() const noexcept { return by_time_; }
  /// Events, or nanoseconds, of the window.
  [[nodiscard]] std::uint64_t window() const noexcept { return window_; }
  [[nodiscard]] std::uint64_t part_length() const noexcept;
  /// Distinct keys that the window was planned for; by events, their number.
  [[nodiscard]] std::uint64_t planned_keys() const noexcept { return record_.planned_keys; }
  [[nodiscard]] double target_fpr() const noexcept { return record_.target_fpr; }
  /// Calls in all its life, as filter::inserted_keys().
  [[nodiscard]] std::uint64_t inserted_keys() const noexcept { return record_.inserted_keys; }
  [[nodiscard]] const filter_record& record() const noexcept { return record_; }
  /// How often the clock fell behind by the window or more, so that everything was forgotten.
  [[nodiscard]] std::uint64_t restarts() const noexcept { return restarts_; }
  /// Of the layers that there are now.
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return layers_.size() * record_.shape.bytes();
  }
  /// The most that bytes() can become.
  [[nodiscard]] std::uint64_t most_bytes() const noexcept {
    return most_layers() * record_.shape.bytes();
  }

  /// All that are in memory, the oldest first; by time, those that do not answer any more are
  /// freed by the next insertion.
  [[nodiscard]] std::span<const layer> layers() const noexcept { return layers_; }
  /// The layers that answer now, the newest first; valid until the next call that writes.
  [[nodiscard]] std::vector<const filter*> answering_layers() const;
  /// The rate of all that answer held against the target. Reads the whole filter.
  [[nodiscard]] saturation verdict() const;
  /// Share of the bits that are set, of the layers that answer. Reads the whole filter.
  [[nodiscard]] double fill_ratio() const;
  /// The rate now, from the bits of the layers that answer. Reads the whole filter.
  [[nodiscard]] double current_fpr() const;
  /// Keys told new to their part, of the layers that still answer: at least the distinct keys of
  /// the window, less false positives.
  [[nodiscard]] std::uint64_t held_keys() const;

 private:
  friend class detail::stored<windowed_filter>;
  [[nodiscard]] static windowed_filter decoded(filter_reader& from, const load_options& options,
                                               window_clock clock = system_time);
  [[nodiscard]] encoded_filter encoded() const;

  friend class detail::keyed_queries<windowed_filter>;
  friend class detail::keyed_inserts<windowed_filter>;

  windowed_filter() = default;

  /// Whether a key was seen within the window. Asking is no event. O(layers).
  [[nodiscard]] bool holds(std::uint64_t hash) const;
  [[nodiscard]] std::uint64_t probe(const key_batch& keys, std::uint8_t* bitmap,
                                    const bulk_options& options) const;
  void add(const key_batch& keys, const bulk_options& options);
  std::uint64_t add_new(const key_batch& keys, std::uint8_t* bitmap, const bulk_options& options);
  /// Which keys inserted_keys() counts. With `all` nobody asks which were seen before, and older
  /// parts need not be looked at.
  enum class counting : std::uint8_t { all, unseen };
  std::uint64_t take_in(const key_batch& keys, std::uint8_t* bitmap, const bulk_options& options,
                        counting counted);
  std::uint64_t add_events(const key_batch& keys, std::uint8_t* bitmap, const bulk_options& options,
                           counting counted);
  std::uint64_t add_at(std::uint64_t time, const key_batch& keys, std::uint8_t* bitmap,
                       const bulk_options& options, counting counted);

  [[nodiscard]] std::uint64_t most_layers() const noexcept;
  [[nodiscard]] std::uint64_t share() const noexcept;
  /// Of a layer with so many keys.
  [[nodiscard]] filter_record of_layer(std::uint64_t keys) const noexcept;
  [[nodiscard]] std::uint64_t now() const;
  [[nodiscard]] bool starts_anew(std::uint64_t time) const noexcept;
  [[nodiscard]] bool answers(const layer& one, std::uint64_t time) const noexcept;
  void turn_to(std::uint64_t time, const bulk_options& options);
  [[nodiscard]] std::size_t first_of_newest_part() const noexcept;
  [[nodiscard]] std::uint64_t room_in_newest() const noexcept;
  void meet(layer& one, std::uint64_t time) const noexcept;
  void open_layer();
  void require_event_part(const bulk_options& options);
  [[nodiscard]] bool insert_at(std::uint64_t time, std::uint64_t hash, key_family family);
  void count_inserted(std::uint64_t keys) noexcept;
  void require_mergeable(const windowed_filter& other) const;
  [[nodiscard]] windowed_filter copy() const;

  filter_record record_;
  std::uint32_t parts_ = 0;
  bool by_time_ = false;
  std::uint64_t window_ = 0;
  std::uint64_t newest_ = 0;  // number of the newest part
  std::uint64_t events_ = 0;  // in it, by events
  std::uint64_t restarts_ = 0;
  std::vector<layer> layers_;  // by part, then in order of opening
  window_clock clock_;
};

[[nodiscard]] filter_facts facts_of(const windowed_filter& filter, reading how = reading::whole);

}  // namespace octobloom
