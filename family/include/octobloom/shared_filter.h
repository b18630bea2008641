#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include <octobloom/facts.h>
#include <octobloom/filter.h>

namespace octobloom {

/// A Bloom filter that many threads write and read at once. Its words are atomic; every function
/// that is not said to need the filter alone may be called from any thread at any time.
///
/// What is promised about order:
/// - insert and may_contain take no lock and never wait. When an insert has returned, and a thread
///   knows that it has (by joining, a mutex, a release and an acquire, ...), may_contain finds the
///   key in that thread for good. Beside a running insert, may_contain says either.
/// - insert_new: all calls of it, from all threads, have the effect and the answers of some order
///   one after another. So of threads that race with one key exactly one is told that it is new
///   (none, when other keys make it a false positive). Beside a plain insert of the same key that
///   has not returned, either may have been first. A call that finds the key there takes no lock;
///   otherwise it holds one of 1,024 spin locks for a few nanoseconds.
/// - Nothing else is ordered: a thread that sees one key of another thread's need not see its
///   earlier ones. Filters are not a way to publish data.
///
/// Batches hash on the default engine and then go key by key with prefetching, since the engines
/// read without atomics; they run on the calling thread, as many callers as there are. When writing
/// is over, take_filter() gives the filter to the engines. Move only; moving needs the filter
/// alone.
class shared_filter : public detail::keyed_queries<shared_filter>,
                      public detail::keyed_inserts<shared_filter> {
 public:
  explicit shared_filter(const plan& plan, const filter_options& options = {});
  /// Takes over the keys of a plain filter.
  explicit shared_filter(filter&& start);

  void insert_hash(std::uint64_t hash, key_family family = key_family::hashes) noexcept;
  [[nodiscard]] bool insert_new_hash(std::uint64_t hash,
                                     key_family family = key_family::hashes) noexcept;

  [[nodiscard]] std::uint32_t blocks() const noexcept { return bits_.blocks(); }
  [[nodiscard]] std::uint32_t k() const noexcept { return bits_.k(); }
  [[nodiscard]] std::uint64_t seed() const noexcept { return bits_.seed(); }
  [[nodiscard]] key_hashing hashing() const noexcept { return bits_.hashing(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bits_.bytes(); }
  [[nodiscard]] std::uint64_t planned_keys() const noexcept { return bits_.planned_keys(); }
  [[nodiscard]] double target_fpr() const noexcept { return bits_.target_fpr(); }
  /// Calls of finished inserts, as filter::inserted_keys(); those under way may be missing.
  [[nodiscard]] std::uint64_t inserted_keys() const noexcept;
  [[nodiscard]] filter_record record() const noexcept;

  /// What the bits say now, as filter::statistics() and filter::verdict(); inserts under way may be
  /// missing. Reads the whole filter.
  [[nodiscard]] filter_statistics statistics() const noexcept;
  [[nodiscard]] saturation verdict() const;

  /// Forgets every key. Needs the filter alone.
  void clear() noexcept;

  /// A plain filter of what is in now: every key whose insert has returned, perhaps parts of
  /// others.
  [[nodiscard]] filter snapshot() const;
  /// The filter itself, without a copy; this one may only be assigned or destroyed then. Needs the
  /// filter alone.
  [[nodiscard]] filter take_filter() &&;

 private:
  friend class detail::keyed_queries<shared_filter>;
  friend class detail::keyed_inserts<shared_filter>;

  struct alignas(64) counter {
    std::atomic<std::uint64_t> keys{0};
  };
  struct parts {
    std::array<std::atomic_flag, 1024> locks{};  // of the blocks whose number ends in the index
    std::array<counter, 16> counters{};          // summed up: one would be fought over
  };

  [[nodiscard]] bool holds(std::uint64_t hash) const noexcept;
  [[nodiscard]] std::uint64_t probe(const key_batch& keys, std::uint8_t* bitmap,
                                    const bulk_options& options) const;
  void add(const key_batch& keys, const bulk_options& options);
  std::uint64_t add_new(const key_batch& keys, std::uint8_t* bitmap, const bulk_options& options);

  [[nodiscard]] std::uint64_t* block(std::uint64_t hash) const noexcept;
  void set_bits(std::uint64_t hash) noexcept;
  [[nodiscard]] bool set_bits_alone(std::uint64_t hash) noexcept;
  void count_inserted(std::uint64_t keys) noexcept;
  template <class Act>
  std::uint64_t for_each_hash(const key_batch& keys, std::uint8_t* bitmap,
                              const bulk_options& options, Act act) const;

  filter bits_;
  std::uint64_t* words_;  // of bits_
  std::unique_ptr<parts> parts_;
};

/// Reads all of it in either way.
[[nodiscard]] filter_facts facts_of(const shared_filter& filter, reading how = reading::whole);

}  // namespace octobloom
