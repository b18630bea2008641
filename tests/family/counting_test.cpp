#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <octobloom/octobloom.h>

#include "helpers.h"
#include "multiset.h"

namespace {

using namespace octobloom;
using family::numbers;

bool same_bits(const const_filter_view& a, const const_filter_view& b) {
  return a.shape() == b.shape() &&
         std::equal(a.words(), a.words() + a.shape().word_count(), b.words());
}

TEST(counting, has_the_bits_of_a_plain_filter) {
  for (const std::uint32_t k : {1u, 5u, 8u, 13u, 24u}) {
    counting_filter counted(plan_with_blocks(37, k), {.seed = 4});
    filter plain(plan_with_blocks(37, k), {.seed = 4});
    counted.insert(numbers(0, 1500));
    plain.insert(numbers(0, 1500));
    EXPECT_TRUE(same_bits(counted.view(), plain.view())) << k;
    EXPECT_TRUE(same_bits(counted.snapshot().view(), plain.view())) << k;
    EXPECT_EQ(counted.snapshot().inserted_keys(), 1500u);
    EXPECT_EQ(counted.count_contained(numbers(0, 5000)), plain.count_contained(numbers(0, 5000)));
    EXPECT_EQ(counted.bytes(), 37u * 64);
    EXPECT_EQ(counted.total_bytes(), 37u * 320);
  }
}

TEST(counting, removes_what_was_inserted_and_is_empty_then) {
  for (const std::uint32_t k : {1u, 7u, 8u, 17u, 24u}) {
    counting_filter counted(plan_with_blocks(600, k));
    const filter empty(plan_with_blocks(600, k));
    const auto keys = numbers(0, 3000);
    std::vector<std::uint8_t> answers(bitmap_bytes(keys.size()));
    counted.insert(keys);
    EXPECT_EQ(counted.saturated_counters(), 0u);
    EXPECT_EQ(counted.remove(keys, answers), keys.size());
    EXPECT_EQ(std::count(answers.begin(), answers.end(), 0xFF), 375);
    EXPECT_TRUE(same_bits(counted.view(), empty.view())) << k;
    EXPECT_EQ(counted.inserted_keys(), 0u);
  }
}

TEST(counting, a_key_inserted_20_times_and_removed_19_is_still_there) {
  auto counted = counting_filter::with_fpr(1000, 0.001);
  for (int i = 0; i < 20; ++i) counted.insert("twenty");
  EXPECT_EQ(counted.saturated_counters(), counted.k());
  for (int i = 0; i < 19; ++i) EXPECT_TRUE(counted.remove("twenty"));
  EXPECT_TRUE(counted.may_contain("twenty"));
  // Saturated: it stays for good rather than risk the keys that share its bits.
  for (int i = 0; i < 19; ++i) EXPECT_TRUE(counted.remove("twenty"));
  EXPECT_TRUE(counted.may_contain("twenty"));

  for (int i = 0; i < 14; ++i) counted.insert("fourteen");
  for (int i = 0; i < 14; ++i) {
    EXPECT_TRUE(counted.may_contain("fourteen"));
    EXPECT_TRUE(counted.remove("fourteen"));
  }
  EXPECT_FALSE(counted.may_contain("fourteen"));
}

TEST(counting, a_counter_never_carries_into_its_neighbour) {
  counting_filter counted(plan_with_blocks(1, 24));
  for (std::uint64_t i = 0; i < 4000; ++i) counted.insert(i % 40);
  filter plain(plan_with_blocks(1, 24));
  plain.insert(numbers(0, 40));
  EXPECT_TRUE(same_bits(counted.view(), plain.view()));
  EXPECT_EQ(counted.saturated_counters(), popcount_of(plain.view()));
}

TEST(counting, reports_the_removal_of_a_stranger_and_does_not_obey) {
  auto counted = counting_filter::with_fpr(1000, 0.001);
  counted.insert(numbers(0, 1000));
  const filter before = counted.snapshot();
  std::uint64_t strangers = 0;
  for (std::uint64_t key = 1'000'000; strangers < 500; ++key) {
    if (counted.may_contain(key)) continue;
    ASSERT_FALSE(counted.remove(key));
    ++strangers;
  }
  std::vector<std::uint8_t> answers(1, 0xFF);
  const std::vector<std::string> others{"never", "in", "it"};
  EXPECT_EQ(counted.remove(others, answers, {.any_family = true}), 0u);
  EXPECT_EQ(answers[0], 0);
  EXPECT_TRUE(same_bits(counted.view(), before.view()));
  EXPECT_EQ(counted.inserted_keys(), 1000u);
}

TEST(counting, insert_new_is_a_set) {
  auto counted = counting_filter::with_fpr(1000, 0.0001);
  std::vector<std::uint8_t> answers(1);
  const std::vector<std::string> keys{"a", "b", "a"};
  EXPECT_EQ(counted.insert_new(keys, answers), 2u);
  EXPECT_EQ(answers[0], 0b011);
  EXPECT_FALSE(counted.insert_new("b"));
  EXPECT_EQ(counted.inserted_keys(), 2u);
  EXPECT_TRUE(counted.remove("a"));
  EXPECT_FALSE(counted.remove("a"));
}

TEST(counting, misses_nothing_in_ten_million_random_steps) {
  auto counted = counting_filter::with_fpr(20'000, 0.01);
  family::run_multiset(counted, 10'000'000 / family::slowdown, 40'000, 20'000, 12, 1);
  EXPECT_EQ(counted.inserted_keys(), 0u);
}

TEST(counting, misses_nothing_when_counters_saturate) {
  counting_filter counted(plan_with_blocks(40, 8));
  family::run_multiset(counted, 500'000, 400, 4000, 255, 2);
  EXPECT_GT(counted.saturated_counters(), 0u);
}

TEST(counting, merges_counters) {
  for (unsigned a = 0; a < 18; ++a) {
    for (unsigned b = 0; b < 18; ++b) {
      counting_filter left(plan_with_blocks(3, 8));
      counting_filter right(plan_with_blocks(3, 8));
      for (unsigned i = 0; i < a; ++i) left.insert("key");
      for (unsigned i = 0; i < b; ++i) right.insert("key");
      left.merge(right);
      EXPECT_EQ(left.inserted_keys(), a + b);
      for (unsigned i = 0; i < a + b; ++i) ASSERT_TRUE(left.remove("key")) << a << " " << b;
      EXPECT_EQ(left.may_contain("key"), a + b >= 15) << a << " " << b;
    }
  }
  counting_filter target(plan_with_blocks(3, 8));
  target.insert(1);
  family::expect_error(error_code::mismatch, "k 8 against 7",
                       [&] { target.merge(counting_filter(plan_with_blocks(3, 7))); });
  EXPECT_EQ(target.inserted_keys(), 1u);
}

// ---- files
// ---------------------------------------------------------------------------------------

counting_filter golden_counting() {
  plan shape = plan_with_blocks(2, 5);
  shape.expected_keys = 100;
  shape.target_fpr = 0.02;
  counting_filter counted(shape, {.seed = 9});
  for (std::uint64_t i = 0; i < 100; ++i) counted.insert(i % 60);
  for (int i = 0; i < 20; ++i) counted.insert(7);
  for (int i = 0; i < 30; ++i) (void)counted.remove(i);
  EXPECT_FALSE(counted.remove(1000));
  return counted;
}

TEST(counting_file, is_what_the_oracle_says) {
  const family::scratch_file file;
  golden_counting().save(file.path());
  EXPECT_TRUE(family::read_file(file.path()) == family::read_file(family::golden("counting")));
  counting_filter::load(family::golden("counting")).save(file.path());
  EXPECT_TRUE(family::read_file(file.path()) == family::read_file(family::golden("counting")));
}

TEST(counting_file, damaged_anywhere_is_refused) {
  family::expect_every_damage_refused(
      family::read_file(family::golden("counting")),
      [](const std::string& path) { (void)counting_filter::load(path); });
}

TEST(counting_file, bits_and_counters_have_to_agree) {
  const std::string bytes = family::read_file(family::golden("counting"));
  const family::scratch_file file;
  for (std::size_t at = 128; at < bytes.size(); ++at) {
    const auto b = static_cast<unsigned char>(bytes[at]);
    // A nibble that stops or begins to be zero, or a bit that flips.
    const char changed = static_cast<char>(b ^ (at < 256 ? 1u : (b & 15u) == 0 ? 1u : b & 15u));
    file.write(family::forged(bytes, [&](std::string& s) { s[at] = changed; }));
    family::expect_error(error_code::bad_file, "bits without counters",
                         [&] { (void)counting_filter::load(file.path()); });
    EXPECT_NO_THROW((void)counting_filter::load(file.path(), {.verify_body = false}));
  }
}

TEST(counting_file, is_not_taken_for_another_kind) {
  family::expect_error(error_code::bad_file, "holds a counting filter, not a plain one",
                       [] { (void)filter::load(family::golden("counting")); });
  family::expect_error(error_code::bad_file, "holds a growing filter, not a counting one",
                       [] { (void)counting_filter::load(family::golden("growing")); });
}

}  // namespace
