#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <octobloom/engine.h>
#include <octobloom/error.h>
#include <octobloom/file.h>
#include <octobloom/filter_view.h>
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

/// Cuts a range of keys into batches and hands them to `consume(batch, first)`, `first` being a
/// multiple of 8. 64-bit integers go in place, in one batch; others are widened or copied in
/// pieces.
template <key_range R, class Consumer>
void for_each_batch(const R& keys, Consumer&& consume);

}  // namespace detail

/// Questions that every filter answers, whatever holds its bits. `Derived` has view(),
/// inserted_keys(), planned_keys() and target_fpr().
template <class Derived>
class filter_queries {
 public:
  /// Whether `key` may have been inserted. Never a false "no". O(1), one cache line; O(length) for
  /// strings. Throws error{wrong_key} on a filter that takes ready hashes only.
  template <detail::single_key Key>
  [[nodiscard]] bool may_contain(const Key& key) const {
    require_hashing();
    return self().view().may_contain_hash(hash_of(key));
  }

  /// The same for a ready 64-bit hash.
  [[nodiscard]] bool may_contain_hash(std::uint64_t hash) const noexcept {
    return self().view().may_contain_hash(hash);
  }

  /// One answer a key into `bitmap` (bitmap_bytes(keys.size()) bytes or more, its tail zeroed;
  /// null: count only). Returns how many may be contained. Runs on the default engine.
  std::uint64_t may_contain(const key_batch& keys, std::uint8_t* bitmap,
                            const bulk_options& options = {}) const {
    require_keys(keys.kind());
    return default_engine().may_contain(self().view(), keys, bitmap, options);
  }
  template <detail::key_range Keys>
  std::uint64_t may_contain(const Keys& keys, std::span<std::uint8_t> bitmap,
                            const bulk_options& options = {}) const {
    require_bitmap(bitmap, std::ranges::distance(keys));
    std::uint64_t found = 0;
    detail::for_each_batch(keys, [&](const key_batch& batch, std::size_t first) {
      found += may_contain(batch, bitmap.data() + first / 8, options);
    });
    return found;
  }

  /// How many of the keys may be contained.
  template <detail::key_range Keys>
  [[nodiscard]] std::uint64_t count_contained(const Keys& keys,
                                              const bulk_options& options = {}) const {
    std::uint64_t found = 0;
    detail::for_each_batch(keys, [&](const key_batch& batch, std::size_t) {
      found += may_contain(batch, nullptr, options);
    });
    return found;
  }

  [[nodiscard]] std::uint32_t blocks() const noexcept { return self().view().blocks(); }
  [[nodiscard]] std::uint32_t k() const noexcept { return self().view().k(); }
  [[nodiscard]] std::uint64_t seed() const noexcept { return self().view().seed(); }
  [[nodiscard]] key_hashing hashing() const noexcept { return self().view().shape().hashing; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return self().view().shape().bytes(); }

  /// Each of these reads the whole filter; ask statistics() once when several are wanted.
  [[nodiscard]] filter_statistics statistics() const noexcept {
    return statistics_of(self().view());
  }
  [[nodiscard]] double fill_ratio() const noexcept { return statistics().fill; }
  [[nodiscard]] std::optional<double> estimated_keys() const noexcept {
    return statistics().estimated_keys;
  }
  [[nodiscard]] double current_fpr() const noexcept { return statistics().current_fpr; }
  [[nodiscard]] saturation verdict() const noexcept {
    return judge(statistics(), self().inserted_keys(), self().planned_keys(), self().target_fpr());
  }

 protected:
  template <class Key>
  [[nodiscard]] std::uint64_t hash_of(const Key& key) const noexcept {
    if constexpr (numeric_key<Key>) {
      return key_hash(key, seed());
    } else {
      return key_hash(std::string_view(key), seed());
    }
  }
  void require_hashing() const {
    if (hashing() == key_hashing::caller) throw_wrong_key();
  }
  void require_keys(key_kind kind) const {
    if (kind != key_kind::hashes) require_hashing();
  }
  static void require_bitmap(std::span<const std::uint8_t> bitmap, std::ptrdiff_t keys) {
    if (bitmap.size() < bitmap_bytes(static_cast<std::size_t>(keys))) throw_short_bitmap();
  }

 private:
  [[nodiscard]] const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }
  [[noreturn]] static void throw_wrong_key() {
    throw error(error_code::wrong_key,
                "this filter holds the caller's own hashes: give it 64-bit hashes, not keys");
  }
  [[noreturn]] static void throw_short_bitmap() {
    throw error(error_code::invalid_argument,
                "the bitmap is too short: it needs one bit a key, in whole bytes");
  }
};

/// A Bloom filter that owns its memory: zeroed, 64-byte aligned, on huge pages from 2 MiB. Move
/// only (copy() says so when gigabytes are copied); a moved-from filter may only be assigned or
/// destroyed. Concurrent const calls are safe; writers need the filter to themselves.
class filter : public filter_queries<filter> {
 public:
  /// An empty filter of the planned size. Throws error{out_of_memory} before it allocates when the
  /// size is above the memory of the machine or of its control group.
  explicit filter(const plan& plan, const filter_options& options = {});

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

  /// Reads a filter file. Throws error{io}, error{bad_file} or error{out_of_memory}; the size is
  /// checked against the file and the machine before anything is allocated.
  [[nodiscard]] static filter load(const std::string& path, const load_options& options = {});

  /// Writes a filter file: a temporary file beside `path`, synced, then renamed over it. A crash or
  /// an error leaves the old file or the new one. Throws error{io}.
  void save(const std::string& path) const;

  filter(filter&&) noexcept = default;
  filter& operator=(filter&&) noexcept = default;
  [[nodiscard]] filter copy() const;

  /// One key. O(1), one cache line; O(length) for strings.
  template <detail::single_key Key>
  void insert(const Key& key) {
    require_hashing();
    insert_hash(hash_of(key));
  }
  void insert_hash(std::uint64_t hash) noexcept {
    view().insert_hash(hash);
    count_inserted(1);
  }

  /// Inserts one key and tells whether it was absent: false for a repeat or a false positive.
  template <detail::single_key Key>
  [[nodiscard]] bool insert_new(const Key& key) {
    require_hashing();
    return insert_new_hash(hash_of(key));
  }
  [[nodiscard]] bool insert_new_hash(std::uint64_t hash) noexcept {
    const bool is_new = view().insert_new_hash(hash);
    count_inserted(is_new ? 1 : 0);
    return is_new;
  }

  /// Many keys, on the default engine.
  void insert(const key_batch& keys, const bulk_options& options = {}) {
    require_keys(keys.kind());
    default_engine().insert(view(), keys, options);
    count_inserted(keys.size());
  }
  template <detail::key_range Keys>
  void insert(const Keys& keys, const bulk_options& options = {}) {
    detail::for_each_batch(keys,
                           [&](const key_batch& batch, std::size_t) { insert(batch, options); });
  }

  /// Tells for each key, in order, whether it was absent, and inserts it: bit i of `bitmap` (null:
  /// count only) is set for new keys. Returns how many were new.
  std::uint64_t insert_new(const key_batch& keys, std::uint8_t* bitmap,
                           const bulk_options& options = {}) {
    require_keys(keys.kind());
    const std::uint64_t fresh = default_engine().insert_new(view(), keys, bitmap, options);
    count_inserted(fresh);
    return fresh;
  }
  template <detail::key_range Keys>
  std::uint64_t insert_new(const Keys& keys, std::span<std::uint8_t> bitmap,
                           const bulk_options& options = {}) {
    require_bitmap(bitmap, std::ranges::distance(keys));
    std::uint64_t fresh = 0;
    detail::for_each_batch(keys, [&](const key_batch& batch, std::size_t first) {
      fresh += insert_new(batch, bitmap.data() + first / 8, options);
    });
    return fresh;
  }

  /// Adds the keys of `other`; its planned keys and target rate stay this filter's. O(blocks).
  /// Throws error{mismatch} when block count, k, seed or hash differ, and changes nothing then.
  template <class Other>
  void merge(const filter_queries<Other>& other) {
    const auto& source = static_cast<const Other&>(other);
    merge(source.view(), source.inserted_keys());
  }
  void merge(const const_filter_view& other, std::uint64_t inserted_keys);

  /// Forgets every key; size, plan and seed stay.
  void clear() noexcept;

  [[nodiscard]] filter_view view() noexcept { return {storage_.words(), shape_}; }
  [[nodiscard]] const_filter_view view() const noexcept { return {storage_.words(), shape_}; }

  /// Calls so far, not distinct keys: `insert` counts every key, `insert_new` those it told new, a
  /// merge the sum. Saturates at 2^64 - 1.
  [[nodiscard]] std::uint64_t inserted_keys() const noexcept { return inserted_keys_; }
  [[nodiscard]] std::uint64_t planned_keys() const noexcept { return planned_keys_; }
  [[nodiscard]] double target_fpr() const noexcept { return target_fpr_; }

  /// For those who write through view() with an engine of their choice: adds to inserted_keys().
  void count_inserted(std::uint64_t keys) noexcept {
    inserted_keys_ = keys > UINT64_MAX - inserted_keys_ ? UINT64_MAX : inserted_keys_ + keys;
  }

 private:
  filter(const filter_shape& shape, std::uint64_t planned_keys, double target_fpr);

  filter_shape shape_;
  std::uint64_t inserted_keys_ = 0;
  std::uint64_t planned_keys_ = 0;
  double target_fpr_ = 0;
  storage storage_;
};

namespace detail {

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
        consume(key_batch::integers(std::span<const std::uint64_t>(widened.get(), size)), first);
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

}  // namespace detail

}  // namespace octobloom
