#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include <octobloom/detail/host_device.h>

/// From key to hash. Everything here is a pure function, safe from any thread, and the same on
/// every machine. Source of the hash: the xxHash specification, "XXH64 algorithm".
namespace octobloom {

namespace detail {

inline constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87u;
inline constexpr std::uint64_t prime2 = 0xC2B2AE3D27D4EB4Fu;
inline constexpr std::uint64_t prime3 = 0x165667B19E3779F9u;
inline constexpr std::uint64_t prime4 = 0x85EBCA77C2B2AE63u;
inline constexpr std::uint64_t prime5 = 0x27D4EB2F165667C5u;

OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t rotate_left(std::uint64_t x, int r) noexcept {
#if defined(__CUDA_ARCH__)
  // Funnel shifts: a device's compiler would take a product and its rotation apart into two
  // products.
  if (!__builtin_is_constant_evaluated()) {
    const auto low = static_cast<std::uint32_t>(r < 32 ? x : x >> 32);
    const auto high = static_cast<std::uint32_t>(r < 32 ? x >> 32 : x);
    return std::uint64_t{__funnelshift_l(low, high, static_cast<unsigned>(r))} << 32 |
           __funnelshift_l(high, low, static_cast<unsigned>(r));
  }
#endif
  return (x << r) | (x >> (64 - r));
}

OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t xxh64_round(std::uint64_t accumulator,
                                                          std::uint64_t lane) noexcept {
  return rotate_left(accumulator + lane * prime2, 31) * prime1;
}

OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t xxh64_avalanche(std::uint64_t h) noexcept {
  h ^= h >> 33;
  h *= prime2;
  h ^= h >> 29;
  h *= prime3;
  return h ^ (h >> 32);
}

OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t xxh64_merge8(std::uint64_t h,
                                                           std::uint64_t lane) noexcept {
  return rotate_left(h ^ xxh64_round(0, lane), 27) * prime1 + prime4;
}

template <class Byte>
OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t load_byte(const Byte* p) noexcept {
  return static_cast<unsigned char>(*p);
}

template <class Byte>
OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t load_le32(const Byte* p) noexcept {
  return load_byte(p) | load_byte(p + 1) << 8 | load_byte(p + 2) << 16 | load_byte(p + 3) << 24;
}

template <class Byte>
OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t load_le64(const Byte* p) noexcept {
  return load_byte(p) | load_byte(p + 1) << 8 | load_byte(p + 2) << 16 | load_byte(p + 3) << 24 |
         load_byte(p + 4) << 32 | load_byte(p + 5) << 40 | load_byte(p + 6) << 48 |
         load_byte(p + 7) << 56;
}

/// The four running lanes of XXH64 for inputs of 32 bytes and more.
struct xxh64_lanes {
  std::uint64_t a, b, c, d;

  OCTOBLOOM_HOST_DEVICE explicit constexpr xxh64_lanes(std::uint64_t seed) noexcept
      : a(seed + prime1 + prime2), b(seed + prime2), c(seed), d(seed - prime1) {}

  OCTOBLOOM_HOST_DEVICE constexpr void add(std::uint64_t w, std::uint64_t x, std::uint64_t y,
                                           std::uint64_t z) noexcept {
    a = xxh64_round(a, w);
    b = xxh64_round(b, x);
    c = xxh64_round(c, y);
    d = xxh64_round(d, z);
  }

  [[nodiscard]] OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t merged() const noexcept {
    std::uint64_t h =
        rotate_left(a, 1) + rotate_left(b, 7) + rotate_left(c, 12) + rotate_left(d, 18);
    h = (h ^ xxh64_round(0, a)) * prime1 + prime4;
    h = (h ^ xxh64_round(0, b)) * prime1 + prime4;
    h = (h ^ xxh64_round(0, c)) * prime1 + prime4;
    return (h ^ xxh64_round(0, d)) * prime1 + prime4;
  }
};

}  // namespace detail

/// XXH64 of `size` bytes at `data`. `Byte` is any one-byte type. O(size).
template <class Byte>
  requires(sizeof(Byte) == 1)
OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t xxh64(const Byte* data, std::size_t size,
                                                    std::uint64_t seed = 0) noexcept {
  const Byte* p = data;
  std::size_t left = size;
  std::uint64_t h = seed + detail::prime5;
  if (left >= 32) {
    detail::xxh64_lanes lanes(seed);
    for (; left >= 32; left -= 32, p += 32) {
      lanes.add(detail::load_le64(p), detail::load_le64(p + 8), detail::load_le64(p + 16),
                detail::load_le64(p + 24));
    }
    h = lanes.merged();
  }
  h += static_cast<std::uint64_t>(size);
  for (; left >= 8; left -= 8, p += 8) h = detail::xxh64_merge8(h, detail::load_le64(p));
  if (left >= 4) {
    h ^= detail::load_le32(p) * detail::prime1;
    h = detail::rotate_left(h, 23) * detail::prime2 + detail::prime3;
    left -= 4;
    p += 4;
  }
  for (; left > 0; --left, ++p) {
    h ^= detail::load_byte(p) * detail::prime5;
    h = detail::rotate_left(h, 11) * detail::prime1;
  }
  return detail::xxh64_avalanche(h);
}

/// XXH64 of bytes that come in pieces of whole 32 bytes.
class xxh64_stream {
 public:
  explicit constexpr xxh64_stream(std::uint64_t seed = 0) noexcept : seed_(seed), lanes_(seed) {}

  /// `size` is a multiple of 32. O(size).
  template <class Byte>
    requires(sizeof(Byte) == 1)
  constexpr void add(const Byte* data, std::size_t size) noexcept {
    size_ += size;
    for (; size > 0; size -= 32, data += 32) {
      lanes_.add(detail::load_le64(data), detail::load_le64(data + 8), detail::load_le64(data + 16),
                 detail::load_le64(data + 24));
    }
  }
  /// The hash of everything so far.
  [[nodiscard]] constexpr std::uint64_t digest() const noexcept {
    return detail::xxh64_avalanche((size_ == 0 ? seed_ + detail::prime5 : lanes_.merged()) + size_);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t size_ = 0;
  detail::xxh64_lanes lanes_;
};

namespace detail {

/// What hash_integer adds up before it sees the value: for those who hash many under one seed.
OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t integer_start(std::uint64_t seed) noexcept {
  return seed + prime5 + 8;
}
OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t hash_integer_from(std::uint64_t start,
                                                                std::uint64_t value) noexcept {
  return xxh64_avalanche(xxh64_merge8(start, value));
}

}  // namespace detail

/// XXH64 of the eight little-endian bytes of `value`: the hash of an integer key that was widened
/// to 64 bits.
OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t hash_integer(std::uint64_t value,
                                                           std::uint64_t seed = 0) noexcept {
  return detail::hash_integer_from(detail::integer_start(seed), value);
}

/// XXH64 over hashes of columns, each as eight little-endian bytes: the hash of a composite key.
/// O(hashes.size()).
constexpr std::uint64_t combine_hashes(std::span<const std::uint64_t> hashes,
                                       std::uint64_t seed = 0) noexcept {
  std::size_t i = 0;
  std::uint64_t h = seed + detail::prime5;
  if (hashes.size() >= 4) {
    detail::xxh64_lanes lanes(seed);
    for (; i + 4 <= hashes.size(); i += 4) {
      lanes.add(hashes[i], hashes[i + 1], hashes[i + 2], hashes[i + 3]);
    }
    h = lanes.merged();
  }
  h += 8 * static_cast<std::uint64_t>(hashes.size());
  for (; i < hashes.size(); ++i) h = detail::xxh64_merge8(h, hashes[i]);
  return detail::xxh64_avalanche(h);
}

/// What a null column counts as inside a composite key ("null" twice in ASCII). A null that is a
/// whole key is never inserted.
inline constexpr std::uint64_t null_column_hash = 0x6E756C6C6E756C6Cu;

/// Integer keys: every width and sign, and bool. Plain `char` and the character types are left out:
/// whether `char` is signed depends on the machine, so cast to an integer first.
template <class T>
concept integer_key =
    std::integral<T> && sizeof(T) <= 8 && !std::same_as<std::remove_cv_t<T>, char> &&
    !std::same_as<std::remove_cv_t<T>, wchar_t> && !std::same_as<std::remove_cv_t<T>, char8_t> &&
    !std::same_as<std::remove_cv_t<T>, char16_t> && !std::same_as<std::remove_cv_t<T>, char32_t>;

/// Floating-point keys. `long double` is left out: its values do not fit binary64.
template <class T>
concept float_key =
    std::same_as<std::remove_cv_t<T>, float> || std::same_as<std::remove_cv_t<T>, double>;

/// The 64-bit value that is hashed for an integer key: two's complement, widened. int32_t{5} and
/// uint64_t{5} are one key; -1 is 2^64 - 1.
template <integer_key T>
OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t widen(T key) noexcept {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(key));
  } else {
    return static_cast<std::uint64_t>(key);
  }
}

/// The 64-bit value that is hashed for a floating-point key: its binary64 pattern, with one zero
/// and one NaN.
template <float_key T>
OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t widen(T key) noexcept {
  const double d = static_cast<double>(key);
  if (d != d) return 0x7FF8000000000000u;
  return __builtin_bit_cast(std::uint64_t, d + 0.0);  // std::bit_cast is for the host only
}

template <class T>
concept numeric_key = integer_key<T> || float_key<T>;

template <numeric_key T>
OCTOBLOOM_HOST_DEVICE constexpr std::uint64_t key_hash(T key, std::uint64_t seed = 0) noexcept {
  return hash_integer(widen(key), seed);
}

/// Strings and binary: their bytes, without terminator or normalising (NFC and NFD spellings are
/// two keys).
constexpr std::uint64_t key_hash(std::string_view key, std::uint64_t seed = 0) noexcept {
  return xxh64(key.data(), key.size(), seed);
}
inline std::uint64_t key_hash(std::span<const std::byte> key, std::uint64_t seed = 0) noexcept {
  return xxh64(key.data(), key.size(), seed);
}

/// Decimal128 by its unscaled value, low and high half: the integer rule when the value fits a
/// signed 64-bit integer, otherwise its 16 bytes little-endian.
constexpr std::uint64_t key_hash_decimal128(std::uint64_t low, std::int64_t high,
                                            std::uint64_t seed = 0) noexcept {
  const bool fits = high == (static_cast<std::int64_t>(low) < 0 ? -1 : 0);
  if (fits) return hash_integer(low, seed);
  const std::array<std::uint64_t, 2> halves{low, static_cast<std::uint64_t>(high)};
  return combine_hashes(halves, seed);
}

namespace detail {

template <class T>
constexpr std::uint64_t column_hash(const T& column, std::uint64_t seed) noexcept {
  if constexpr (std::same_as<T, std::nullopt_t> || std::same_as<T, std::nullptr_t>) {
    return null_column_hash;
  } else if constexpr (requires {
                         column.has_value();
                         *column;
                       }) {
    return column ? key_hash(*column, seed) : null_column_hash;
  } else {
    return key_hash(column, seed);
  }
}

}  // namespace detail

/// The hash of a composite key. Each column is a numeric or string key, a std::optional of one, or
/// std::nullopt; ("a", "bc") and ("ab", "c") are two keys.
template <class... Columns>
  requires(sizeof...(Columns) > 0)
constexpr std::uint64_t composite_key_hash(std::uint64_t seed, const Columns&... columns) noexcept {
  const std::array<std::uint64_t, sizeof...(Columns)> hashes{detail::column_hash(columns, seed)...};
  return combine_hashes(hashes, seed);
}

}  // namespace octobloom
