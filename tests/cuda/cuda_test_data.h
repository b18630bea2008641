#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <octobloom/filter.h>
#include <octobloom/gpu/filter_view.h>

namespace octobloom::test {

/// splitmix64: reproducible keys.
inline std::vector<std::uint64_t> random_keys(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> keys(count);
  for (auto& key : keys) {
    std::uint64_t z = seed += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    key = z ^ (z >> 31);
  }
  return keys;
}

inline filter make_filter(std::uint32_t blocks, std::uint32_t k, std::uint64_t seed = 0) {
  return filter(plan_with_blocks(blocks, k), {.seed = seed});
}

inline gpu::filter_view gpu_view(filter& f) {
  return {f.view().words(), f.view().shape()};
}

inline bool same_words(const filter& a, const filter& b) {
  return a.view().shape() == b.view().shape() &&
         std::equal(a.view().words(), a.view().words() + a.view().shape().word_count(),
                    b.view().words());
}

/// Strings of every length from 0 to 70 and back, in one piece, `separator` bytes apart.
struct string_column {
  std::string bytes;
  std::vector<std::uint64_t> offsets{0};
  std::uint64_t separator;

  string_column(std::size_t count, std::uint64_t separator_bytes, std::uint64_t seed)
      : separator(separator_bytes) {
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t c = 0; c < i * 7 % 71; ++c) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        bytes += static_cast<char>(seed >> 56);
      }
      bytes.append(separator, '\n');
      offsets.push_back(bytes.size());
    }
  }
  [[nodiscard]] std::size_t size() const { return offsets.size() - 1; }
  [[nodiscard]] string_keys keys() const {
    return {bytes.data(), offsets.data(), size(), separator};
  }
};

}  // namespace octobloom::test
