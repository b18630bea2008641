#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include <octobloom/detail/popcount.h>

namespace octobloom::test {
namespace {

TEST(Popcount, OfWords) {
  for (unsigned i = 0; i < 64; ++i) {
    for (unsigned j = 0; j < 64; ++j) {
      const std::uint64_t ends = std::uint64_t{1} << i | std::uint64_t{1} << j;
      EXPECT_EQ(detail::popcount(ends), i == j ? 1u : 2u);
      EXPECT_EQ(detail::popcount(~ends), i == j ? 63u : 62u);
    }
  }
  EXPECT_EQ(detail::popcount(0), 0u);
  EXPECT_EQ(detail::popcount(~std::uint64_t{0}), 64u);
  std::uint64_t word = 1;
  for (int i = 0; i < 100'000; ++i) {
    word = word * 6364136223846793005u + 1442695040888963407u;
    ASSERT_EQ(detail::popcount(word), static_cast<std::uint64_t>(std::popcount(word))) << word;
  }
}

TEST(Popcount, OfBitmapsOfEveryLengthAndAlignment) {
  std::vector<std::uint8_t> bytes(100);
  std::uint64_t word = 7;
  for (auto& byte : bytes) {
    word = word * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::uint8_t>(word >> 56);
  }
  for (std::size_t first = 0; first < 9; ++first) {
    std::uint64_t expected = 0;
    for (std::size_t length = 0; first + length <= bytes.size(); ++length) {
      ASSERT_EQ(detail::popcount(&bytes[first], length), expected);
      if (first + length < bytes.size()) {
        expected += static_cast<std::uint64_t>(std::popcount(bytes[first + length]));
      }
    }
  }
}

}  // namespace
}  // namespace octobloom::test
