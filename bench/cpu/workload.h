#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "contenders.h"

namespace octobloom::bench {

inline constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

/// What a structure is filled with.
struct content {
  std::uint64_t bytes = 0;  ///< of a filter
  unsigned bits_per_key = 10;
  key_type keys = key_type::integers;

  [[nodiscard]] std::uint64_t members() const { return bytes * 8 / bits_per_key; }
  bool operator==(const content&) const = default;
};

/// What is asked of it.
struct question {
  unsigned hit_percent = 50;
  unsigned threads = 1;  ///< 0: all
  bool operator==(const question&) const = default;
};

struct settings {
  bool full = false;
  bool quick = false;
  std::uint64_t largest = 2048 * mebibyte;
  unsigned rounds = 1;
};

/// Takes our options out of argv. Ends the program with a sentence where they are wrong.
[[nodiscard]] settings parse(int& argc, char** argv);

[[nodiscard]] std::vector<std::uint64_t> sizes(const settings& options);
/// The contents of one size: the common one, and each property varied on its own, or all of them
/// with all others.
[[nodiscard]] std::vector<content> contents(std::uint64_t bytes, const settings& options);
[[nodiscard]] std::vector<question> questions(const content& filled, operation what,
                                              const settings& options);
[[nodiscard]] bool takes_part(const contender& who, operation what, const content& filled,
                              const question& asked, const settings& options);

/// Keys in one measured call: the batches of 2^24 that the goals speak of; fewer where the filter
/// is small and the answer comes sooner, and for slow contenders.
[[nodiscard]] std::size_t batch_size(const contender& who, const content& filled,
                                     const settings& options);

/// what/who/MiB/bits/hits/keys/threads, each with its value.
[[nodiscard]] std::string name_of(const contender& who, operation what, const content& filled,
                                  const question& asked);

}  // namespace octobloom::bench
