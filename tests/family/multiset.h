#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

namespace family {

/// Inserts and removes at random, `steps` times, beside an exact multiset of at most `most` keys of
/// `universe` and at most `copies` of each. Checks after every step that no key that is in is said
/// to be absent: the one at hand and one at random, and every so often all of them. `Filter` has
/// insert(key), remove(key) and may_contain(key).
template <class Filter>
void run_multiset(Filter& filter, std::uint64_t steps, std::uint64_t universe, std::uint64_t most,
                  unsigned copies, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> exact(universe);
  std::vector<std::uint64_t> in;  // every copy
  for (std::uint64_t step = 0; step < steps; ++step) {
    const bool adds = in.empty() || (in.size() < most && random() % 2 == 0);
    if (adds) {
      const std::uint64_t key = random() % universe;
      if (exact[key] == copies) continue;
      if constexpr (std::is_void_v<decltype(filter.insert(key))>) {
        filter.insert(key);
      } else {
        ASSERT_TRUE(filter.insert(key)) << step;
      }
      ++exact[key];
      in.push_back(key);
      ASSERT_TRUE(filter.may_contain(key)) << step;
    } else {
      const std::size_t at = random() % in.size();
      const std::uint64_t key = in[at];
      ASSERT_TRUE(filter.remove(key)) << step;
      --exact[key];
      in[at] = in.back();
      in.pop_back();
    }
    if (!in.empty()) {
      ASSERT_TRUE(filter.may_contain(in[random() % in.size()])) << step;
    }
    if (step % (steps / 20) == 0) {
      for (const std::uint64_t key : in) ASSERT_TRUE(filter.may_contain(key)) << step;
    }
  }
  for (const std::uint64_t key : in) ASSERT_TRUE(filter.remove(key));
}

}  // namespace family
