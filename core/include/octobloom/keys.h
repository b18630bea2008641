#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <octobloom/hash.h>
#include <octobloom/key_family.h>

namespace octobloom {

/// Many strings in one piece of memory, as columnar formats hold them: string i is the bytes from
/// offsets[i] to offsets[i + 1] - separator. `separator` is the number of bytes between neighbours
/// that belong to neither: 0 for columns, 1 for the lines of a text (the last one's newline
/// included). No string may have a length below 0, see first_invalid().
struct string_keys {
  const char* bytes = nullptr;
  const std::uint64_t* offsets = nullptr;  ///< count + 1 of them, ascending
  std::size_t count = 0;
  std::uint64_t separator = 0;

  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    return {bytes + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i] - separator)};
  }

  /// The first string that has no length, since its offsets descend or leave no room for the
  /// separator; `count` when all have one. Bulk operations take that for granted: ask where offsets
  /// come from elsewhere, as the C functions do. O(count), some tenths of a nanosecond a string.
  [[nodiscard]] std::size_t first_invalid() const noexcept;
};

enum class key_kind : std::uint8_t {
  integers,  ///< 64-bit values, hashed as eight bytes
  hashes,    ///< 64-bit values that are hashes already, used as they are
  strings,   ///< bytes
};

/// A view of many keys of one kind: what every bulk operation of every engine takes. Trivially
/// copyable; the caller keeps the memory alive during the call.
class key_batch {
 public:
  static key_batch integers(std::span<const std::uint64_t> values) noexcept {
    return {key_kind::integers, key_family::integers, values};
  }
  /// Signed keys are their two's complement.
  static key_batch integers(std::span<const std::int64_t> values) noexcept {
    return {key_kind::integers,
            key_family::integers,
            {reinterpret_cast<const std::uint64_t*>(values.data()), values.size()}};
  }
  /// Floating-point keys, as what widen() makes of them.
  static key_batch floats(std::span<const std::uint64_t> widened) noexcept {
    return {key_kind::integers, key_family::floats, widened};
  }
  /// Ready hashes; `family` says what they were made of, when that is known.
  static key_batch hashes(std::span<const std::uint64_t> values,
                          key_family family = key_family::hashes) noexcept {
    return {key_kind::hashes, family, values};
  }
  static key_batch strings(const string_keys& keys) noexcept { return key_batch(keys); }

  [[nodiscard]] key_kind kind() const noexcept { return kind_; }
  /// What the keys were before they became 64 bits.
  [[nodiscard]] key_family family() const noexcept { return family_; }
  [[nodiscard]] std::size_t size() const noexcept { return strings_.count; }

  /// The values of kinds `integers` and `hashes`.
  [[nodiscard]] const std::uint64_t* values() const noexcept { return values_; }
  /// The strings of kind `strings`.
  [[nodiscard]] const string_keys& as_strings() const noexcept { return strings_; }

  /// The hash of key i under `seed`. O(1) for values, O(length) for strings.
  [[nodiscard]] std::uint64_t hash(std::size_t i, std::uint64_t seed) const noexcept {
    switch (kind_) {
      case key_kind::hashes:
        return values_[i];
      case key_kind::integers:
        return hash_integer(values_[i], seed);
      case key_kind::strings:
        break;
    }
    return key_hash(strings_[i], seed);
  }

  /// The same keys, said to have been of `family`.
  [[nodiscard]] key_batch of(key_family family) const noexcept {
    key_batch renamed = *this;
    renamed.family_ = family;
    return renamed;
  }

  /// Keys first to first + count - 1.
  [[nodiscard]] key_batch slice(std::size_t first, std::size_t count) const noexcept {
    key_batch part = *this;
    if (kind_ == key_kind::strings) {
      part.strings_.offsets += first;
    } else {
      part.values_ += first;
    }
    part.strings_.count = count;
    return part;
  }

 private:
  key_batch(key_kind kind, key_family family, std::span<const std::uint64_t> values) noexcept
      : kind_(kind), family_(family), values_(values.data()) {
    strings_.count = values.size();
  }
  explicit key_batch(const string_keys& keys) noexcept
      : kind_(key_kind::strings), family_(key_family::strings), strings_(keys) {}

  key_kind kind_;
  key_family family_;
  const std::uint64_t* values_ = nullptr;
  string_keys strings_;
};

}  // namespace octobloom
