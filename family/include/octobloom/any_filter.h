#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <octobloom/counting_filter.h>
#include <octobloom/cuckoo_filter.h>
#include <octobloom/facts.h>
#include <octobloom/filter.h>
#include <octobloom/growing_filter.h>
#include <octobloom/windowed_filter.h>

namespace octobloom {

class any_filter;

/// A kind of filter that files hold: a row of the table of kinds.
struct kind_row {
  filter_kind kind;
  std::string_view name;  ///< "plain", "growing", ...
  bool tells_new;         ///< insert_new
  bool removes;           ///< takes keys back
  bool merges;            ///< takes up the keys of another one of its shape (windows: by time)
  bool grows;             ///< has no final size
  bool forgets;           ///< by itself, what is old
  any_filter (*decode)(filter_reader& from, const load_options& options);
};

/// All kinds, by their number in files.
[[nodiscard]] std::span<const kind_row> all_kinds() noexcept;
[[nodiscard]] const kind_row& row_of(filter_kind kind) noexcept;

/// Holds a filter of any kind that files know, for those who do not care which. What a kind cannot
/// do is error{invalid_argument} that says which can; its row tells beforehand. Everything else is
/// as the kind itself has it. Move only. Concurrent const calls are safe as far as they are on the
/// kind; writers need it to themselves.
class any_filter : public detail::stored<any_filter> {
 public:
  using alternatives =
      std::variant<filter, growing_filter, counting_filter, cuckoo_filter, windowed_filter>;

  template <class Filter>
    requires std::constructible_from<alternatives, Filter>
  any_filter(Filter held) noexcept  // NOLINT(google-explicit-constructor)
      : held_(std::move(held)) {}

  [[nodiscard]] filter_kind kind() const noexcept;
  [[nodiscard]] const kind_row& row() const noexcept { return row_of(kind()); }
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
  /// O(size), or less when a sample will do.
  [[nodiscard]] filter_facts facts(reading how = reading::whole) const;

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
  [[nodiscard]] static any_filter decoded(filter_reader& from, const load_options& options);
  [[nodiscard]] encoded_filter encoded() const;

  alternatives held_;
};

}  // namespace octobloom
