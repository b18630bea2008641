#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include <octobloom/octobloom.h>

#include "helpers.h"
#include "multiset.h"

namespace {

using namespace octobloom;
using family::numbers;

TEST(cuckoo, plans_hold_their_keys_and_their_rate) {
  const std::uint64_t probes = 4'000'000 / family::slowdown;
  for (const double target : {0.3, 0.01, 0.001, 0.0001}) {
    for (const std::uint64_t count : {3'000ul, 100'000ul}) {
      const cuckoo_plan plan = cuckoo_plan_for(count, target);
      EXPECT_LE(plan.expected_fpr, target);
      cuckoo_filter filter(plan);
      ASSERT_EQ(filter.insert(numbers(0, count)), count) << target;
      EXPECT_EQ(filter.count_contained(numbers(0, count)), count);
      EXPECT_DOUBLE_EQ(filter.current_fpr(), plan.expected_fpr);
      const auto found =
          static_cast<double>(filter.count_contained(numbers(std::uint64_t{1} << 40, probes)));
      const double expected = plan.expected_fpr * static_cast<double>(probes);
      EXPECT_NEAR(found, expected, 5 * std::sqrt(expected) + 0.01 * expected)
          << plan.fingerprint_bits;
    }
  }
}

TEST(cuckoo, takes_less_memory_than_a_plain_filter_at_low_rates) {
  for (const double target : {0.01, 0.001, 0.0001, 1e-6}) {
    const cuckoo_plan cuckoo = cuckoo_plan_for(1'000'000, target);
    const plan plain = plan_for(1'000'000, target);
    std::cout << "rate " << target << ": " << cuckoo.bits_per_key() << " bits a key, "
              << cuckoo.fingerprint_bits << " of them fingerprint; plain " << plain.bits_per_key()
              << ", counting " << 5 * plain.bits_per_key() << '\n';
    EXPECT_TRUE(target > 0.001 || cuckoo.bits_per_key() < plain.bits_per_key());
    EXPECT_LT(cuckoo.bits_per_key(), 1.2 * plain.bits_per_key());
  }
}

TEST(cuckoo, small_plans_take_their_keys) {
  for (const std::uint64_t count : {1ul, 2ul, 9ul, 30ul, 150ul, 600ul}) {
    for (const double target : {0.01, 1e-6}) {
      for (std::uint64_t seed = 0; seed < 500; ++seed) {
        cuckoo_filter filter(cuckoo_plan_for(count, target), {.seed = seed});
        ASSERT_EQ(filter.insert(numbers(0, count)), count) << seed;
      }
    }
  }
}

TEST(cuckoo, full_says_so_and_loses_nothing) {
  for (const std::uint32_t bits : {8u, 9u, 13u, 16u, 17u, 23u, 32u}) {
    cuckoo_filter filter(cuckoo_plan_with_lines(200, bits));
    std::uint64_t count = 0;
    while (filter.insert(count)) ++count;
    EXPECT_GE(filter.load(), 0.94) << bits;
    const std::uint64_t before = filter.inserted_keys();
    const std::uint64_t strangers = filter.count_contained(numbers(1'000'000, 50'000));
    int refused = 0;
    for (std::uint64_t key = count; key < count + 100; ++key) {
      // Some may still find room: these are taken back.
      if (filter.insert(key)) {
        ASSERT_TRUE(filter.remove(key));
      } else {
        ++refused;
      }
    }
    EXPECT_GT(refused, 0);
    EXPECT_EQ(filter.inserted_keys(), before);
    ASSERT_EQ(filter.count_contained(numbers(0, count)), count);
    EXPECT_NEAR(static_cast<double>(filter.count_contained(numbers(1'000'000, 50'000))),
                static_cast<double>(strangers), 0.02 * 50'000);
    std::vector<std::uint8_t> answers(bitmap_bytes(count));
    EXPECT_EQ(filter.remove(numbers(0, count), answers), count);
    EXPECT_EQ(filter.inserted_keys(), 0u);
    EXPECT_EQ(filter.count_contained(numbers(0, 10'000)), 0u) << "not empty, so something moved";
  }
}

TEST(cuckoo, a_refused_insert_leaves_every_byte) {
  const family::scratch_file before;
  const family::scratch_file after;
  cuckoo_filter filter(cuckoo_plan_with_lines(30, 12));
  std::uint64_t key = 0;
  while (filter.insert(key)) ++key;
  filter.save(before.path());
  for (int i = 0; i < 5; ++i) ASSERT_FALSE(filter.insert(key));
  family::expect_error(error_code::full, "nothing was lost", [&] {
    for (std::uint64_t other = key; other < key + 1000; ++other) {
      EXPECT_TRUE(!filter.insert_new(other) || filter.remove(other));
    }
  });
  filter.save(after.path());
  // What was inserted and removed in between may have moved others: that is not a refusal.
  cuckoo_filter again = cuckoo_filter::load(before.path());
  for (int i = 0; i < 5; ++i) ASSERT_FALSE(again.insert(key));
  again.save(after.path());
  EXPECT_TRUE(family::read_file(after.path()) == family::read_file(before.path()));
}

TEST(cuckoo, holds_eight_copies_of_a_key) {
  cuckoo_filter filter = cuckoo_filter::with_fpr(1000, 0.001);
  ASSERT_EQ(filter.insert(numbers(0, 500)), 500u);
  int copies = 0;
  while (copies < 20 && filter.insert("copy")) ++copies;
  EXPECT_EQ(copies, 8);
  EXPECT_EQ(filter.inserted_keys(), 508u);
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(filter.may_contain("copy"));
    EXPECT_TRUE(filter.remove("copy"));
  }
  EXPECT_FALSE(filter.may_contain("copy"));
  EXPECT_FALSE(filter.remove("copy"));
  EXPECT_EQ(filter.count_contained(numbers(0, 500)), 500u);
}

TEST(cuckoo, insert_new_is_a_set) {
  cuckoo_filter filter = cuckoo_filter::with_fpr(1000, 1e-6);
  EXPECT_TRUE(filter.insert_new("a"));
  EXPECT_FALSE(filter.insert_new("a"));
  EXPECT_TRUE(filter.remove("a"));
  EXPECT_TRUE(filter.insert_new("a"));
}

TEST(cuckoo, reports_the_removal_of_a_stranger) {
  cuckoo_filter filter = cuckoo_filter::with_fpr(1000, 1e-6);
  ASSERT_EQ(filter.insert(numbers(0, 1000)), 1000u);
  std::vector<std::uint8_t> answers(bitmap_bytes(2000), 0xFF);
  EXPECT_EQ(filter.remove(numbers(5000, 2000), answers), 0u);
  EXPECT_TRUE(std::all_of(answers.begin(), answers.end(), [](auto byte) { return byte == 0; }));
  EXPECT_EQ(filter.count_contained(numbers(0, 1000)), 1000u);
}

TEST(cuckoo, misses_nothing_in_ten_million_random_steps) {
  cuckoo_filter filter = cuckoo_filter::with_fpr(20'000, 0.01);
  // Few copies of a key, and a universe so large that strangers rarely share buckets and
  // fingerprint: eight such fit.
  family::run_multiset(filter, 10'000'000 / family::slowdown, 100'000, 20'000, 2, 4);
  EXPECT_EQ(filter.inserted_keys(), 0u);
}

TEST(cuckoo, batches_do_what_single_keys_do) {
  for (const std::uint32_t bits : {8u, 11u, 19u}) {
    cuckoo_filter one(cuckoo_plan_with_lines(300, bits));
    cuckoo_filter many(cuckoo_plan_with_lines(300, bits));
    std::uint64_t taken = 0;
    const auto keys = numbers(0, 100'000);
    while (one.insert(keys[taken])) ++taken;
    EXPECT_EQ(many.insert(keys), taken);
    const family::scratch_file a;
    const family::scratch_file b;
    one.save(a.path());
    many.save(b.path());
    EXPECT_TRUE(family::read_file(a.path()) == family::read_file(b.path()));
    std::vector<std::uint8_t> answers(bitmap_bytes(keys.size()));
    (void)many.may_contain(keys, answers);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(bitmap_get(answers.data(), i), one.may_contain(keys[i]));
    }
  }
}

TEST(cuckoo, refuses_sizes_out_of_range) {
  const auto code = error_code::invalid_argument;
  family::expect_error(code, "at least 1 key", [] { (void)cuckoo_plan_for(0, 0.1); });
  family::expect_error(code, "target rate", [] { (void)cuckoo_plan_for(10, 1); });
  family::expect_error(code, "target rate",
                       [] { (void)cuckoo_plan_for(10, family::not_a_number); });
  family::expect_error(code, "2^32 buckets",
                       [] { (void)cuckoo_plan_for(1'000'000'000'000'000'000, 0.1); });
  family::expect_error(code, "8 to 32", [] { (void)cuckoo_plan_with_lines(1, 7); });
  family::expect_error(code, "8 to 32", [] { (void)cuckoo_plan_with_lines(1, 33); });
  family::expect_error(code, "1 to 2^32", [] { (void)cuckoo_plan_with_lines(0, 8); });
  family::expect_error(code, "1 to 2^32", [] { (void)cuckoo_plan_with_lines(1ul << 31, 8); });
  family::expect_error(code, "8 to 32", [] { cuckoo_filter{cuckoo_plan{}}; });
}

// ---- files
// ---------------------------------------------------------------------------------------

cuckoo_filter golden_cuckoo() {
  cuckoo_plan plan = cuckoo_plan_with_lines(4, 10);
  plan.expected_keys = 180;
  plan.target_fpr = 0.01;
  cuckoo_filter filter(plan, {.seed = 5});
  EXPECT_EQ(filter.insert(numbers(0, 180)), 180u);
  for (std::uint64_t key = 0; key < 180; key += 3) EXPECT_TRUE(filter.remove(key));
  return filter;
}

TEST(cuckoo_file, is_what_the_oracle_says) {
  const family::scratch_file file;
  golden_cuckoo().save(file.path());
  EXPECT_TRUE(family::read_file(file.path()) == family::read_file(family::golden("cuckoo")));
  cuckoo_filter::load(family::golden("cuckoo")).save(file.path());
  EXPECT_TRUE(family::read_file(file.path()) == family::read_file(family::golden("cuckoo")));
}

TEST(cuckoo_file, damaged_anywhere_is_refused) {
  family::expect_every_damage_refused(
      family::read_file(family::golden("cuckoo")),
      [](const std::string& path) { (void)cuckoo_filter::load(path); });
}

TEST(cuckoo_file, judges_its_header_and_its_slots) {
  const std::string bytes = family::read_file(family::golden("cuckoo"));
  const family::scratch_file file;
  const auto expect_refused = [&](std::size_t at, int value, const std::string& part) {
    file.write(family::forged(bytes, [&](std::string& b) { b[at] = static_cast<char>(value); }));
    family::expect_error(error_code::bad_file, part,
                         [&] { (void)cuckoo_filter::load(file.path()); });
  };
  expect_refused(12, 1, "layout id is 1, expected 2 (cuckoo)");
  expect_refused(13, 7, "k is 7, expected 8 to 32");
  expect_refused(13, 33, "k is 33");
  expect_refused(16, 5, "body size is 256, expected 320");
  expect_refused(32, 119, "the header tells of");
  expect_refused(32, -63, "193 keys in 192 slots");
  expect_refused(128 + 63, -128, "does not hold the keys");  // behind the last bucket of a line
  family::expect_error(error_code::bad_file, "holds a cuckoo filter, not a plain one",
                       [] { (void)filter::load(family::golden("cuckoo")); });
}

TEST(cuckoo_file, refuses_every_bit_behind_the_last_bucket_of_a_line) {
  const family::scratch_file file;
  unsigned refused = 0;
  for (unsigned bits = 8; bits <= 32; ++bits) {
    cuckoo_filter(cuckoo_plan_with_lines(2, bits)).save(file.path());
    const std::string empty = family::read_file(file.path());
    for (unsigned bit = 512 / (4 * bits) * 4 * bits; bit < 512; ++bit, ++refused) {
      SCOPED_TRACE(testing::Message() << bits << " bits a fingerprint, bit " << bit);
      file.write(family::forged(empty, [&](std::string& b) {
        b[128 + 64 + bit / 8] = static_cast<char>(1u << bit % 8);
      }));
      family::expect_error(error_code::bad_file, "does not hold the keys",
                           [&] { (void)cuckoo_filter::load(file.path()); });
    }
  }
  EXPECT_EQ(refused, 828u);
}

}  // namespace
