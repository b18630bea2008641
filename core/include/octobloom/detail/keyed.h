#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <octobloom/detail/open_filters.h>
#include <octobloom/engine.h>
#include <octobloom/filter_view.h>
#include <octobloom/key_column.h>
#include <octobloom/key_family.h>
#include <octobloom/keys.h>

/// The doors by which keys enter: every filter has them from here, and says behind them only what
/// it does with a hash and with a batch.
namespace octobloom::detail {

/// A single key: a number, or something that reads as a string.
template <class T>
concept single_key =
    numeric_key<std::remove_cvref_t<T>> || std::convertible_to<const T&, std::string_view>;

template <class R>
concept number_range = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                       numeric_key<std::ranges::range_value_t<R>> &&
                       !std::same_as<std::ranges::range_value_t<R>, bool>;

template <class R>
concept string_range = std::ranges::forward_range<R> && !std::convertible_to<R, std::string_view> &&
                       std::convertible_to<std::ranges::range_reference_t<R>, std::string_view>;

template <class R>
concept key_range = number_range<R> || string_range<R>;

template <single_key Key>
[[nodiscard]] std::uint64_t hash_of(const Key& key, std::uint64_t seed) noexcept {
  if constexpr (numeric_key<Key>) {
    return key_hash(key, seed);
  } else {
    return key_hash(std::string_view(key), seed);
  }
}

[[noreturn]] void refuse_keys();

/// Throws error{wrong_key} when a filter of this hashing takes ready hashes only and `kind` is
/// another.
inline void require_keys(key_hashing hashing, key_kind kind) {
  if (hashing == key_hashing::caller && kind != key_kind::hashes) [[unlikely]]
    refuse_keys();
}

/// Throws error{invalid_argument} when `bitmap` has less than one bit a key.
void require_bitmap(std::span<const std::uint8_t> bitmap, std::size_t keys);

/// Cuts a range of keys into batches and hands them to `consume(batch, first)`, `first` being a
/// multiple of 8. 64-bit integers go in place, in one batch; others are widened or copied in
/// pieces.
template <key_range R, class Consumer>
void for_each_batch(const R& keys, Consumer&& consume) {
  constexpr std::size_t piece = 8192;
  if constexpr (number_range<R>) {
    using value = std::ranges::range_value_t<R>;
    const value* data = std::ranges::data(keys);
    const auto count = static_cast<std::size_t>(std::ranges::size(keys));
    if constexpr (integer_key<value> && sizeof(value) == 8) {
      consume(key_batch::integers(std::span(reinterpret_cast<const std::uint64_t*>(data), count)),
              std::size_t{0});
    } else {
      auto widened = std::make_unique<std::uint64_t[]>(piece);
      for (std::size_t first = 0; first < count; first += piece) {
        const std::size_t size = std::min(piece, count - first);
        for (std::size_t i = 0; i < size; ++i) widened[i] = widen(data[first + i]);
        const std::span<const std::uint64_t> part(widened.get(), size);
        consume(integer_key<value> ? key_batch::integers(part) : key_batch::floats(part), first);
      }
    }
  } else {
    std::string bytes;
    auto offsets = std::make_unique<std::uint64_t[]>(piece + 1);
    std::size_t first = 0;
    std::size_t size = 0;
    offsets[0] = 0;
    const auto flush = [&] {
      consume(key_batch::strings({bytes.data(), offsets.get(), size}), first);
      first += size;
      size = 0;
      bytes.clear();
    };
    for (const auto& key : keys) {
      bytes.append(std::string_view(key));
      offsets[++size] = bytes.size();
      if (size == piece) flush();
    }
    if (size > 0) flush();
  }
}

/// Sums what `answer(batch, marks, options)` returns over the batches of `keys`, all in one call of
/// the engine; `marks` is where the batch's bits of `bitmap` begin.
template <key_range R, class Answer>
std::uint64_t sum_over_batches(const R& keys, std::uint8_t* bitmap, const bulk_options& options,
                               Answer&& answer) {
  return in_one_call(options, [&](const bulk_options& within) {
    std::uint64_t sum = 0;
    for_each_batch(keys, [&](const key_batch& batch, std::size_t first) {
      sum += answer(batch, bitmap == nullptr ? nullptr : bitmap + first / 8, within);
    });
    return sum;
  });
}
/// The same with room for every answer; throws error{invalid_argument} when it is too short.
template <key_range R, class Answer>
std::uint64_t sum_over_batches(const R& keys, std::span<std::uint8_t> bitmap,
                               const bulk_options& options, Answer&& answer) {
  require_bitmap(bitmap, static_cast<std::size_t>(std::ranges::distance(keys)));
  return sum_over_batches(keys, bitmap.data(), options, answer);
}

/// `Derived` has seed(), hashing() and, for friends, holds(hash) and probe(batch, bitmap, options):
/// what may_contain says of a hash and of a batch.
///
/// A question with keys of a family that was never inserted, strings of a filter of integers, is
/// error{wrong_key}: it would find false positives only. Not so when the filter is empty or its
/// families are not known. To go on all the same: accept_any_family(), or bulk_options::any_family.
template <class Derived>
class keyed_queries {
 public:
  /// Whether `key` may have been inserted. Never a false "no". O(1), one cache line; O(length) for
  /// strings. Throws error{wrong_key} on a filter that takes ready hashes only, and as above.
  template <single_key Key>
  [[nodiscard]] bool may_contain(const Key& key) const {
    require_keys(self().hashing(), key_kind::integers);
    require_family(family_of<Key>());
    return self().holds(hash_of(key, self().seed()));
  }

  /// The same for a ready 64-bit hash; `family` says what it was made of. O(1).
  [[nodiscard]] bool may_contain_hash(std::uint64_t hash,
                                      key_family family = key_family::hashes) const {
    require_family(family);
    return self().holds(hash);
  }

  /// One answer a key into `bitmap` (bitmap_bytes(keys.size()) bytes or more, its tail zeroed;
  /// null: count only). Returns how many may be contained. Runs on the engine of the options.
  std::uint64_t may_contain(const key_batch& keys, std::uint8_t* bitmap,
                            const bulk_options& options = {}) const {
    require_keys(self().hashing(), keys.kind());
    require_family(keys, options);
    return self().probe(keys, bitmap, options);
  }
  template <key_range Keys>
  std::uint64_t may_contain(const Keys& keys, std::span<std::uint8_t> bitmap,
                            const bulk_options& options = {}) const {
    return sum_over_batches(
        keys, bitmap, options,
        [&](const key_batch& batch, std::uint8_t* marks, const bulk_options& within) {
          return may_contain(batch, marks, within);
        });
  }

  /// The same of every row of a column or of composite keys; of nulls there is no answer. Returns
  /// how many rows may be contained. O(rows), in pieces; nothing is allocated for a row.
  std::uint64_t may_contain(const key_columns& keys, const row_answers& out,
                            const bulk_options& options = {}) const {
    if (keys.rows() > 0 && !options.any_family) require_family(octobloom::family_of(keys));
    return answer_rows(
        keys, self().seed(), self().hashing(), self().bytes(), null_rows::keep, out, options,
        [&](const key_batch& batch, std::uint8_t* bitmap, const bulk_options& within) {
          return self().probe(batch, bitmap, within);
        });
  }

  /// How many of the keys may be contained.
  template <key_range Keys>
  [[nodiscard]] std::uint64_t count_contained(const Keys& keys,
                                              const bulk_options& options = {}) const {
    return sum_over_batches(keys, nullptr, options,
                            [&](const key_batch& batch, std::uint8_t*, const bulk_options& within) {
                              return may_contain(batch, nullptr, within);
                            });
  }

  /// The families of the keys inserted so far; 0 when none was, or when it is not known: a file may
  /// not say it, and keys that come in without a word (through a view, say) make it so for good.
  /// Removing keys takes no family away.
  [[nodiscard]] key_families families() const noexcept { return families_.families(); }
  /// From now on questions of every family are answered; false takes it back.
  void accept_any_family(bool any) noexcept { families_.accept(any); }

 protected:
  void require_family(key_family family) const {
    if (families_.is_strange(family)) [[unlikely]]
      refuse_family(families(), family);
  }
  void require_family(const key_batch& keys, const bulk_options& options) const {
    if (keys.size() > 0 && !options.any_family) require_family(keys.family());
  }
  /// What the doors call before keys come in.
  void state_family(key_family family) noexcept { families_.state(family); }

  family_record families_;

 private:
  [[nodiscard]] const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }
};

/// `Derived` has seed(), hashing(), insert_hash(hash, family), insert_new_hash(hash, family), which
/// state the family, and, for friends, state_family(family), add(batch, options) and
/// add_new(batch, bitmap, options), which do not.
template <class Derived>
class keyed_inserts {
 public:
  /// One key. O(1), one cache line; O(length) for strings.
  template <single_key Key>
  void insert(const Key& key) {
    require_keys(self().hashing(), key_kind::integers);
    self().insert_hash(hash_of(key, self().seed()), family_of<Key>());
  }

  /// Inserts one key and tells whether it was absent: false for a repeat or a false positive.
  template <single_key Key>
  [[nodiscard]] bool insert_new(const Key& key) {
    require_keys(self().hashing(), key_kind::integers);
    return self().insert_new_hash(hash_of(key, self().seed()), family_of<Key>());
  }

  /// Many keys, on the engine of the options.
  void insert(const key_batch& keys, const bulk_options& options = {}) {
    require_keys(self().hashing(), keys.kind());
    if (keys.size() > 0) self().state_family(keys.family());
    self().add(keys, options);
  }
  template <key_range Keys>
  void insert(const Keys& keys, const bulk_options& options = {}) {
    sum_over_batches(keys, nullptr, options,
                     [&](const key_batch& batch, std::uint8_t*, const bulk_options& within) {
                       insert(batch, within);
                       return batch.size();
                     });
  }

  /// Every row of a column, or of composite keys, that is no null. Returns how many those are.
  std::uint64_t insert(const key_columns& keys, const bulk_options& options = {}) {
    return take_rows(keys, {}, options,
                     [&](const key_batch& batch, std::uint8_t*, const bulk_options& within) {
                       self().add(batch, within);
                       return batch.size();
                     });
  }

  /// Tells for each key, in order, whether it was absent, and inserts it: bit i of `bitmap` (null:
  /// count only) is set for new keys. Returns how many were new.
  std::uint64_t insert_new(const key_batch& keys, std::uint8_t* bitmap,
                           const bulk_options& options = {}) {
    require_keys(self().hashing(), keys.kind());
    if (keys.size() > 0) self().state_family(keys.family());
    return self().add_new(keys, bitmap, options);
  }
  template <key_range Keys>
  std::uint64_t insert_new(const Keys& keys, std::span<std::uint8_t> bitmap,
                           const bulk_options& options = {}) {
    return sum_over_batches(
        keys, bitmap, options,
        [&](const key_batch& batch, std::uint8_t* marks, const bulk_options& within) {
          return insert_new(batch, marks, within);
        });
  }
  /// The same of every row of a column, or of composite keys; nulls are left out.
  std::uint64_t insert_new(const key_columns& keys, const row_answers& out,
                           const bulk_options& options = {}) {
    return take_rows(keys, out, options,
                     [&](const key_batch& batch, std::uint8_t* bitmap, const bulk_options& within) {
                       return self().add_new(batch, bitmap, within);
                     });
  }

 private:
  std::uint64_t take_rows(const key_columns& keys, const row_answers& out,
                          const bulk_options& options, const batch_call& take) {
    return answer_rows(
        keys, self().seed(), self().hashing(), self().bytes(), null_rows::drop, out, options,
        [&](const key_batch& batch, std::uint8_t* bitmap, const bulk_options& within) {
          self().state_family(batch.family());
          return take(batch, bitmap, within);
        });
  }
  [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

/// `Derived` has seed(), hashing(), remove_hash(hash, family), which asks for the family, and, for
/// friends, require_family(batch, options) and take_out(batch, bitmap, options), which does not.
/// Keys of a family that was never inserted are error{wrong_key}, as in questions.
template <class Derived>
class keyed_removes {
 public:
  /// Takes back one insertion of the key; false, and nothing changes, when it is not in. O(1).
  template <single_key Key>
  bool remove(const Key& key) {
    require_keys(self().hashing(), key_kind::integers);
    return self().remove_hash(hash_of(key, self().seed()), family_of<Key>());
  }

  /// Takes back one insertion of each key, in order: bit i of `bitmap` (null: count only) is set
  /// when key i was in. Returns how many were.
  std::uint64_t remove(const key_batch& keys, std::uint8_t* bitmap,
                       const bulk_options& options = {}) {
    require_keys(self().hashing(), keys.kind());
    self().require_family(keys, options);
    return self().take_out(keys, bitmap, options);
  }
  template <key_range Keys>
  std::uint64_t remove(const Keys& keys, std::span<std::uint8_t> bitmap,
                       const bulk_options& options = {}) {
    return sum_over_batches(
        keys, bitmap, options,
        [&](const key_batch& batch, std::uint8_t* marks, const bulk_options& within) {
          return remove(batch, marks, within);
        });
  }
  /// The same of every row of a column, or of composite keys; nulls are left out.
  std::uint64_t remove(const key_columns& keys, const row_answers& out,
                       const bulk_options& options = {}) {
    return answer_rows(
        keys, self().seed(), self().hashing(), self().bytes(), null_rows::drop, out, options,
        [&](const key_batch& batch, std::uint8_t* bitmap, const bulk_options& within) {
          self().require_family(batch, within);
          return self().take_out(batch, bitmap, within);
        });
  }

 private:
  [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

}  // namespace octobloom::detail
