#pragma once

#include <cstddef>
#include <cstdint>

#include <octobloom/keys.h>

namespace octobloom::gpu {

enum class key_type : std::uint8_t {
  uint64,   ///< 64-bit integers, signed or not
  uint32,   ///< 32-bit integers
  int32,    ///< 32-bit integers, sign-extended
  hashes,   ///< 64-bit hashes, used as they are
  strings,  ///< offsets and bytes
};

/// Many keys in device memory: what octobloom::key_batch is on a host. Trivially copyable; the
/// caller keeps the memory alive until the stream has passed the call. At most 2^38 keys.
class keys {
 public:
  static keys integers(const std::uint64_t* values, std::size_t count) noexcept {
    return {key_type::uint64, values, count};
  }
  static keys integers(const std::int64_t* values, std::size_t count) noexcept {
    return {key_type::uint64, values, count};
  }
  static keys integers(const std::uint32_t* values, std::size_t count) noexcept {
    return {key_type::uint32, values, count};
  }
  static keys integers(const std::int32_t* values, std::size_t count) noexcept {
    return {key_type::int32, values, count};
  }
  static keys hashes(const std::uint64_t* values, std::size_t count) noexcept {
    return {key_type::hashes, values, count};
  }
  /// The same keys, said to have been of `family`: hashes of strings, integers that are the bits of
  /// doubles.
  [[nodiscard]] keys of(key_family family) const noexcept {
    keys renamed = *this;
    renamed.family_ = family;
    return renamed;
  }
  /// `bytes` and `offsets` of `keys` are device memory.
  static keys strings(const string_keys& keys) noexcept {
    gpu::keys batch(key_type::strings, keys.offsets, keys.count);
    batch.bytes_ = keys.bytes;
    batch.separator_ = keys.separator;
    return batch;
  }

  /// Bytes of a value, or of an offset.
  [[nodiscard]] std::size_t width() const noexcept {
    return type_ == key_type::uint32 || type_ == key_type::int32 ? 4 : 8;
  }
  /// Keys first to first + count - 1.
  [[nodiscard]] keys slice(std::size_t first, std::size_t count) const noexcept {
    keys part = *this;
    part.data_ = static_cast<const std::byte*>(data_) + first * width();
    part.count_ = count;
    return part;
  }
  [[nodiscard]] keys from(std::size_t first) const noexcept { return slice(first, count_ - first); }

  [[nodiscard]] key_type type() const noexcept { return type_; }
  /// What the keys were before they became 64 bits.
  [[nodiscard]] key_family family() const noexcept { return family_; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  /// The values of the integer types and `hashes`; the offsets of `strings`.
  [[nodiscard]] const void* data() const noexcept { return data_; }
  [[nodiscard]] const char* bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t separator() const noexcept { return separator_; }

 private:
  keys(key_type type, const void* data, std::size_t count) noexcept
      : type_(type), family_(family_of(type)), data_(data), count_(count) {}

  static key_family family_of(key_type type) noexcept {
    if (type == key_type::strings) return key_family::strings;
    return type == key_type::hashes ? key_family::hashes : key_family::integers;
  }

  key_type type_;
  key_family family_;
  const void* data_;
  std::size_t count_;
  const char* bytes_ = nullptr;
  std::uint64_t separator_ = 0;
};

}  // namespace octobloom::gpu
