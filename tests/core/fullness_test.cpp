#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <octobloom/filter.h>
#include <octobloom/plan.h>
#include <octobloom/set_operations.h>
#include <octobloom/statistics.h>

#include "support.h"

namespace {

using namespace octobloom;
using octobloom_test::random_numbers;
using octobloom_test::trials;

/// The most keys for which a filter of `blocks` blocks is planned at rate `p`.
std::uint64_t most_keys(std::uint64_t blocks, double p) {
  std::uint64_t fits = 1;
  std::uint64_t too_many = blocks * 6000;
  while (too_many - fits > 1) {
    const std::uint64_t middle = fits + (too_many - fits) / 2;
    (plan_for(middle, p).blocks <= blocks ? fits : too_many) = middle;
  }
  return fits;
}

void insert_random(filter& f, std::uint64_t keys, random_numbers& random) {
  for (std::uint64_t i = 0; i < keys; ++i) f.insert_hash(random());
}

/// A filter with the header that a liar would give it.
filter claiming(const filter& bits, std::uint64_t planned, double target) {
  plan shape = plan_with_blocks(bits.blocks(), bits.k());
  shape.expected_keys = planned;
  shape.target_fpr = target;
  filter result(shape, {bits.seed(), bits.hashing()});
  result.merge(bits.view(), 1);
  return result;
}

TEST(Fullness, ExactlyThePlannedKeysAreFineAndTwiceAsManyNeverAre) {
  random_numbers random(20261203);
  std::uint64_t filters = 0;
  std::uint64_t not_fine = 0;
  for (const double p : {0.9, 0.5, 1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8}) {
    for (const std::uint64_t blocks : {1u, 2u, 3u, 10u, 100u, 3000u, 100'000u}) {
      if (blocks == 100'000 && p != 1e-3) continue;  // seconds
      const std::uint64_t n = most_keys(blocks, p);
      const plan size = plan_for(n, p);
      const std::uint64_t rounds = std::clamp<std::uint64_t>(trials(50'000, 2'000) / n, 1, 400);
      for (std::uint64_t i = 0; i < rounds; ++i) {
        filter f(size);
        insert_random(f, n, random);
        ++filters;
        if (f.verdict() != saturation::fine) ++not_fine;
        insert_random(f, n, random);
        EXPECT_NE(f.verdict(), saturation::fine) << n << " keys at " << p << ", " << blocks;
        // Whatever the header claims of the rest.
        EXPECT_NE(claiming(f, n, p).verdict(), saturation::fine) << n << " keys at " << p;
      }
    }
  }
  EXPECT_GT(filters, trials(5'000, 500));
  EXPECT_LE(not_fine * 1000, filters);
}

TEST(Fullness, ErrorsOfTheRateAndTheEstimateAreThoseOfTrials) {
  random_numbers random(7);
  for (const double p : {1e-1, 1e-3}) {
    const plan size = plan_for(most_keys(1000, p), p);
    std::vector<filter_statistics> seen;
    double rates = 0;
    double keys = 0;
    const auto count = static_cast<double>(trials(400, 100));
    for (std::uint64_t i = 0; i < trials(400, 100); ++i) {
      filter f(size);
      insert_random(f, size.expected_keys, random);
      seen.push_back(f.statistics());
      rates += seen.back().current_fpr / count;
      keys += seen.back().estimated_keys.value() / count;
    }
    double spread_of_rates = 0;
    double spread_of_keys = 0;
    double told_rates = 0;
    double told_keys = 0;
    for (const filter_statistics& s : seen) {
      spread_of_rates += std::pow(s.current_fpr - rates, 2) / (count - 1);
      spread_of_keys += std::pow(*s.estimated_keys - keys, 2) / (count - 1);
      told_rates += s.fpr_error / count;
      told_keys += s.keys_error / count;
    }
    // The error counts that the number of keys is not known; here it is fixed.
    EXPECT_GT(told_rates, 0.9 * std::sqrt(spread_of_rates)) << p;
    EXPECT_LT(told_rates, 5 * std::sqrt(spread_of_rates)) << p;
    EXPECT_NEAR(told_keys / std::sqrt(spread_of_keys), 1, 0.2) << p;
  }
}

TEST(Fullness, BitsOutvoteTheHeader) {
  filter full = filter::with_blocks(160, 8);
  std::fill_n(full.view().words(), full.view().shape().word_count(), ~std::uint64_t{0});
  for (const double target : {0.0, 1e-8, 0.01, 0.5, 0.99, 0.999999}) {
    EXPECT_EQ(claiming(full, 5, target).verdict(), saturation::over_full) << target;
    EXPECT_EQ(claiming(full, UINT64_MAX, target).verdict(), saturation::over_full) << target;
  }
  // Half full: at a rate of 0.4 %.
  filter half = filter::with_blocks(160, 8);
  random_numbers random(3);
  insert_random(half, 160 * 44, random);
  ASSERT_NEAR(half.fill_ratio(), 0.5, 0.02);
  const double rate = half.current_fpr();
  EXPECT_EQ(claiming(half, 5, 1.01 * rate).verdict(), saturation::fine);
  EXPECT_EQ(claiming(half, 5, 0.8 * rate).verdict(), saturation::full);
  EXPECT_EQ(claiming(half, 5, 0.4 * rate).verdict(), saturation::over_full);
  // A plan of so many keys that the size cannot bear them excuses nothing.
  EXPECT_EQ(claiming(half, 1'000'000, 0.8 * rate).verdict(), saturation::full);
  EXPECT_EQ(claiming(half, 1'000'000, 0.4 * rate).verdict(), saturation::over_full);
}

TEST(Fullness, WithoutATargetItGoesByFillAndByTheWorseOfFillAndCount) {
  random_numbers random(5);
  const auto filled = [&](double fill) {
    filter f = filter::with_blocks(500, 8);
    insert_random(f, static_cast<std::uint64_t>(-500 * 64 * std::log1p(-fill)), random);
    EXPECT_NEAR(f.fill_ratio(), fill, 0.01);
    return f;
  };
  EXPECT_EQ(filled(0.57).verdict(), saturation::fine);
  EXPECT_EQ(filled(0.63).verdict(), saturation::full);
  EXPECT_EQ(filled(0.87).verdict(), saturation::full);
  EXPECT_EQ(filled(0.93).verdict(), saturation::over_full);
  // Planned keys excuse no fill; more keys than planned add to it.
  EXPECT_EQ(claiming(filled(0.57), 1'000'000, 0).verdict(), saturation::fine);
  EXPECT_EQ(claiming(filled(0.93), 1'000'000, 0).verdict(), saturation::over_full);
  EXPECT_EQ(claiming(filled(0.40), 10'000, 0).verdict(), saturation::full);
  EXPECT_EQ(claiming(filled(0.40), 5'000, 0).verdict(), saturation::over_full);
}

TEST(Fullness, TargetsNearOneHaveAWorseToo) {
  EXPECT_DOUBLE_EQ(highest_full_rate(0.01), 0.02);
  EXPECT_DOUBLE_EQ(highest_full_rate(0.9), 0.95);
  for (const double target : {0.5, 0.9, 0.99}) {
    random_numbers random(11);
    const plan size = plan_for(100'000, target);
    filter f(size);
    insert_random(f, 100'000, random);
    EXPECT_EQ(f.verdict(), saturation::fine) << target;
    insert_random(f, 10'000, random);
    EXPECT_EQ(f.verdict(), saturation::full) << target;
    insert_random(f, 390'000, random);
    EXPECT_EQ(f.verdict(), saturation::over_full) << target;
  }
}

TEST(Fullness, FoldedFiltersAreJudgedByWhatTheyAre) {
  for (const std::uint64_t n : {200u, 20'000u}) {
    random_numbers random(n);
    plan size = plan_for(n, 1e-3);
    size.blocks += size.blocks % 2;
    filter f(size);
    insert_random(f, n / 4, random);
    EXPECT_EQ(fold(f, 2).verdict(), saturation::fine) << n;
    insert_random(f, n - n / 4, random);
    EXPECT_EQ(f.verdict(), saturation::fine) << n;
    EXPECT_EQ(fold(f, 2).verdict(), saturation::over_full) << n;
  }
}

TEST(Fullness, ASampleSaysTheSame) {
  random_numbers random(13);
  for (const std::uint64_t blocks : {65'536u, 65'537u, 400'000u}) {
    filter f = filter::with_blocks(blocks, 8);
    insert_random(f, blocks * 30, random);
    const filter_statistics whole = f.statistics();
    const filter_statistics sample = sampled_statistics_of(f.view());
    EXPECT_NEAR(sample.fill, whole.fill, 0.005);
    EXPECT_NEAR(sample.current_fpr, whole.current_fpr, 5 * sample.fpr_error);
    EXPECT_NEAR(*sample.estimated_keys, *whole.estimated_keys, 5 * sample.keys_error + 1);
    EXPECT_LT(sample.keys_error, 0.01 * *whole.estimated_keys);
    EXPECT_GE(sample.keys_error, whole.keys_error);
  }
  // The first and the last blocks count.
  filter ends = filter::with_blocks(400'000, 8);
  const std::uint64_t last = ends.view().shape().word_count() - 1;
  ends.view().words()[0] = 1;
  const double first_alone = sampled_statistics_of(ends.view()).fill;
  EXPECT_GT(first_alone, 0);
  ends.view().words()[last] = 1;
  EXPECT_GT(sampled_statistics_of(ends.view()).fill, first_alone);
}

}  // namespace
