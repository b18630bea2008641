#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <octobloom/octobloom.h>

#include "helpers.h"

namespace {

using namespace octobloom;
using family::numbers;

std::vector<std::uint8_t> bits(std::size_t keys) {
  return std::vector<std::uint8_t>(bitmap_bytes(keys), 0xA5);
}

TEST(growing, holds_its_rate_from_1000_to_a_million_keys) {
  constexpr std::uint64_t count = 1'000'000;
  constexpr double target = 0.01;
  growing_filter grown(1000, target);
  grown.insert(numbers(0, count));

  std::uint64_t sizes = 0;
  for (const filter& level : grown.levels()) {
    std::cout << "level of " << level.planned_keys() << " keys at " << level.target_fpr() << ": "
              << level.inserted_keys() << " keys, " << level.bytes() << " bytes, k " << level.k()
              << '\n';
    EXPECT_LE(level.inserted_keys(), level.planned_keys());
    sizes += level.bytes();
  }
  EXPECT_EQ(sizes, grown.bytes());
  EXPECT_EQ(grown.levels().size(), 10u);

  const std::uint64_t probes = 10'000'000 / family::slowdown;
  const double found =
      static_cast<double>(grown.count_contained(numbers(std::uint64_t{1} << 40, probes)));
  const double measured = found / static_cast<double>(probes);
  const growing_statistics s = grown.statistics();
  const plan right = plan_for(count, target);
  std::cout << "rate: " << measured << " measured, " << s.current_fpr << " from the bits, "
            << s.expected_fpr << " expected; " << grown.bytes() << " bytes, a right-sized plain "
            << "filter's " << right.bytes() << " ("
            << static_cast<double>(grown.bytes()) / static_cast<double>(right.bytes())
            << " times)\n";
  const double deviation = std::sqrt(target / static_cast<double>(probes));
  EXPECT_LE(measured, target);
  EXPECT_NEAR(measured, s.current_fpr, 6 * deviation);
  // The first levels are of a few blocks, which no two sets of keys fill alike.
  EXPECT_NEAR(s.current_fpr, s.expected_fpr, 0.06 * s.expected_fpr);
  EXPECT_LT(grown.bytes(), 3 * right.bytes());
  EXPECT_EQ(grown.count_contained(numbers(0, count)), count);
  EXPECT_EQ(s.distinct_keys, grown.distinct_keys());
  EXPECT_LE(grown.distinct_keys(), count);
  EXPECT_GE(static_cast<double>(grown.distinct_keys()), count * (1 - target));
  EXPECT_EQ(grown.inserted_keys(), count);
}

TEST(growing, never_expects_more_than_its_target) {
  for (const double target : {0.5, 0.03, 1e-4, 1e-6}) {
    for (const double grow_at : {1.0, 0.7}) {
      growing_filter grown(50, target, {.grow_at = grow_at});
      for (std::uint64_t key = 0; key < 30'000; ++key) {
        const std::size_t levels = grown.levels().size();
        grown.insert(key);
        if (grown.levels().size() != levels || key % 997 == 0) {
          ASSERT_LE(grown.expected_fpr(), target) << key;
        }
      }
      EXPECT_GT(grown.levels().size(), 7u);
    }
  }
}

/// The highest rate, from the bits, that a filter has while it takes `count` keys, and the rate
/// that is expected then. The keys differ with the seed.
std::pair<double, double> highest_rate(growing_filter& grown, std::uint64_t count) {
  std::pair<double, double> highest;
  for (std::uint64_t inserted = 0; inserted < count;) {
    std::uint64_t room = grown.levels().back().planned_keys();
    room = std::min(std::max<std::uint64_t>(room, 1000), count - inserted);
    grown.insert(numbers(inserted, room));
    inserted += room;
    const growing_statistics s = grown.statistics();
    if (s.current_fpr > highest.first) highest = {s.current_fpr, s.expected_fpr};
  }
  return highest;
}

// What is expected holds for every single filter, too: not only on average over seeds.
TEST(growing, keeps_its_rate_with_every_seed) {
  constexpr std::uint64_t seeds = octobloom_test::trials(24, 3);
  for (const double target : {0.01, 1e-4, 1e-6}) {
    for (const std::uint64_t start : {1u, 100u, 1000u, 20'000u}) {
      double worst = 0;
      double sum = 0;
      double expected = 0;
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        growing_filter grown(start, target, {.seed = seed});
        const auto [rate, expected_then] = highest_rate(grown, start * 32);
        EXPECT_LE(rate, target) << "start " << start << ", seed " << seed;
        worst = std::max(worst, rate);
        sum += rate;
        expected += expected_then;
      }
      if (start >= 1000) {
        EXPECT_NEAR(sum / expected, 1, 0.2) << "start " << start << ", target " << target;
      }
      std::cout << "start " << start << ", target " << target << ": on average " << sum / seeds
                << ", expected " << expected / seeds << ", worst of " << seeds << ": " << worst
                << '\n';
    }
  }
}

TEST(growing, expects_the_losses_that_come) {
  constexpr std::uint64_t count = 200'000;
  growing_filter grown(1000, 0.05);
  grown.insert(numbers(0, count));
  const auto lost = static_cast<double>(count - grown.distinct_keys());
  EXPECT_NEAR(lost, grown.expected_lost(), 0.05 * lost + 6 * std::sqrt(lost));
}

TEST(growing, closes_levels_at_the_share_that_was_asked_for) {
  growing_filter grown(1000, 0.01, {.growth = 4, .grow_at = 0.7});
  grown.insert(numbers(0, 10'000));
  ASSERT_EQ(grown.levels().size(), 3u);
  EXPECT_EQ(grown.levels()[0].inserted_keys(), 700u);
  EXPECT_EQ(grown.levels()[1].inserted_keys(), 2800u);
  EXPECT_EQ(grown.levels()[2].planned_keys(), 16'000u);
}

TEST(growing, batches_do_what_single_keys_do) {
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> keys(150'000);
  for (auto& key : keys) key = random() % 40'000;
  for (const std::size_t batch : {1ul, 7ul, 1000ul, 65'536ul, 100'001ul, keys.size()}) {
    growing_filter one(100, 0.02);
    growing_filter many(100, 0.02);
    std::set<std::uint64_t> exact;
    for (std::size_t first = 0; first < keys.size(); first += batch) {
      const std::size_t size = std::min(batch, keys.size() - first);
      const std::span part(keys.data() + first, size);
      auto answers = bits(size);
      std::uint64_t fresh = 0;
      const std::uint64_t told = many.insert_new(part, answers);
      for (std::size_t i = 0; i < size; ++i) {
        const bool is_new = one.insert_new(part[i]);
        ASSERT_EQ(is_new, bitmap_get(answers.data(), i)) << batch << " " << first + i;
        fresh += is_new ? 1 : 0;
        ASSERT_TRUE(exact.insert(part[i]).second || !is_new);
      }
      ASSERT_EQ(told, fresh);
      if (size % 8 != 0) {
        ASSERT_EQ(answers.back() >> (size % 8), 0);
      }
    }
    ASSERT_EQ(one.levels().size(), many.levels().size());
    for (std::size_t i = 0; i < one.levels().size(); ++i) {
      const filter& a = one.levels()[i];
      const filter& b = many.levels()[i];
      ASSERT_EQ(a.inserted_keys(), b.inserted_keys());
      ASSERT_TRUE(std::equal(a.view().words(), a.view().words() + a.view().shape().word_count(),
                             b.view().words()));
    }
    EXPECT_EQ(one.inserted_keys(), many.inserted_keys());
  }
}

TEST(growing, probes_batches_as_single_keys) {
  growing_filter grown(64, 0.1);
  grown.insert(numbers(0, 5000));
  for (const std::size_t count : {0ul, 1ul, 9ul, 64ul, 70'001ul}) {
    const auto keys = numbers(3000, count);
    auto answers = bits(count);
    const std::uint64_t found = grown.may_contain(keys, answers);
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(bitmap_get(answers.data(), i), grown.may_contain(keys[i]));
      if (grown.may_contain(keys[i])) ++expected;
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(found, grown.count_contained(keys));
    if (count % 8 != 0) {
      EXPECT_EQ(answers.back() >> (count % 8), 0);
    }
  }
}

TEST(growing, takes_strings_and_the_callers_hashes) {
  growing_filter words(10, 0.01);
  const std::vector<std::string> keys{"a", "b", "", "a"};
  auto answers = bits(4);
  EXPECT_EQ(words.insert_new(keys, answers), 3u);
  EXPECT_EQ(answers[0], 0b0111);
  EXPECT_TRUE(words.may_contain("b"));
  EXPECT_FALSE(words.may_contain("c"));

  growing_filter hashes(10, 0.01, {.hashing = key_hashing::caller});
  hashes.insert_hash(key_hash("a"));
  EXPECT_TRUE(hashes.may_contain_hash(key_hash("a")));
  family::expect_error(error_code::wrong_key, "hashes", [&] { hashes.insert("a"); });
}

TEST(growing, goes_on_from_a_plain_filter) {
  constexpr std::uint64_t planned = 1'000;
  constexpr double target = 1e-3;
  filter first = filter::with_fpr(planned, 0.85 * target, {.seed = 7});
  auto fresh = bits(600);
  EXPECT_EQ(first.insert_new(numbers(0, 600), fresh), 600u);
  const std::uint64_t bytes = first.bytes();
  growing_filter grown(std::move(first), target, {.growth = 4});
  EXPECT_EQ(grown.seed(), 7u);
  EXPECT_EQ(grown.distinct_keys(), 600u);
  EXPECT_EQ(grown.inserted_keys(), 600u);
  EXPECT_EQ(grown.bytes(), bytes);
  grown.insert(numbers(600, 20'000));
  EXPECT_EQ(grown.count_contained(numbers(0, 20'600)), 20'600u);
  ASSERT_EQ(grown.levels().size(), 3u);
  EXPECT_EQ(grown.levels()[0].inserted_keys(), planned);
  EXPECT_EQ(grown.levels()[1].planned_keys(), 4 * planned);
  double rates = 0;
  for (const filter& level : grown.levels()) rates += level.target_fpr();
  EXPECT_LE(rates, target);
  EXPECT_LE(grown.expected_fpr(), target);
  // Half a million strangers: 500 at the target.
  EXPECT_LE(grown.count_contained(numbers(std::uint64_t{1} << 40, 500'000)), 500u + 5 * 23);

  EXPECT_THROW(growing_filter(filter::with_blocks(10, 5), target), error);
  EXPECT_THROW(growing_filter(filter::with_fpr(planned, target), target), error);
  EXPECT_THROW(growing_filter(filter::with_fpr(planned, target / 2), target, {.growth = 1}), error);
  filter too_full = filter::with_fpr(planned, target / 2);
  too_full.insert(numbers(0, planned + 1));
  EXPECT_THROW(growing_filter(std::move(too_full), target), error);
}

TEST(growing, says_full_when_the_rate_is_spent) {
  growing_filter grown(1, 2e-8);
  std::uint64_t key = 0;
  family::expect_error(error_code::full, "accept a higher rate", [&] {
    for (;; ++key) grown.insert(key);
  });
  EXPECT_EQ(grown.levels().size(), 2u);
  EXPECT_EQ(key, 3u);
  EXPECT_EQ(grown.inserted_keys(), 3u);
  EXPECT_TRUE(grown.may_contain(2));
  EXPECT_FALSE(grown.may_contain(3));
  EXPECT_LE(grown.expected_fpr(), 2e-8);

  growing_filter batch(1, 2e-8);
  family::expect_error(error_code::full, "2 levels", [&] { batch.insert(numbers(0, 100)); });
  EXPECT_EQ(batch.distinct_keys(), 3u);
}

TEST(growing, refuses_targets_with_which_it_could_not_grow) {
  EXPECT_EQ(min_growing_target_fpr, 2e-8);
  for (const double target : {1e-8, 1.9999999e-8, std::nextafter(2e-8, 0.0)}) {
    family::expect_error(error_code::invalid_argument, "Accept a rate of 2e-8 or more",
                         [&] { growing_filter(1000, target); });
  }
  growing_filter lowest(10, 2e-8);
  lowest.insert(numbers(0, 30));
  EXPECT_EQ(lowest.levels().size(), 2u);
}

TEST(growing, tells_how_many_keys_spend_its_rate) {
  for (const auto& [keys, target, options] :
       {std::tuple{1u, 2e-8, growing_options{}},
        {7u, 5e-8, growing_options{.growth = 3}},
        {20u, 1e-7, growing_options{.growth = 2, .grow_at = 0.7}}}) {
    growing_filter grown(keys, target, options);
    const std::uint64_t capacity = growing_capacity(keys, target, options);
    grown.insert(numbers(0, capacity));
    EXPECT_EQ(grown.distinct_keys(), capacity);
    EXPECT_EQ(family::error_of([&] { grown.insert(capacity); }).first, error_code::full);
  }
  // 23 levels, at a first one of 1,000 keys.
  EXPECT_EQ(growing_capacity(1000, 1e-6), 1000u * ((std::uint64_t{1} << 23) - 1));
  // Here the size of filters is the bound: levels of 1000 * 2^i keys up to 256 GiB.
  const std::uint64_t most = growing_capacity(1000, 0.01);
  EXPECT_EQ((most / 1000 + 1) & (most / 1000), 0u);
  EXPECT_GT(most, std::uint64_t{1} << 36);
  EXPECT_LT(most, std::uint64_t{1} << 39);
  family::expect_error(error_code::invalid_argument, "at least 1 key",
                       [] { (void)growing_capacity(0, 0.01); });
  family::expect_error(error_code::invalid_argument, "2 to 16",
                       [] { (void)growing_capacity(10, 0.01, {.growth = 1}); });
}

TEST(growing, has_23_levels_at_the_rate_of_dedup) {
  // Only the targets matter here: levels of one key each would need a replay of millions.
  double left = 1e-6;
  int levels = 0;
  for (double target = 0; (target = std::max(left * 0.15, min_target_fpr)) <= left; ++levels) {
    left -= target;
  }
  EXPECT_EQ(levels, 23);
}

TEST(growing, refuses_options_out_of_range) {
  const auto code = error_code::invalid_argument;
  family::expect_error(code, "2 to 16", [] { growing_filter(10, 0.1, {.growth = 1}); });
  family::expect_error(code, "2 to 16", [] { growing_filter(10, 0.1, {.growth = 17}); });
  family::expect_error(code, "0.1 to 1", [] { growing_filter(10, 0.1, {.grow_at = 1.5}); });
  family::expect_error(code, "0.1 to 1",
                       [] { growing_filter(10, 0.1, {.grow_at = family::not_a_number}); });
  family::expect_error(code, "at least 1 key", [] { growing_filter(0, 0.1); });
  family::expect_error(code, "target rate", [] { growing_filter(10, 1.0); });
  family::expect_error(code, "target rate", [] { growing_filter(10, family::not_a_number); });
}

TEST(growing, compacts_when_keys_can_be_replayed) {
  const auto keys = numbers(0, 20'000);
  growing_filter grown(100, 0.01);
  grown.insert(keys);
  const std::uint64_t before = grown.bytes();
  ASSERT_GT(grown.levels().size(), 5u);

  family::expect_error(error_code::invalid_argument, "the replay brought", [&] {
    grown.compact([&](growing_filter& twin) { twin.insert(numbers(0, 19'000)); });
  });
  EXPECT_THROW(grown.compact([](growing_filter&) { throw std::runtime_error("gone"); }),
               std::runtime_error);
  EXPECT_EQ(grown.bytes(), before);

  grown.compact([&](growing_filter& twin) { twin.insert(keys); });
  EXPECT_EQ(grown.levels().size(), 1u);
  EXPECT_LT(grown.bytes(), before);
  EXPECT_EQ(grown.count_contained(keys), keys.size());
  EXPECT_LE(grown.statistics().current_fpr, 0.01);
  grown.insert(numbers(50'000, 5000));
  EXPECT_EQ(grown.levels().size(), 2u);
}

TEST(growing, clears_to_its_first_level) {
  growing_filter grown(100, 0.01);
  grown.insert(numbers(0, 1000));
  grown.clear();
  EXPECT_EQ(grown.levels().size(), 1u);
  EXPECT_EQ(grown.distinct_keys(), 0u);
  EXPECT_EQ(grown.inserted_keys(), 0u);
  EXPECT_EQ(grown.count_contained(numbers(0, 1000)), 0u);
}

// ---- files
// ---------------------------------------------------------------------------------------

growing_filter golden_growing() {
  growing_filter grown(20, 0.05, {.seed = 3, .spare_blocks = 0});
  for (std::uint64_t i = 0; i < 400; ++i) grown.insert(i / 2);
  return grown;
}

growing_filter golden_growing_at_70() {
  growing_filter grown(25, 0.1, {.growth = 3, .grow_at = 0.7, .spare_blocks = 0});
  std::vector<std::string> users;
  for (int i = 0; i < 150; ++i) users.push_back("user" + std::to_string(i) + "@example.org");
  grown.insert(users);
  return grown;
}

TEST(growing_file, is_what_the_oracle_says) {
  const family::scratch_file file;
  golden_growing().save(file.path());
  EXPECT_TRUE(family::read_file(file.path()) == family::read_file(family::golden("growing")));
  golden_growing_at_70().save(file.path());
  EXPECT_TRUE(family::read_file(file.path()) == family::read_file(family::golden("growing-at-70")));
}

TEST(growing_file, comes_back) {
  const family::scratch_file file;
  growing_filter::load(family::golden("growing")).save(file.path());
  EXPECT_TRUE(family::read_file(file.path()) == family::read_file(family::golden("growing")));
}

TEST(growing_file, goes_on_as_if_never_saved) {
  const family::scratch_file file;
  growing_filter straight(20, 0.05);
  straight.insert(numbers(0, 200));
  straight.save(file.path());
  growing_filter loaded = growing_filter::load(file.path());
  auto answers = bits(500);
  const std::uint64_t fresh = loaded.insert_new(numbers(150, 500), answers);
  auto expected = bits(500);
  EXPECT_EQ(fresh, straight.insert_new(numbers(150, 500), expected));
  EXPECT_EQ(answers, expected);
  EXPECT_EQ(loaded.levels().size(), straight.levels().size());
  EXPECT_EQ(loaded.inserted_keys(), straight.inserted_keys());
  EXPECT_GT(loaded.levels().size(), 4u);
  for (std::size_t i = 0; i < loaded.levels().size(); ++i) {
    EXPECT_EQ(loaded.levels()[i].view().shape(), straight.levels()[i].view().shape()) << i;
  }
}

TEST(growing_file, keeps_its_spare_blocks) {
  const family::scratch_file file;
  for (const std::uint32_t spare : {0u, 1u, 1000u}) {
    growing_filter straight(20, 0.05, {.spare_blocks = spare});
    straight.insert(numbers(0, 30));
    straight.save(file.path());
    growing_filter loaded = growing_filter::load(file.path());
    EXPECT_EQ(loaded.options().spare_blocks, spare);
    straight.insert(numbers(30, 300));
    loaded.insert(numbers(30, 300));
    EXPECT_GT(loaded.levels().size(), 3u);
    straight.save(file.path());
    const std::string bytes = family::read_file(file.path());
    loaded.save(file.path());
    EXPECT_TRUE(family::read_file(file.path()) == bytes) << spare;
  }
}

TEST(growing_file, damaged_anywhere_is_refused) {
  const auto load = [](const std::string& path) { (void)growing_filter::load(path); };
  family::expect_every_damage_refused(family::read_file(family::golden("growing")), load);
}

TEST(growing_file, judges_every_field_of_its_table) {
  const std::string bytes = family::read_file(family::golden("growing"));
  const family::scratch_file file;
  const auto expect_refused = [&](std::size_t at, int value, const std::string& part) {
    file.write(
        family::forged(bytes, [&](std::string& b) { b[128 + at] = static_cast<char>(value); }));
    family::expect_error(error_code::bad_file, part,
                         [&] { (void)growing_filter::load(file.path()); });
  };
  expect_refused(0, 0, "number of levels is 0");
  expect_refused(7, 0x7F, "number of levels");
  expect_refused(0, 3, "level");
  expect_refused(0, 50, "keys of a level is 58, expected 160");
  expect_refused(8, 1, "growth is 1");
  expect_refused(8, 3, "planned keys of a level is 40, expected 60");
  expect_refused(23, 0x7F, "share at which a level is closed");
  expect_refused(28, 1, "number of spare blocks");
  expect_refused(32, 1, "reserved");
  expect_refused(64, 0, "block count of a level is 0");
  expect_refused(64 + 4, 1, "block count of a level");
  expect_refused(64, 99, "longer than the body");
  expect_refused(64, 2, "parts make");
  expect_refused(64 + 8, 25, "k of a level is 25");
  expect_refused(64 + 16, 21, "planned keys of a level");
  expect_refused(64 + 24, 21, "keys of a level is 21");
  expect_refused(64 + 39, 0, "target rate of a level");
  expect_refused(64 + 39, 0x3F + 1, "rates of the levels");
  expect_refused(64 + 40, 1, "reserved");
}

TEST(growing_file, is_not_taken_for_a_plain_one) {
  const std::string path = family::golden("growing");
  family::expect_error(error_code::bad_file, "holds a growing filter, not a plain one",
                       [&] { (void)filter::load(path); });
  family::expect_error(error_code::bad_file, "holds a growing filter, not a plain one",
                       [&] { octobloom_test::mapped_filter mapped(path); });
  family::expect_error(error_code::bad_file, "holds a plain filter, not a growing one",
                       [&] { (void)growing_filter::load(family::golden("one-block")); });
}

}  // namespace
