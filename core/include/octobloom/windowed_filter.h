#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

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
/// It is a ring of parts + 1 plain filters. Keys go into the newest; when that has had its part of
/// the window, the oldest is emptied and becomes the newest. A key that is seen again is entered
/// again, so its time counts from the last time. All parts together keep the target rate: each is
/// planned for its share of the keys, at target / (parts + 1).
///
/// The price beside a plain filter of the window's keys, with four parts: a quarter more keys to
/// hold, and log2(5) = 2.3 more bits of pattern, 3.3 bits a key; an absent key is looked for in
/// every part.
///
/// Move only. Concurrent const calls are safe when the clock is; writers need the filter to
/// themselves.
class windowed_filter : public detail::keyed_queries<windowed_filter>,
                        public detail::keyed_inserts<windowed_filter> {
 public:
  /// The last `events` calls for one key each, inserts of any kind. Throws
  /// error{invalid_argument} for no events, parts out of range, a rate that is no target or whose
  /// share is below 1e-8.
  [[nodiscard]] static windowed_filter last_events(std::uint64_t events, double target_fpr,
                                                   const window_options& options = {});
  /// The last `duration`, in which about `expected_keys` distinct keys come; when more come the
  /// rate rises, and current_fpr() says so. A batch is of the moment in which its call begins. A
  /// clock that goes back stands still. Throws as above, and for a duration below one nanosecond a
  /// part or above 100 years.
  [[nodiscard]] static windowed_filter last_duration(std::chrono::nanoseconds duration,
                                                     std::uint64_t expected_keys, double target_fpr,
                                                     const window_options& options = {},
                                                     window_clock clock = system_time);

  /// Reads a file of kind windowed. Time has gone on meanwhile: what is too old is forgotten.
  /// Throws error{io}, error{bad_file} or error{out_of_memory}.
  [[nodiscard]] static windowed_filter load(const std::string& path,
                                            const load_options& options = {},
                                            window_clock clock = system_time);
  /// As filter::save.
  void save(const std::string& path) const;

  /// One event. insert_new tells whether the key had not been seen within the window.
  void insert_hash(std::uint64_t hash, key_family family = key_family::hashes);
  [[nodiscard]] bool insert_new_hash(std::uint64_t hash, key_family family = key_family::hashes);

  void clear() noexcept;

  [[nodiscard]] std::uint64_t seed() const noexcept { return ring_[0].seed(); }
  [[nodiscard]] key_hashing hashing() const noexcept { return ring_[0].hashing(); }
  [[nodiscard]] std::uint32_t parts() const noexcept {
    return static_cast<std::uint32_t>(ring_.size() - 1);
  }
  /// Of one part.
  [[nodiscard]] std::uint32_t blocks() const noexcept { return ring_[0].blocks(); }
  [[nodiscard]] std::uint32_t k() const noexcept { return ring_[0].k(); }
  [[nodiscard]] bool by_time() const noexcept { return by_time_; }
  /// Events, or nanoseconds, of the window.
  [[nodiscard]] std::uint64_t window() const noexcept { return window_; }
  /// Distinct keys that the window was planned for; by events, their number.
  [[nodiscard]] std::uint64_t planned_keys() const noexcept { return planned_keys_; }
  [[nodiscard]] double target_fpr() const noexcept { return target_fpr_; }
  /// Calls in all its life, as filter::inserted_keys().
  [[nodiscard]] std::uint64_t inserted_keys() const noexcept { return inserted_keys_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return ring_.size() * ring_[0].bytes(); }
  /// What still answers, the newest first; valid until the next call that writes.
  [[nodiscard]] std::vector<const filter*> answering_parts() const;
  /// The rate of all that still answers held against the target. Reads the whole filter.
  [[nodiscard]] saturation verdict() const;
  /// Share of the bits that are set, of the parts that still answer. Reads the whole filter.
  [[nodiscard]] double fill_ratio() const;
  /// The rate now, from the bits of the parts that still answer. Reads the whole filter.
  [[nodiscard]] double current_fpr() const;
  /// Keys told new to their part, of the parts that still answer: at least the distinct keys of the
  /// window, less false positives.
  [[nodiscard]] std::uint64_t held_keys() const;

 private:
  friend class detail::keyed_queries<windowed_filter>;
  friend class detail::keyed_inserts<windowed_filter>;

  windowed_filter() = default;

  /// Whether a key was seen within the window. Asking is no event. O(parts).
  [[nodiscard]] bool holds(std::uint64_t hash) const;
  [[nodiscard]] std::uint64_t probe(const key_batch& keys, std::uint8_t* bitmap,
                                    const bulk_options& options) const;
  void add(const key_batch& keys, const bulk_options& options);
  std::uint64_t add_new(const key_batch& keys, std::uint8_t* bitmap, const bulk_options& options);

  [[nodiscard]] std::uint64_t part_length() const noexcept;
  [[nodiscard]] std::uint64_t parts_gone_by() const;
  [[nodiscard]] std::size_t answering() const;
  [[nodiscard]] const filter& part_of_age(std::size_t age) const noexcept;
  void catch_up();
  [[nodiscard]] std::uint64_t take_events(std::uint64_t wanted) noexcept;
  void rotate() noexcept;
  void count_inserted(std::uint64_t keys) noexcept;

  bool by_time_ = false;
  std::uint64_t window_ = 0;
  std::uint64_t planned_keys_ = 0;
  double target_fpr_ = 0;
  std::uint64_t inserted_keys_ = 0;
  std::vector<filter> ring_;
  std::size_t newest_ = 0;
  std::uint64_t events_ = 0;            // of the newest part, by events
  std::chrono::nanoseconds started_{};  // the newest part, by time
  window_clock clock_;
};

}  // namespace octobloom
