#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <octobloom/octobloom.h>

#include "helpers.h"

namespace {

using namespace octobloom;
using family::numbers;

filter of_keys(const plan& plan, std::uint64_t first, std::uint64_t count, std::uint64_t seed = 0) {
  filter result(plan, {.seed = seed});
  result.insert(numbers(first, count));
  return result;
}

bool same_bits(const filter& a, const filter& b) {
  return a.view().shape() == b.view().shape() &&
         std::equal(a.view().words(), a.view().words() + a.view().shape().word_count(),
                    b.view().words());
}

TEST(set_operations, a_union_of_1000_and_1000_keys_has_about_2000) {
  const plan plan = plan_for(2000, 0.01);
  const filter a = of_keys(plan, 0, 1000);
  const filter b = of_keys(plan, 5000, 1000);
  const filter both = union_of(a, b);
  EXPECT_EQ(both.count_contained(numbers(0, 1000)), 1000u);
  EXPECT_EQ(both.count_contained(numbers(5000, 1000)), 1000u);
  EXPECT_EQ(both.inserted_keys(), 2000u);
  EXPECT_NEAR(*both.estimated_keys(), 2000, 40);
}

TEST(set_operations, common_bits_hold_the_intersection_and_some_strangers) {
  const plan plan = plan_for(30'000, 0.01);
  const filter a = of_keys(plan, 0, 20'000);
  const filter b = of_keys(plan, 10'000, 20'000);
  const filter common = common_bits(a, b);
  EXPECT_EQ(common.count_contained(numbers(10'000, 10'000)), 10'000u);
  EXPECT_NEAR(static_cast<double>(common.inserted_keys()), 10'000, 300);
  const filter honest = of_keys(plan, 10'000, 10'000);
  EXPECT_GT(common.fill_ratio(), 1.05 * honest.fill_ratio());
  EXPECT_LT(common.fill_ratio(), a.fill_ratio());
}

/// Many pairs of filters: the errors in units of the standard error that was told have to be those
/// of a standard normal variable, mean and spread, two-sided.
void expect_honest_errors(const plan& plan, std::uint64_t only_a, std::uint64_t both,
                          std::uint64_t only_b) {
  constexpr int trials = 400;
  struct score {
    double sum = 0;
    double squares = 0;
  };
  std::array<score, 6> scores;
  for (int trial = 0; trial < trials; ++trial) {
    const auto seed = static_cast<std::uint64_t>(trial) + 1000;
    const filter a = of_keys(plan, 0, only_a + both, seed);
    const filter b = of_keys(plan, only_a, both + only_b, seed);
    const auto found = estimate_sets(a, b);
    ASSERT_TRUE(found);
    const std::array<std::pair<size_estimate, std::uint64_t>, 6> pairs{
        {{found->a, only_a + both},
         {found->b, only_b + both},
         {found->in_either, only_a + both + only_b},
         {found->in_both, both},
         {found->only_in_a, only_a},
         {found->only_in_b, only_b}}};
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto& [estimate, truth] = pairs[i];
      const double z = (estimate.keys - static_cast<double>(truth)) / estimate.standard_error;
      scores[i].sum += z;
      scores[i].squares += z * z;
    }
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double mean = scores[i].sum / trials;
    const double spread = std::sqrt(scores[i].squares / trials - mean * mean);
    // Estimates of a logarithm have a small bias of their own, below a tenth of their error here.
    EXPECT_NEAR(mean, 0, 5 / std::sqrt(trials) + 0.1) << i;
    EXPECT_NEAR(spread, 1, 5 / std::sqrt(2.0 * trials)) << i;
  }
}

TEST(set_operations, tells_its_errors_honestly) {
  for (const std::uint32_t k : {1u, 6u, 8u, 11u, 16u}) {
    SCOPED_TRACE(k);
    const plan plan = plan_with_blocks(120, k);
    expect_honest_errors(plan, 1500, 2500, 900);
    expect_honest_errors(plan, 3000, 600, 3000);
  }
  expect_honest_errors(plan_with_blocks(1, 8), 12, 20, 14);
}

TEST(set_operations, a_set_with_itself) {
  const filter a = of_keys(plan_for(5000, 0.01), 0, 5000);
  const auto found = estimate_sets(a, a);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->in_both.keys, found->a.keys);
  EXPECT_EQ(found->only_in_a.keys, 0);
  EXPECT_EQ(found->only_in_a.standard_error, 0);
  EXPECT_NEAR(found->a.keys, 5000, 5 * found->a.standard_error);
}

TEST(set_operations, has_no_estimate_of_a_full_filter) {
  const filter small = of_keys(plan_with_blocks(1, 8), 0, 3);
  const filter full = of_keys(plan_with_blocks(1, 8), 0, 10'000);
  EXPECT_FALSE(estimate_sets(small, full));
  EXPECT_EQ(common_bits(small, full).inserted_keys(), 3u);
}

TEST(set_operations, folding_is_exact) {
  for (const std::uint32_t divisor : {1u, 2u, 3u, 4u, 6u, 60u, 1020u}) {
    const filter large = of_keys(plan_with_blocks(1020, 9), 0, 3000, 8);
    const filter small = of_keys(plan_with_blocks(1020 / divisor, 9), 0, 3000, 8);
    EXPECT_TRUE(same_bits(fold(large, divisor), small)) << divisor;
    EXPECT_EQ(fold(large, divisor).inserted_keys(), 3000u);
  }
  const filter odd = of_keys(plan_with_blocks(7 * 11 * 13, 5), 0, 2000);
  EXPECT_TRUE(same_bits(fold(odd, 7 * 13), of_keys(plan_with_blocks(11, 5), 0, 2000)));
}

TEST(set_operations, folding_keeps_plan_and_refuses_what_does_not_divide) {
  const filter source = filter::with_fpr(1000, 0.01);
  const filter folded = fold(source, source.blocks());
  EXPECT_EQ(folded.blocks(), 1u);
  EXPECT_EQ(folded.planned_keys(), 1000u);
  EXPECT_EQ(folded.target_fpr(), 0.01);
  family::expect_error(error_code::invalid_argument, "cannot be folded by 0",
                       [&] { (void)fold(source, 0); });
  family::expect_error(error_code::invalid_argument, "divisor of its blocks",
                       [&] { (void)fold(source, source.blocks() + 1); });
}

TEST(set_operations, refuse_what_does_not_match) {
  const filter a = of_keys(plan_with_blocks(10, 8), 0, 100);
  std::vector<filter> others;
  others.emplace_back(plan_with_blocks(11, 8));
  others.emplace_back(plan_with_blocks(10, 7));
  others.emplace_back(plan_with_blocks(10, 8), filter_options{.seed = 1});
  others.emplace_back(plan_with_blocks(10, 8), filter_options{.hashing = key_hashing::caller});
  for (const filter& other : others) {
    const auto code = error_code::mismatch;
    family::expect_error(code, " against ", [&] { (void)union_of(a, other); });
    family::expect_error(code, " against ", [&] { (void)common_bits(a, other); });
    family::expect_error(code, " against ", [&] { (void)estimate_sets(a, other); });
    filter target = a.copy();
    family::expect_error(code, " against ", [&] { target.merge(other); });
    EXPECT_TRUE(same_bits(target, a));
    EXPECT_EQ(target.inserted_keys(), 100u);
  }
}

}  // namespace
