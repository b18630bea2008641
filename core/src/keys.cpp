#include <octobloom/keys.h>

#include <algorithm>

namespace octobloom {

std::size_t string_keys::first_invalid() const noexcept {
  // In a group whose lengths are below 2^48, if only modulo 2^64, offsets ascend when the last is
  // not before the first: this much is cheap. Any others are looked at one by one.
  constexpr std::size_t group = 4096;
  constexpr std::uint64_t usual = std::uint64_t{1} << 48;
  for (std::size_t first = 0; first < count; first += group) {
    const std::size_t last = std::min(first + group, count);
    std::uint64_t lengths = separator;
    for (std::size_t i = first; i < last; ++i) lengths |= offsets[i + 1] - offsets[i] - separator;
    if (lengths < usual && offsets[last] >= offsets[first]) continue;
    for (std::size_t i = first; i < last; ++i) {
      if (offsets[i + 1] < offsets[i] || offsets[i + 1] - offsets[i] < separator) return i;
    }
  }
  return count;
}

}  // namespace octobloom
