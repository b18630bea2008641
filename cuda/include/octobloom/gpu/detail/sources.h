#pragma once

#include <cstdint>

#include <octobloom/detail/host_device.h>
#include <octobloom/gpu/detail/lanes.h>
#include <octobloom/hash.h>

/// Where kernels get the hashes of their keys from: hash(i) is that of key i, from(n) the source
/// that begins n keys later.
namespace octobloom::gpu::detail {

template <class T>
struct integer_source {
  const T* values;
  std::uint64_t start;  ///< octobloom::detail::integer_start(seed)
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE std::uint64_t hash(std::uint64_t i) const noexcept {
    return octobloom::detail::hash_integer_from(start, widen(values[i]));
  }
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE integer_source from(std::uint64_t n) const noexcept {
    return {opaque(values + n), start};
  }
};

struct hash_source {
  const std::uint64_t* values;
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE std::uint64_t hash(std::uint64_t i) const noexcept {
    return values[i];
  }
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE hash_source from(std::uint64_t n) const noexcept {
    return {opaque(values + n)};
  }
};

struct string_source {
  const char* bytes;
  const std::uint64_t* offsets;
  std::uint64_t separator;
  std::uint64_t seed;
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE std::uint64_t hash(std::uint64_t i) const noexcept {
    const std::uint64_t begin = offsets[i];
    return xxh64(bytes + begin, offsets[i + 1] - begin - separator, seed);
  }
  [[nodiscard]] OCTOBLOOM_HOST_DEVICE string_source from(std::uint64_t n) const noexcept {
    return {bytes, opaque(offsets + n), separator, seed};
  }
};

}  // namespace octobloom::gpu::detail
