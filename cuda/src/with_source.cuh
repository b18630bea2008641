#pragma once

#include <cstdint>

#include <octobloom/gpu/detail/lanes.h>
#include <octobloom/gpu/detail/sources.h>
#include <octobloom/gpu/keys.h>

namespace octobloom::gpu::detail {

/// Calls f with the source that belongs to the keys' type.
template <class F>
auto with_source(const keys& batch, std::uint64_t seed, F f) {
  const std::uint64_t start = octobloom::detail::integer_start(seed);
  switch (batch.type()) {
    case key_type::uint32:
      return f(
          integer_source<std::uint32_t>{static_cast<const std::uint32_t*>(batch.data()), start});
    case key_type::int32:
      return f(integer_source<std::int32_t>{static_cast<const std::int32_t*>(batch.data()), start});
    case key_type::hashes:
      return f(hash_source{static_cast<const std::uint64_t*>(batch.data())});
    case key_type::strings:
      return f(string_source{batch.bytes(), static_cast<const std::uint64_t*>(batch.data()),
                             batch.separator(), seed});
    case key_type::uint64:
      break;
  }
  return f(integer_source<std::uint64_t>{static_cast<const std::uint64_t*>(batch.data()), start});
}

}  // namespace octobloom::gpu::detail
