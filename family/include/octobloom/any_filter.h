#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>

#include <octobloom/counting_filter.h>
#include <octobloom/cuckoo_filter.h>
#include <octobloom/facts.h>
#include <octobloom/filter.h>
#include <octobloom/growing_filter.h>
#include <octobloom/windowed_filter.h>

namespace octobloom {

class any_filter;

/// What a new filter is to be. Each kind takes what concerns it, and refuses the rest when it is
/// set.
struct filter_request {
  filter_kind kind = filter_kind::plain;
  /// As plan_for() takes them; growing: of the first level; windowed by time: of the window;
  /// windowed by events: the rate alone.
  std::uint64_t expected_keys = 0;
  double target_fpr = 0;
  /// Plain and counting: the size instead, as plan_with_blocks() takes it. The two above are then
  /// what the filter was planned for, or 0.
  std::uint64_t blocks = 0;
  std::uint32_t k = 0;
  std::uint64_t seed = 0;
  key_hashing hashing = key_hashing::xxh64;
  std::uint32_t growth = 0;           ///< growing: growing_options::growth; 0: its default
  double grow_at = 0;                 ///< growing: growing_options::grow_at; 0: its default
  std::uint64_t window_events = 0;    ///< windowed: remembers so many calls,
  std::uint64_t window_duration = 0;  ///< or so many nanoseconds
  std::uint32_t parts = 0;            ///< windowed: window_options::parts; 0: its default
};

/// A kind of filter that files hold: a row of the table of kinds. Its name is to_string(kind).
struct kind_row {
  filter_kind kind;
  bool removes;  ///< takes keys back
  bool merges;   ///< takes up the keys of another one of its shape (windows: by time)
  bool grows;    ///< has no final size
  bool forgets;  ///< by itself, what is old
  any_filter (*make)(const filter_request& request);
  any_filter (*decode)(filter_reader& from, const load_options& options);
};

/// All kinds, by their numbers in files.
[[nodiscard]] std::span<const kind_row> all_kinds() noexcept;
/// Throws error{invalid_argument} for a number that is no kind.
[[nodiscard]] const kind_row& row_of(filter_kind kind);

/// Holds a filter of any kind that files know, for those who do not care which. What a kind cannot
/// do is error{invalid_argument} that says which can; its row tells beforehand. All else is as the
/// kind itself has it. Move only. Concurrent const calls are safe as far as they are on the kind;
/// writers need it to themselves.
class any_filter : public detail::stored<any_filter> {
 public:
  using alternatives =
      std::variant<filter, growing_filter, counting_filter, cuckoo_filter, windowed_filter>;

  template <class Filter>
    requires std::constructible_from<alternatives, Filter>
  any_filter(Filter held) noexcept  // NOLINT(google-explicit-constructor)
      : held_(std::move(held)) {}

  /// An empty filter. Throws as the kind's constructor does, and error{invalid_argument} for what
  /// does not concern the kind.
  [[nodiscard]] static any_filter make(const filter_request& request) {
    return row_of(request.kind).make(request);
  }

  [[nodiscard]] filter_kind kind() const noexcept;
  [[nodiscard]] const kind_row& row() const noexcept;
  /// The filter itself; null when it is of another kind.
  template <class Filter>
  [[nodiscard]] Filter* get_if() noexcept {
    return std::get_if<Filter>(&held_);
  }
  template <class Filter>
  [[nodiscard]] const Filter* get_if() const noexcept {
    return std::get_if<Filter>(&held_);
  }

  [[nodiscard]] std::uint64_t seed() const noexcept;
  [[nodiscard]] key_hashing hashing() const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  [[nodiscard]] std::uint64_t inserted_keys() const noexcept;
  [[nodiscard]] key_families families() const noexcept;
  void accept_any_family(bool any) noexcept;

  /// One ready hash, which was made of a key of `family`; see the kinds.
  [[nodiscard]] bool may_contain_hash(std::uint64_t hash,
                                      key_family family = key_family::hashes) const;
  /// Throws error{full} when a cuckoo filter has no room.
  void insert_hash(std::uint64_t hash, key_family family = key_family::hashes);
  [[nodiscard]] bool insert_new_hash(std::uint64_t hash, key_family family = key_family::hashes);
  bool remove_hash(std::uint64_t hash, key_family family = key_family::hashes);

  std::uint64_t may_contain(const key_batch& keys, std::uint8_t* bitmap,
                            const bulk_options& options = {}) const;
  std::uint64_t may_contain(const key_columns& keys, const row_answers& out,
                            const bulk_options& options = {}) const;
  /// Throws error{full} when not all find room: a cuckoo filter has taken those before then.
  void insert(const key_batch& keys, const bulk_options& options = {});
  /// Returns how many rows are no nulls.
  std::uint64_t insert(const key_columns& keys, const bulk_options& options = {});
  std::uint64_t insert_new(const key_batch& keys, std::uint8_t* bitmap,
                           const bulk_options& options = {});
  std::uint64_t insert_new(const key_columns& keys, const row_answers& out,
                           const bulk_options& options = {});
  std::uint64_t remove(const key_batch& keys, std::uint8_t* bitmap,
                       const bulk_options& options = {});
  std::uint64_t remove(const key_columns& keys, const row_answers& out,
                       const bulk_options& options = {});
  /// Takes up the keys of `other`. Throws error{mismatch} for another kind or shape, and changes
  /// nothing then.
  void merge(const any_filter& other);
  void clear();

 private:
  friend class detail::stored<any_filter>;
  friend filter_facts facts_of(const any_filter& filter, reading how);
  [[nodiscard]] static any_filter decoded(filter_reader& from, const load_options& options);
  [[nodiscard]] encoded_filter encoded() const;

  alternatives held_;
};

[[nodiscard]] filter_facts facts_of(const any_filter& filter, reading how = reading::whole);

}  // namespace octobloom
