#include <limits>

#include <octobloom/plan.h>

#include "support.h"

namespace {

using namespace octobloom;
using octobloom_test::expect_error;
using octobloom_test::golden_rows;

TEST(Plan, RatesAgreeWithTheGoldenTable) {
  std::size_t compared = 0;
  for (const auto& row : golden_rows("fpr_rot8.tsv")) {
    const double lambda = 512 / std::stod(row[0]);
    const auto k = static_cast<std::uint32_t>(std::stoul(row[1]));
    const double golden = std::stod(row[2]);
    const std::uint32_t blocks = 1u << 20;
    // The table leaves out keys of equal pattern source.
    const double ours = expected_fpr(lambda * blocks, blocks, k) - lambda / 4294967296.0;
    EXPECT_NEAR(ours / golden, 1, 0.005) << row[0] << " bits per key, k " << k;
    ++compared;
  }
  EXPECT_EQ(compared, 360u);
}

TEST(Plan, SizesAgreeWithTheGoldenTable) {
  for (const auto& row : golden_rows("sizing_rot8.tsv")) {
    const double p = std::stod(row[0]);
    const plan ours = plan_for(10'000'000, p);
    EXPECT_NEAR(ours.bits_per_key() / std::stod(row[2]), 1, 0.005) << p;
    EXPECT_EQ(ours.k, std::stoul(row[3])) << p;
    EXPECT_NEAR(static_cast<double>(ours.classic.bits) / 1e7, std::stod(row[1]), 1e-4) << p;
  }
}

TEST(Plan, IsTheSmallestFilterThatReachesTheTarget) {
  for (const std::uint64_t n : {100u, 5'000u, 1'000'000u, 30'000'000u}) {
    for (const double p : {0.3, 0.05, 0.01, 0.001, 1e-4, 1e-6, 1e-8}) {
      const plan ours = plan_for(n, p);
      const auto keys = static_cast<double>(n);
      EXPECT_LE(expected_fpr(keys, ours.blocks, ours.k), p);
      EXPECT_EQ(expected_fpr(keys, ours.blocks, ours.k), ours.expected_fpr);
      for (std::uint32_t k = 1; k <= rot8::max_k; ++k) {
        if (k < ours.k) {
          EXPECT_GT(expected_fpr(keys, ours.blocks, k), p) << n << ' ' << p << " k " << k;
        }
        if (ours.blocks > 1) {
          EXPECT_GT(expected_fpr(keys, ours.blocks - 1, k), p) << n << ' ' << p << " k " << k;
        }
      }
    }
  }
}

TEST(Plan, TheIssueOfAMillionKeysAtOnePercent) {
  const plan ours = plan_for(1'000'000, 0.01);
  EXPECT_EQ(ours.classic.bits, 9'585'059u);
  EXPECT_EQ(ours.classic.k, 7u);
  EXPECT_NEAR(ours.classic.fpr, 0.01004, 5e-6);
  EXPECT_NEAR(ours.bits_per_key(), 9.9334, 0.05);
  EXPECT_EQ(ours.k, 6u);
  EXPECT_EQ(ours.bytes(), std::uint64_t{ours.blocks} * 64);
}

TEST(Plan, RefusesTargetsOutsideItsRange) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double p :
       {0.0, -0.0, 1.0, 2.0, -0.1, std::nan(""), infinity, -infinity, 1e-320, 1e-10, 9.9e-9}) {
    expect_error(error_code::invalid_argument, [&] { (void)plan_for(1000, p); });
  }
  EXPECT_LE(plan_for(1000, 1e-8).expected_fpr, 1e-8);
  EXPECT_EQ(plan_for(1000, 0.999).k, 1u);
}

TEST(Plan, RefusesNoKeysAndTooManyBeforeAnythingIsAllocated) {
  expect_error(error_code::invalid_argument, [] { (void)plan_for(0, 0.01); });
  expect_error(error_code::invalid_argument,
               [] { (void)plan_for(1'000'000'000'000'000'000u, 0.01); });
  expect_error(error_code::invalid_argument,
               [] { (void)plan_for(std::numeric_limits<std::uint64_t>::max(), 0.9); });
  expect_error(error_code::invalid_argument, [] { (void)plan_for(10'000'000'000u, 1e-10); });
  EXPECT_GE(plan_for(10'000'000'000u, 1e-8).bytes() * 8, 4.8e11);
  expect_error(error_code::invalid_argument, [] { (void)plan_with_memory(63, 10); });
  expect_error(error_code::invalid_argument, [] { (void)plan_with_memory(1 << 20, 0); });
  expect_error(error_code::invalid_argument, [] { (void)plan_with_blocks(0, 8); });
  expect_error(error_code::invalid_argument,
               [] { (void)plan_with_blocks(std::uint64_t{1} << 32, 8); });
  expect_error(error_code::invalid_argument, [] { (void)plan_with_blocks(10, 0); });
  expect_error(error_code::invalid_argument, [] { (void)plan_with_bits(10, 25); });
  expect_error(error_code::invalid_argument,
               [] { (void)plan_with_bits(std::numeric_limits<std::uint64_t>::max(), 8); });
}

TEST(Plan, BitsAreRoundedUpToWholeBlocks) {
  EXPECT_EQ(plan_with_bits(1, 4).blocks, 1u);
  EXPECT_EQ(plan_with_bits(512, 4).blocks, 1u);
  EXPECT_EQ(plan_with_bits(513, 4).blocks, 2u);
}

TEST(Plan, MemoryGetsTheBestRateThatFits) {
  for (const std::uint64_t bytes : {64u, 100'000u, 12'500'000u}) {
    const plan ours = plan_with_memory(bytes, 1'000'000);
    EXPECT_LE(ours.bytes(), bytes);
    EXPECT_GT(ours.bytes() + 64, bytes);
    for (std::uint32_t k = 1; k <= rot8::max_k; ++k) {
      EXPECT_GE(expected_fpr(1e6, ours.blocks, k), ours.expected_fpr) << bytes << " k " << k;
    }
  }
}

TEST(Plan, KeysOfEqualPatternSourceAreCounted) {
  // At 1e-8 the table without them would be 18 % too low.
  const plan ours = plan_for(1'000'000, 1e-8);
  const double lambda = 1e6 / ours.blocks;
  EXPECT_GT(lambda / 4294967296.0 / ours.expected_fpr, 0.1);
  EXPECT_LT(lambda / 4294967296.0 / ours.expected_fpr, 0.3);
}

TEST(Plan, UnevenSharesOfTheHashRangeRaiseTheRateOfVeryLargeFilters) {
  // The even rate of the same load, from a filter of a power of two of blocks.
  const auto ratio = [](std::uint32_t blocks, double bits_per_key, std::uint32_t k) {
    const double lambda = 512 / bits_per_key;
    const std::uint32_t even = 1u << 20;
    return expected_fpr(lambda * blocks, blocks, k) / expected_fpr(lambda * even, even, k);
  };
  const std::uint32_t gib = 1u << 24;  // blocks of one GiB
  EXPECT_NEAR(ratio(12 * gib, 22, 12), 1.01, 0.008);
  const double large = ratio(48 * gib, 12, 8);
  EXPECT_GT(large, 1.08);
  EXPECT_LT(large, 1.25);
  EXPECT_NEAR(ratio(64 * gib, 22, 12), 1, 1e-9);
}

/// The chance of equal pattern sources goes by each block's own load, too: were n / blocks taken
/// for it, the first three would be 2.8, 0.5 and 0.16 % lower. The figures are of the page's
/// formula, with 60 digits in Python.
TEST(Plan, EqualPatternSourcesGoByTheLoadsOfVeryLargeFilters) {
  EXPECT_NEAR(expected_fpr(15e9, 3'000'000'000u, 14) / 4.917508762819482e-09, 1, 1e-3);
  EXPECT_NEAR(expected_fpr(20e9, 2'900'000'000u, 15) / 3.6601345915379565e-08, 1, 1e-3);
  EXPECT_NEAR(expected_fpr(24e9, 3'600'000'000u, 13) / 1.0959390994019447e-07, 1, 1e-3);
  EXPECT_NEAR(expected_fpr(30e9, 3'000'000'000u, 12) / 1.3556777771442135e-06, 1, 1e-4);
}

TEST(Plan, LostKeysAreTheIntegralOfTheRate) {
  const plan ours = plan_for(100'000, 0.01);
  double sum = 0;
  for (int i = 0; i < 1000; ++i) sum += 100 * expected_fpr(100 * (i + 0.5), ours.blocks, ours.k);
  EXPECT_NEAR(expected_lost(0, 1e5, ours.blocks, ours.k) / sum, 1, 1e-3);
  EXPECT_EQ(expected_lost(5, 5, ours.blocks, ours.k), 0);
  EXPECT_NEAR(expected_lost(0, 5e6, ours.blocks, ours.k) / 5e6, 1, 0.1);
}

}  // namespace
