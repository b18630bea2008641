#include <set>

#include <octobloom/hash.h>
#include <octobloom/rot8.h>

#include "support.h"

namespace {

using namespace octobloom;

TEST(Rot8, GoldenPatternsAndBlocks) {
  std::size_t compared = 0;
  for (const auto& row : octobloom_test::golden_rows("patterns.tsv")) {
    const std::uint64_t hash = std::stoull(row[0], nullptr, 16);
    const auto k = static_cast<unsigned>(std::stoul(row[1]));
    const auto blocks = static_cast<std::uint32_t>(std::stoul(row[2]));
    ASSERT_EQ(rot8::block_index(hash, blocks), std::stoul(row[3])) << row[0] << ' ' << row[2];
    for (unsigned w = 0; w < 8; ++w) {
      ASSERT_EQ(rot8::pattern_word(rot8::pattern_source(hash), k, w),
                std::stoull(row[4 + w], nullptr, 16))
          << row[0] << " k " << k << " word " << w;
    }
    ++compared;
  }
  EXPECT_EQ(compared, 5520u);
}

TEST(Rot8, SaltsAreOddAndDistinct) {
  std::set<std::uint32_t> seen;
  for (unsigned i = 0; i < rot8::max_k; ++i) {
    EXPECT_EQ(rot8::salt(i) % 2, 1u);
    EXPECT_TRUE(seen.insert(rot8::salt(i)).second);
  }
}

TEST(Rot8, BlocksReachBothEndsOfEveryRange) {
  for (const std::uint32_t blocks : {1u, 2u, 3u, 1000u, 1u << 26, (1u << 26) + 1, 0xFFFFFFFFu}) {
    EXPECT_EQ(rot8::block_index(0, blocks), 0u);
    EXPECT_EQ(rot8::block_index(~std::uint64_t{0}, blocks), blocks - 1);
  }
}

TEST(Rot8, ThreeThirdsFillEvenly) {
  for (const unsigned power : {4u, 10u, 16u, 20u}) {
    const std::uint32_t blocks = 3u << power;
    std::array<double, 3> share{};
    const std::uint64_t keys = 3'000'000;
    for (std::uint64_t i = 0; i < keys; ++i) {
      share[rot8::block_index(hash_integer(i), blocks) / (blocks / 3)] += 1;
    }
    for (const double s : share) {  // standard deviation 816
      EXPECT_NEAR(s, 1e6, 5000) << blocks;
    }
  }
}

}  // namespace
