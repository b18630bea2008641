#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include <octobloom/octobloom.h>

#include "helpers.h"

namespace {

using namespace octobloom;
using namespace std::chrono_literals;
using family::numbers;

/// A clock that stands until it is told.
struct hand_clock {
  std::chrono::nanoseconds now = 1'000'000s;
  window_clock face() {
    return [this] { return now; };
  }
};

TEST(windowed, by_events_always_sees_the_window_and_forgets_at_most_one_part_later) {
  std::mt19937_64 random(3);
  for (const std::uint32_t parts : {1u, 4u, 7u}) {
    constexpr std::uint64_t window = 1000;
    const std::uint64_t part = (window + parts - 1) / parts;
    auto filter = windowed_filter::last_events(window, 1e-6, {.parts = parts});
    std::unordered_map<std::uint64_t, std::uint64_t> last;
    std::uint64_t in_between = 0;
    for (std::uint64_t event = 0; event < 60'000; ++event) {
      const std::uint64_t key = random() % 1500;
      const auto known = last.find(key);
      // Between the two, the ring may turn and forget.
      const bool seen = filter.may_contain(key);
      const bool is_new = filter.insert_new(key);
      ASSERT_TRUE(seen || is_new);
      if (known != last.end()) {
        const std::uint64_t age = event - known->second;
        if (age <= window) {
          ASSERT_TRUE(seen) << age;
          ASSERT_FALSE(is_new) << age;
        } else if (age > window + 2 * part) {
          ASSERT_FALSE(seen) << age;
        } else {
          in_between += seen ? 1u : 0u;
        }
      } else {
        ASSERT_FALSE(seen);
      }
      last[key] = event;
    }
    EXPECT_GT(in_between, 0u);
  }
}

TEST(windowed, the_edge_is_where_it_is_said_to_be) {
  // Every event its own key, so the age of the oldest one that is seen shows the edge.
  auto filter = windowed_filter::last_events(1000, 1e-7, {.parts = 4});
  std::uint64_t youngest_end = 10'000;
  std::uint64_t oldest_end = 0;
  for (std::uint64_t event = 0; event < 5000; ++event) {
    filter.insert(event);
    if (event < 2000) continue;
    std::uint64_t age = 0;
    while (filter.may_contain(event - age)) ++age;  // the first age that is forgotten
    youngest_end = std::min(youngest_end, age);
    oldest_end = std::max(oldest_end, age);
  }
  EXPECT_EQ(youngest_end, 1001u);
  EXPECT_EQ(oldest_end, 1250u);
}

TEST(windowed, holds_its_rate) {
  constexpr double target = 0.01;
  auto filter = windowed_filter::last_events(40'000, target);
  filter.insert(numbers(0, 150'000));
  const std::uint64_t probes = 2'000'000 / family::slowdown;
  const auto found =
      static_cast<double>(filter.count_contained(numbers(std::uint64_t{1} << 40, probes)));
  const double measured = found / static_cast<double>(probes);
  const double deviation = std::sqrt(target / static_cast<double>(probes));
  EXPECT_LE(measured, target + 3 * deviation);
  EXPECT_NEAR(measured, filter.current_fpr(), 6 * deviation);
  // The newest part may be nearly empty: then four of five shares are in use.
  EXPECT_GT(measured, target * 0.75);
  EXPECT_EQ(filter.count_contained(numbers(110'000, 40'000)), 40'000u);
}

TEST(windowed, batches_do_what_single_keys_do) {
  std::mt19937_64 random(17);
  std::vector<std::uint64_t> keys(100'000);
  for (auto& key : keys) key = random() % 3000;
  for (const std::size_t batch : {1ul, 77ul, 5000ul, 100'000ul}) {
    auto one = windowed_filter::last_events(1000, 0.05, {.parts = 3});
    auto many = windowed_filter::last_events(1000, 0.05, {.parts = 3});
    for (std::size_t first = 0; first < keys.size(); first += batch) {
      const std::size_t size = std::min(batch, keys.size() - first);
      const std::span part(keys.data() + first, size);
      std::vector<std::uint8_t> answers(bitmap_bytes(size), 0xFF);
      const std::uint64_t told = many.insert_new(part, answers);
      std::uint64_t fresh = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const bool is_new = one.insert_new(part[i]);
        ASSERT_EQ(is_new, bitmap_get(answers.data(), i)) << batch << " " << first + i;
        fresh += is_new ? 1u : 0u;
      }
      ASSERT_EQ(told, fresh);
    }
    EXPECT_EQ(one.held_keys(), many.held_keys());
    EXPECT_EQ(one.count_contained(numbers(0, 5000)), many.count_contained(numbers(0, 5000)));
  }
}

TEST(windowed, by_time_sees_the_last_seconds) {
  hand_clock clock;
  auto filter = windowed_filter::last_duration(10s, 1000, 1e-5, {.parts = 5}, clock.face());
  filter.insert("early");
  clock.now += 9999ms;
  EXPECT_TRUE(filter.may_contain("early"));
  clock.now += 1ms;
  EXPECT_TRUE(filter.may_contain("early"));
  filter.insert("later");
  clock.now += 1999ms;
  EXPECT_TRUE(filter.may_contain("early"));  // in between: up to a part longer
  clock.now += 1ms;
  EXPECT_FALSE(filter.may_contain("early"));  // asking is enough: nothing was inserted meanwhile
  EXPECT_TRUE(filter.may_contain("later"));
  EXPECT_EQ(filter.held_keys(), 1u);
  EXPECT_FALSE(filter.insert_new("later"));  // again: its time begins anew
  clock.now += 10s;
  EXPECT_TRUE(filter.may_contain("later"));
  clock.now += 3s;
  EXPECT_FALSE(filter.may_contain("later"));
  EXPECT_EQ(filter.count_contained(std::vector<std::string>{"early", "later"}), 0u);
  EXPECT_TRUE(filter.insert_new("later"));
}

TEST(windowed, by_time_against_an_exact_record) {
  hand_clock clock;
  std::mt19937_64 random(5);
  auto filter = windowed_filter::last_duration(1000us, 2000, 1e-6, {.parts = 4}, clock.face());
  std::unordered_map<std::uint64_t, std::chrono::nanoseconds> last;
  for (int step = 0; step < 100'000; ++step) {
    // Mostly short steps, at times longer than the window, at times backwards.
    const std::uint64_t dice = random() % 1000;
    clock.now += dice == 0 ? 3000us : dice == 1 ? -5us : std::chrono::nanoseconds(random() % 2000);
    const std::uint64_t key = random() % 3000;
    const auto known = last.find(key);
    const bool seen = filter.may_contain(key);
    ASSERT_EQ(filter.insert_new(key), !seen);
    if (known == last.end()) {
      ASSERT_FALSE(seen);
    } else if (clock.now - known->second <= 1000us) {
      ASSERT_TRUE(seen);
    } else if (clock.now - known->second >= 1260us) {
      ASSERT_FALSE(seen);
    }
    last[key] = clock.now;
  }
}

TEST(windowed, a_long_pause_and_a_clock_that_goes_back) {
  hand_clock clock;
  auto filter = windowed_filter::last_duration(8s, 100, 1e-4, {}, clock.face());
  filter.insert(numbers(0, 100));
  clock.now -= 1h;
  EXPECT_EQ(filter.count_contained(numbers(0, 100)), 100u);
  filter.insert(1000);
  clock.now += 24h * 365 * 50;
  EXPECT_FALSE(filter.may_contain(1000));
  EXPECT_EQ(filter.current_fpr(), 0);
  filter.insert(2000);
  EXPECT_EQ(filter.count_contained(numbers(0, 100)), 0u);
  clock.now += 8s;
  EXPECT_TRUE(filter.may_contain(2000));
}

TEST(windowed, by_the_machines_clock) {
  auto filter = windowed_filter::last_duration(1h, 100, 1e-4);
  EXPECT_TRUE(filter.insert_new("now"));
  EXPECT_TRUE(filter.may_contain("now"));
}

TEST(windowed, refuses_what_it_cannot_keep) {
  const auto code = error_code::invalid_argument;
  family::expect_error(code, "at least 1 key", [] { (void)windowed_filter::last_events(0, 0.01); });
  family::expect_error(code, "1 to 64 parts",
                       [] { (void)windowed_filter::last_events(10, 0.01, {.parts = 0}); });
  family::expect_error(code, "1 to 64 parts",
                       [] { (void)windowed_filter::last_events(10, 0.01, {.parts = 65}); });
  family::expect_error(code, "each share", [] { (void)windowed_filter::last_events(10, 4e-8); });
  family::expect_error(code, "target rate",
                       [] { (void)windowed_filter::last_events(10, family::not_a_number); });
  family::expect_error(code, "target rate", [] { (void)windowed_filter::last_events(10, 0); });
  family::expect_error(code, "nanosecond",
                       [] { (void)windowed_filter::last_duration(-1s, 10, 0.1); });
  family::expect_error(code, "nanosecond",
                       [] { (void)windowed_filter::last_duration(3ns, 10, 0.1); });
  family::expect_error(code, "100 years",
                       [] { (void)windowed_filter::last_duration(24h * 365 * 101, 10, 0.1); });
  family::expect_error(code, "at least 1 key",
                       [] { (void)windowed_filter::last_duration(1s, 0, 0.1); });
}

// ---- files
// ---------------------------------------------------------------------------------------

windowed_filter golden_windowed() {
  auto filter = windowed_filter::last_events(60, 0.1, {.seed = 1, .parts = 3});
  std::vector<std::uint8_t> answers(bitmap_bytes(333));
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 333; ++i) keys.push_back(i % 70);
  filter.insert_new(keys, answers);
  return filter;
}

TEST(windowed_file, is_what_the_oracle_says) {
  const family::scratch_file file;
  golden_windowed().save(file.path());
  EXPECT_TRUE(family::read_file(file.path()) == family::read_file(family::golden("windowed")));
  windowed_filter loaded = windowed_filter::load(family::golden("windowed"));
  loaded.save(file.path());
  EXPECT_TRUE(family::read_file(file.path()) == family::read_file(family::golden("windowed")));
  windowed_filter straight = golden_windowed();
  for (std::uint64_t key = 0; key < 500; ++key) {
    ASSERT_EQ(loaded.insert_new(key % 90), straight.insert_new(key % 90));
  }
}

TEST(windowed_file, keeps_time) {
  const family::scratch_file file;
  hand_clock clock;
  auto filter = windowed_filter::last_duration(10s, 100, 1e-4, {}, clock.face());
  filter.insert("one");
  clock.now += 6s;
  filter.insert("two");
  filter.save(file.path());
  clock.now += 10s;
  const auto loaded = windowed_filter::load(file.path(), {}, clock.face());
  EXPECT_FALSE(loaded.may_contain("one"));
  EXPECT_TRUE(loaded.may_contain("two"));
  EXPECT_TRUE(loaded.by_time());
  EXPECT_EQ(loaded.window(), 10'000'000'000u);
}

TEST(windowed_file, damaged_anywhere_is_refused) {
  family::expect_every_damage_refused(
      family::read_file(family::golden("windowed")),
      [](const std::string& path) { (void)windowed_filter::load(path); });
}

TEST(windowed_file, judges_every_field_of_its_table) {
  const std::string bytes = family::read_file(family::golden("windowed"));
  const family::scratch_file file;
  const auto expect_refused = [&](std::size_t at, char value, const std::string& part) {
    file.write(family::forged(bytes, [&](std::string& b) { b[128 + at] = value; }));
    family::expect_error(error_code::bad_file, part,
                         [&] { (void)windowed_filter::load(file.path()); });
  };
  expect_refused(0, 0, "number of parts is 0");
  expect_refused(0, 65, "number of parts is 65");
  expect_refused(0, 2, "parts make");
  expect_refused(8, 2, "way of counting is 2");
  expect_refused(8, 1, "events of the newest part");
  expect_refused(16, 0, "window is 0");
  expect_refused(16, 61, "planned keys is 60, expected 61");
  expect_refused(24, 4, "newest part is 4");
  expect_refused(32, 21, "events of the newest part is 21");
  expect_refused(47, 1, "start of the newest part");
  expect_refused(48, 1, "reserved");
  expect_refused(64, 21, "keys of a part is 21");
  expect_refused(72, 1, "reserved");
}

}  // namespace
