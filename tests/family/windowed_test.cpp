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
  EXPECT_TRUE(filter.may_contain("early"));  // just a window ago
  filter.insert("later");
  clock.now += 1ns;
  EXPECT_FALSE(filter.may_contain("early"));  // asking is enough: nothing was inserted meanwhile
  EXPECT_TRUE(filter.may_contain("later"));
  EXPECT_EQ(filter.held_keys(), 1u);
  EXPECT_EQ(filter.layers().size(), 2u);
  clock.now += 9s;
  EXPECT_FALSE(filter.insert_new("later"));  // again: its time begins anew
  clock.now += 10s;
  EXPECT_TRUE(filter.may_contain("later"));
  clock.now += 1ns;
  EXPECT_FALSE(filter.may_contain("later"));
  EXPECT_EQ(filter.count_contained(std::vector<std::string>{"early", "later"}), 0u);
  EXPECT_TRUE(filter.insert_new("later"));
}

TEST(windowed, by_time_against_an_exact_record) {
  for (const std::uint32_t parts : {1u, 4u, 7u}) {
    hand_clock clock;
    std::mt19937_64 random(5 + parts);
    const auto part = std::chrono::nanoseconds((1'000'000 + parts - 1) / parts);
    auto filter =
        windowed_filter::last_duration(1000us, 8000, 1e-6, {.parts = parts}, clock.face());
    // By the clock, and by the latest time that it has shown: while it is behind, a key counts as
    // of some time between the two.
    std::unordered_map<std::uint64_t, std::pair<std::chrono::nanoseconds, std::chrono::nanoseconds>>
        last;
    std::chrono::nanoseconds latest = clock.now;
    std::uint64_t lingering = 0;
    for (int step = 0; step < 100'000; ++step) {
      // Mostly short steps, at times none, at times longer than the window, at times backwards.
      const std::uint64_t dice = random() % 1000;
      clock.now += dice == 0   ? 3000us
                   : dice == 1 ? -150us
                   : dice < 20 ? 0us
                               : std::chrono::nanoseconds(random() % 2000);
      latest = std::max(latest, clock.now);
      const std::uint64_t key = random() % 3000;
      const auto known = last.find(key);
      const bool seen = filter.may_contain(key);
      ASSERT_EQ(filter.insert_new(key), !seen);
      if (known == last.end()) {
        ASSERT_FALSE(seen);
      } else if (latest - known->second.first <= 1000us) {
        ASSERT_TRUE(seen) << step;
      } else if (clock.now - known->second.second > 1000us + part) {
        ASSERT_FALSE(seen) << step;
      } else {
        lingering += seen ? 1u : 0u;
      }
      last[key] = {clock.now, latest};
      ASSERT_LE(filter.bytes(), filter.most_bytes());
    }
    EXPECT_GT(lingering, 0u);
    EXPECT_EQ(filter.restarts(), 0u);
  }
}

/// Measures the rate among strangers, holds it against what the bits say, and returns it.
double measured_rate(const windowed_filter& filter, double target) {
  const std::uint64_t probes =
      std::max<std::uint64_t>(1'000'000, static_cast<std::uint64_t>(20'000 / target)) /
      family::slowdown;
  const auto found =
      static_cast<double>(filter.count_contained(numbers(std::uint64_t{1} << 40, probes)));
  const double measured = found / static_cast<double>(probes);
  const double deviation = std::sqrt(target / static_cast<double>(probes));
  EXPECT_NEAR(measured, filter.current_fpr(), 6 * deviation);
  EXPECT_LE(measured, target + 4 * deviation);
  return measured;
}

TEST(windowed, a_burst_of_all_planned_keys_keeps_the_rate) {
  for (const double target : {0.01, 1e-3}) {
    for (const std::uint32_t parts : {1u, 4u}) {
      constexpr std::uint64_t count = 100'000;
      hand_clock clock;
      auto filter =
          windowed_filter::last_duration(600s, count, target, {.parts = parts}, clock.face());
      EXPECT_EQ(filter.bytes(), 0u);
      std::uint64_t from = 0;
      // In the middle of a part, then just when that is forgotten, and then across the border of
      // two parts.
      const auto part = std::chrono::nanoseconds(static_cast<std::int64_t>(filter.part_length()));
      clock.now = clock.now / part * part + part / 2;
      for (const auto pause : {0ns, std::chrono::nanoseconds(600s) + 1ns, 5 * part / 2 + 600s}) {
        clock.now += pause;
        EXPECT_EQ(filter.count_contained(numbers(0, from)), 0u);
        std::vector<std::uint8_t> fresh(bitmap_bytes(count));
        const std::uint64_t half = count / 2;
        const std::uint64_t told = filter.insert_new(numbers(from, half), fresh);
        clock.now += 1ns;
        const std::uint64_t then = filter.insert_new(numbers(from + half, half), fresh);
        EXPECT_GT(static_cast<double>(told + then), count * (1 - target));
        EXPECT_EQ(filter.count_contained(numbers(from, count)), count);
        // Eight of ten shares are in use at four parts, two of four at one.
        EXPECT_GT(measured_rate(filter, target), target * (parts == 1 ? 0.4 : 0.7));
        from += count;
      }
    }
  }
}

TEST(windowed, a_steady_flow_keeps_the_rate) {
  constexpr std::uint64_t count = 80'000;
  constexpr double target = 0.01;
  hand_clock clock;
  auto filter = windowed_filter::last_duration(80s, count, target, {}, clock.face());
  constexpr std::uint64_t step = 250;  // keys each quarter of a second
  double highest = 0;
  for (std::uint64_t from = 0; from < 4 * count; from += step) {
    filter.insert(numbers(from, step));
    if (from % (count / 10) == 0 && from >= count) {
      const double rate = filter.current_fpr();
      EXPECT_LE(rate, target * 1.02);
      highest = std::max(highest, rate);
      EXPECT_EQ(filter.count_contained(numbers(from + step - count, count)), count);
    }
    clock.now += 250ms;
  }
  EXPECT_GT(measured_rate(filter, target), target * 0.6);
  EXPECT_GT(highest, target * 0.7);
  EXPECT_GE(filter.layers().size(), 8u);
}

TEST(windowed, takes_at_most_2_6_times_the_memory_of_a_plain_filter) {
  for (const double target : {1e-2, 1e-4, 1e-6}) {
    constexpr std::uint64_t count = 200'000;
    hand_clock clock;
    auto filter = windowed_filter::last_duration(40s, count, target, {}, clock.face());
    const auto plain = static_cast<double>(plan_for(count, target).bytes());
    EXPECT_LE(static_cast<double>(filter.most_bytes()), 2.6 * plain);
    EXPECT_GE(static_cast<double>(filter.most_bytes()), 1.6 * plain);
    // The pattern that wastes most: parts have a little more than the shares of two layers. (A few
    // keys are lost to false positives.)
    constexpr std::uint64_t share = count / 8;
    const auto more = static_cast<std::uint64_t>(4 * target * share) + 10;
    std::uint64_t from = 0;
    for (const std::uint64_t keys :
         {share * 2 + more, share * 2 + more, share * 2 + more, share * 2 - 3 * more - 1}) {
      clock.now += 10s;
      filter.insert(numbers(from, keys));
      from += keys;
    }
    clock.now += 10s;
    filter.insert(numbers(from, 1));
    EXPECT_EQ(filter.layers().size(), 12u);
    EXPECT_LE(filter.current_fpr(), target * 1.02);
    filter.insert(numbers(from, share + more));
    EXPECT_EQ(filter.layers().size(), 13u);
    EXPECT_EQ(filter.bytes(), filter.most_bytes());
    // Far beyond its plan it gets no larger, and says so.
    filter.insert(numbers(from, 10 * count));
    EXPECT_EQ(filter.bytes(), filter.most_bytes());
    EXPECT_GT(filter.current_fpr(), 10 * target);
    EXPECT_EQ(filter.count_contained(numbers(0, from)), from);
    clock.now += 51s;
    filter.insert(1);
    EXPECT_EQ(filter.layers().size(), 1u);
  }
}

TEST(windowed, a_key_counts_once_a_part) {
  hand_clock clock;
  auto filter = windowed_filter::last_duration(40s, 800, 1e-6, {}, clock.face());
  for (int i = 0; i < 1000; ++i) {
    filter.insert(numbers(0, 150));
    clock.now += 1ms;
  }
  EXPECT_EQ(filter.held_keys(), 150u);
  EXPECT_EQ(filter.layers().size(), 2u);  // of 100 keys each
  clock.now += 10s;
  filter.insert(numbers(0, 150));
  EXPECT_EQ(filter.held_keys(), 300u);
  double estimate = 0;
  for (const octobloom::filter* layer : filter.answering_layers()) {
    estimate += layer->estimated_keys().value();
  }
  EXPECT_NEAR(estimate, 300, 30);
  EXPECT_EQ(filter.answering_layers().size(), 4u);
}

TEST(windowed, a_clock_that_falls_behind_by_less_than_the_window_loses_nothing) {
  hand_clock clock;  // at the start of a part
  auto filter = windowed_filter::last_duration(8s, 1000, 1e-6, {}, clock.face());
  filter.insert(numbers(0, 100));
  clock.now -= 8s - 1ns;
  EXPECT_EQ(filter.count_contained(numbers(0, 100)), 100u);
  filter.insert(numbers(200, 100));
  EXPECT_EQ(filter.restarts(), 0u);
  EXPECT_EQ(filter.count_contained(numbers(200, 100)), 100u);
  clock.now += 2 * 8s - 1ns;  // a window after the start of the part
  EXPECT_EQ(filter.count_contained(numbers(0, 100)), 100u);
  EXPECT_EQ(filter.count_contained(numbers(200, 100)), 100u);
  clock.now += 1ns;
  EXPECT_EQ(filter.count_contained(numbers(0, 300)), 0u);
}

TEST(windowed, a_clock_that_falls_behind_by_the_window_makes_it_start_anew) {
  hand_clock clock;
  auto filter = windowed_filter::last_duration(8s, 1000, 1e-6, {}, clock.face());
  filter.insert(numbers(0, 100));
  clock.now -= 8s;
  EXPECT_EQ(filter.count_contained(numbers(0, 100)), 0u);
  EXPECT_EQ(filter.current_fpr(), 0);
  EXPECT_EQ(filter.held_keys(), 0u);
  EXPECT_EQ(filter.restarts(), 0u);  // asking changes nothing
  std::vector<std::uint8_t> fresh(bitmap_bytes(100));
  EXPECT_EQ(filter.insert_new(numbers(50, 100), fresh), 100u);
  EXPECT_EQ(filter.restarts(), 1u);
  EXPECT_EQ(filter.held_keys(), 100u);
  const family::scratch_file file;
  filter.save(file.path());
  EXPECT_EQ(windowed_filter::load(file.path(), {}, clock.face()).restarts(), 1u);
  clock.now += 24h * 365 * 50;
  EXPECT_EQ(filter.count_contained(numbers(0, 200)), 0u);
  filter.clear();
  EXPECT_EQ(filter.restarts(), 0u);
}

TEST(windowed, a_day_after_a_clock_was_set_back_by_one) {
  hand_clock clock;
  auto filter = windowed_filter::last_duration(10min, 1000, 1e-6, {}, clock.face());
  std::uint64_t key = 0;
  const auto a_minute = [&] {
    std::vector<std::uint8_t> fresh(bitmap_bytes(50));
    const std::uint64_t told = filter.insert_new(numbers(key, 50), fresh);
    key += 50;
    clock.now += 1min;
    return told;
  };
  for (int minute = 0; minute < 60; ++minute) EXPECT_EQ(a_minute(), 50u);
  clock.now -= 24h;
  std::uint64_t told_new = 0;
  for (int minute = 0; minute < 24 * 60; ++minute) told_new += a_minute();
  EXPECT_GE(told_new, 71'990u);
  EXPECT_EQ(filter.restarts(), 1u);
  EXPECT_EQ(filter.count_contained(numbers(key - 500, 500)), 500u);
}

TEST(windowed, times_before_1970_are_refused) {
  const auto code = error_code::invalid_argument;
  hand_clock clock;
  clock.now = -1ns;
  family::expect_error(
      code, "1970", [&] { (void)windowed_filter::last_duration(10ns, 50, 0.1, {}, clock.face()); });
  family::expect_error(code, "needs a clock",
                       [&] { (void)windowed_filter::last_duration(10ns, 50, 0.1, {}, {}); });
  clock.now = 0ns;
  auto filter = windowed_filter::last_duration(10ns, 50, 0.1, {}, clock.face());
  filter.insert(5);
  const family::scratch_file file;
  filter.save(file.path());
  clock.now = -1ns;
  family::expect_error(code, "1970", [&] { filter.insert(1); });
  family::expect_error(code, "1970", [&] { filter.insert(numbers(0, 10)); });
  family::expect_error(code, "1970", [&] { (void)filter.may_contain(1); });
  family::expect_error(code, "1970", [&] { (void)filter.count_contained(numbers(0, 10)); });
  family::expect_error(code, "1970", [&] { (void)filter.current_fpr(); });
  family::expect_error(code, "1970",
                       [&] { (void)windowed_filter::load(file.path(), {}, clock.face()); });
  clock.now = std::chrono::nanoseconds::max();
  EXPECT_TRUE(filter.insert_new(1));
  EXPECT_TRUE(filter.may_contain(1));
  filter.save(file.path());
  EXPECT_TRUE(windowed_filter::load(file.path(), {}, clock.face()).may_contain(1));
}

std::string bytes_of(const windowed_filter& filter) {
  const family::scratch_file file;
  filter.save(file.path());
  return family::read_file(file.path());
}

// Also far beyond the plan, when layers are united.
TEST(windowed, batches_by_time_do_what_single_keys_do) {
  std::mt19937_64 random(29);
  for (const std::uint64_t planned : {50u, 1000u, 20'000u}) {
    for (const std::size_t batch : {7ul, 300ul, 5000ul, 70'000ul}) {
      hand_clock clock;
      auto one = windowed_filter::last_duration(100s, planned, 0.2, {.parts = 3}, clock.face());
      auto many = windowed_filter::last_duration(100s, planned, 0.2, {.parts = 3}, clock.face());
      for (std::size_t first = 0; first < 140'000; first += batch) {
        std::vector<std::uint64_t> keys(batch);
        for (auto& key : keys) key = random() % 6000;
        std::vector<std::uint8_t> answers(bitmap_bytes(batch), 0xFF);
        const std::uint64_t told = many.insert_new(keys, answers);
        std::uint64_t fresh = 0;
        for (std::size_t i = 0; i < batch; ++i) {
          const bool is_new = one.insert_new(keys[i]);
          ASSERT_EQ(is_new, bitmap_get(answers.data(), i)) << batch << " " << first + i;
          fresh += is_new ? 1u : 0u;
        }
        ASSERT_EQ(told, fresh);
        clock.now += std::chrono::nanoseconds(random() % 100'000'000 * batch);
      }
      EXPECT_TRUE(bytes_of(one) == bytes_of(many)) << planned << " " << batch;
      EXPECT_EQ(one.count_contained(numbers(0, 7000)), many.count_contained(numbers(0, 7000)));
    }
  }
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

TEST(windowed_file, does_not_tell_when_the_filter_was_made) {
  hand_clock early;
  hand_clock late;
  late.now += 12'345'678'901ns;
  auto a = windowed_filter::last_duration(10s, 100, 1e-4, {}, early.face());
  auto b = windowed_filter::last_duration(10s, 100, 1e-4, {}, late.face());
  EXPECT_TRUE(bytes_of(a) == bytes_of(b));
  EXPECT_EQ(bytes_of(a).size(), 128u + 64u);  // no layers
  early.now = late.now;
  a.insert(numbers(0, 30));
  b.insert(numbers(0, 30));
  const std::string then = bytes_of(a);
  EXPECT_TRUE(then == bytes_of(b));
  early.now += 24h;
  EXPECT_TRUE(then == bytes_of(a));  // saving is no event
}

TEST(windowed_file, any_moment_has_the_same_future) {
  const family::scratch_file file;
  std::mt19937_64 random(31);
  hand_clock clock;
  auto straight = windowed_filter::last_duration(40s, 500, 0.01, {}, clock.face());
  auto saved = windowed_filter::last_duration(40s, 500, 0.01, {}, clock.face());
  for (int step = 0; step < 1500; ++step) {
    std::vector<std::uint64_t> keys(random() % 40);
    for (auto& key : keys) key = random() % 900;
    std::vector<std::uint8_t> a(bitmap_bytes(keys.size()));
    std::vector<std::uint8_t> b(bitmap_bytes(keys.size()));
    straight.insert_new(keys, a);
    saved.insert_new(keys, b);
    ASSERT_EQ(a, b) << step;
    clock.now += random() % 100 == 0 ? -50s : std::chrono::nanoseconds(random() % 3'000'000'000);
    saved.save(file.path());
    saved = windowed_filter::load(file.path(), {}, clock.face());
  }
  EXPECT_TRUE(bytes_of(straight) == bytes_of(saved));
  EXPECT_GT(saved.restarts(), 0u);
}

TEST(windowed, clear_makes_it_as_new) {
  hand_clock clock;
  auto by_events = windowed_filter::last_events(60, 0.1);
  auto by_time = windowed_filter::last_duration(10s, 100, 1e-4, {}, clock.face());
  const std::string new_by_events = bytes_of(by_events);
  const std::string new_by_time = bytes_of(by_time);
  by_events.insert(numbers(0, 1));
  by_events.clear();
  EXPECT_TRUE(bytes_of(by_events) == new_by_events);
  by_events.insert(numbers(0, 1000));
  by_time.insert(numbers(0, 1000));
  by_events.clear();
  by_time.clear();
  EXPECT_TRUE(bytes_of(by_events) == new_by_events);
  EXPECT_TRUE(bytes_of(by_time) == new_by_time);
}

// ---- merging
// -------------------------------------------------------------------------------------

struct two_windows {
  hand_clock clock;
  windowed_filter a = windowed_filter::last_duration(40s, 8000, 1e-5, {}, clock.face());
  windowed_filter b = windowed_filter::last_duration(40s, 8000, 1e-5, {}, clock.face());
};

TEST(windowed_merge, knows_what_either_has_seen_for_as_long) {
  two_windows w;
  std::mt19937_64 random(37);
  std::unordered_map<std::uint64_t, std::chrono::nanoseconds> last;
  for (int step = 0; step < 400; ++step) {
    for (auto* filter : {&w.a, &w.b}) {
      std::vector<std::uint64_t> keys(10);
      for (auto& key : keys) {
        key = random() % 20'000;
        last[key] = w.clock.now;
      }
      filter->insert(keys);
    }
    w.clock.now += 200ms;
  }
  const std::uint64_t inserted = w.a.inserted_keys() + w.b.inserted_keys();
  w.a.merge(w.b);
  EXPECT_EQ(w.a.inserted_keys(), inserted);
  for (int moment = 0; moment < 60; ++moment) {
    std::uint64_t lingering = 0;
    for (const auto& [key, time] : last) {
      const bool seen = w.a.may_contain(key);
      if (w.clock.now - time <= 40s) {
        ASSERT_TRUE(seen);
      } else {
        lingering += seen && w.clock.now - time > 50s ? 1u : 0u;
      }
    }
    EXPECT_LE(lingering, 5u);
    w.clock.now += 1s;
  }
}

TEST(windowed_merge, equals_one_window_where_layers_fit) {
  two_windows w;
  auto both = windowed_filter::last_duration(40s, 8000, 1e-5, {}, w.clock.face());
  for (std::uint64_t i = 0; i < 4; ++i) {
    w.a.insert(numbers(1000 * i, 300));
    w.b.insert(numbers(1000 * i + 500, 200));
    both.insert(numbers(1000 * i, 300));
    both.insert(numbers(1000 * i + 500, 200));
    w.clock.now += 10s;
  }
  w.a.merge(w.b);
  EXPECT_TRUE(bytes_of(w.a) == bytes_of(both));
  EXPECT_EQ(w.a.layers().size(), 4u);
}

TEST(windowed_merge, keeps_the_bound_on_layers) {
  two_windows w;
  w.a.insert(numbers(0, 8000));
  w.b.insert(numbers(10'000, 8000));
  EXPECT_EQ(w.a.layers().size(), 8u);
  w.a.merge(w.b);
  EXPECT_EQ(w.a.layers().size(), 13u);
  EXPECT_EQ(w.a.bytes(), w.a.most_bytes());
  EXPECT_EQ(w.a.held_keys(), 16'000u);
  EXPECT_EQ(w.a.count_contained(numbers(0, 8000)), 8000u);
  EXPECT_EQ(w.a.count_contained(numbers(10'000, 8000)), 8000u);
  const family::scratch_file file;
  w.a.save(file.path());
  EXPECT_TRUE(bytes_of(windowed_filter::load(file.path(), {}, w.clock.face())) == bytes_of(w.a));
  // The first three pairs, each of two full layers.
  EXPECT_EQ(w.a.layers()[0].bits.inserted_keys(), 2000u);
  EXPECT_EQ(w.a.layers()[2].bits.inserted_keys(), 2000u);
  EXPECT_EQ(w.a.layers()[3].bits.inserted_keys(), 1000u);
}

TEST(windowed_merge, drops_what_is_too_old_for_the_newer) {
  two_windows w;
  w.a.insert(numbers(0, 100));
  w.clock.now += 50s;
  w.b.insert(numbers(500, 100));
  w.b.merge(w.a);
  EXPECT_EQ(w.b.layers().size(), 1u);
  w.a.merge(w.b);
  EXPECT_EQ(w.a.layers().size(), 1u);
  EXPECT_EQ(w.a.count_contained(numbers(500, 100)), 100u);
  EXPECT_EQ(w.a.count_contained(numbers(0, 100)), 0u);
}

TEST(windowed_merge, with_itself_and_with_an_empty_one) {
  two_windows w;
  const std::string empty = bytes_of(w.a);
  w.a.merge(w.b);
  EXPECT_TRUE(bytes_of(w.a) == empty);
  w.b.insert(numbers(0, 3000));
  w.a.merge(w.b);
  EXPECT_TRUE(bytes_of(w.a) == bytes_of(w.b));
  w.a.merge(w.a);
  EXPECT_EQ(w.a.held_keys(), 6000u);
  EXPECT_EQ(w.a.count_contained(numbers(0, 3000)), 3000u);
  EXPECT_EQ(w.a.count_contained(numbers(5000, 3000)), 0u);
}

TEST(windowed_merge, refuses_what_does_not_fit_and_changes_nothing) {
  hand_clock clock;
  const auto make = [&](std::chrono::nanoseconds window, std::uint64_t keys, double rate,
                        const window_options& options) {
    auto filter = windowed_filter::last_duration(window, keys, rate, options, clock.face());
    filter.insert(numbers(0, 100));
    return filter;
  };
  auto target = make(10s, 1000, 0.01, {});
  const std::string before = bytes_of(target);
  const auto refused = [&](const std::string& part, const windowed_filter& other) {
    family::expect_error(error_code::mismatch, part, [&] { target.merge(other); });
    EXPECT_TRUE(bytes_of(target) == before);
  };
  refused("parts 4 against 5", make(10s, 1000, 0.01, {.parts = 5}));
  refused("window 10000000000 against 10000000001", make(10s + 1ns, 1000, 0.01, {}));
  refused("planned keys 1000 against 1001", make(10s, 1001, 0.01, {}));
  refused("target rate 0.01 against 0.011", make(10s, 1000, 0.011, {}));
  refused("seed 0 against 1", make(10s, 1000, 0.01, {.seed = 1}));
  auto ready = windowed_filter::last_duration(10s, 1000, 0.01, {.hashing = key_hashing::caller},
                                              clock.face());
  refused("hash id 1 against 0", ready);
  auto events = windowed_filter::last_events(1000, 0.01);
  family::expect_error(error_code::invalid_argument, "no common order",
                       [&] { target.merge(events); });
  auto more = windowed_filter::last_events(1000, 0.01);
  family::expect_error(error_code::invalid_argument, "no common order",
                       [&] { events.merge(more); });
  EXPECT_TRUE(bytes_of(target) == before);
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
  const auto expect_refused = [&](std::size_t at, int value, const std::string& part) {
    file.write(
        family::forged(bytes, [&](std::string& b) { b[128 + at] = static_cast<char>(value); }));
    family::expect_error(error_code::bad_file, part,
                         [&] { (void)windowed_filter::load(file.path()); });
  };
  expect_refused(0, 0, "number of parts is 0");
  expect_refused(0, 65, "number of parts is 65");
  expect_refused(0, 2, "number of layers is 4, expected 3");
  expect_refused(8, 2, "way of counting is 2");
  expect_refused(8, 1, "events of the newest part");
  expect_refused(16, 0, "window is 0");
  expect_refused(16, 61, "planned keys is 60, expected 61");
  expect_refused(31, 127, "part number of a layer");
  expect_refused(31, -1, "number of the newest part");
  expect_refused(32, 21, "events of the newest part is 21");
  expect_refused(32, 0, "events of the newest part is 0");
  expect_refused(40, 3, "number of layers is 3");
  expect_refused(48, 1, "number of restarts is 1");
  expect_refused(56, 1, "reserved");
  expect_refused(64, 17, "part number of a layer is 17, expected 13 to 16");
  expect_refused(64, 15, "not in the order");
  expect_refused(64 + 8, 21, "keys of a layer is 21");
  expect_refused(64 + 8, 0, "keys of a layer is 0");
  expect_refused(64 + 16, 1, "last time of a layer is 1");
  expect_refused(64 + 24, 1, "reserved");
}

TEST(windowed_file, judges_every_field_of_its_table_by_time) {
  hand_clock clock;
  clock.now = 1000ns;
  auto filter = windowed_filter::last_duration(99ns, 16, 0.1, {}, clock.face());
  filter.insert(numbers(0, 3));  // two layers of part 40, which has place 0
  clock.now = 1030ns;
  filter.insert(numbers(10, 1));  // part 41
  const std::string bytes = bytes_of(filter);
  const family::scratch_file file;
  const auto expect_refused = [&](std::size_t at, int value, const std::string& part) {
    file.write(
        family::forged(bytes, [&](std::string& b) { b[128 + at] = static_cast<char>(value); }));
    family::expect_error(error_code::bad_file, part,
                         [&] { (void)windowed_filter::load(file.path(), {}, clock.face()); });
  };
  EXPECT_EQ(bytes[128 + 24], 41);
  EXPECT_EQ(bytes[128 + 40], 3);
  expect_refused(16, 3, "window is 3, expected 4");
  expect_refused(31, 127, "number of the newest part");
  expect_refused(24, 45, "part number of a layer is 40, expected 41 to 45");
  expect_refused(24, 44, "older than the window");
  expect_refused(32, 1, "events of the newest part is 1");
  expect_refused(40, 14, "number of layers is 14, expected 0 to 13");
  expect_refused(40, 4, "longer than the body");
  expect_refused(40, 2, "parts make");
  file.write(family::forged(bytes, [&](std::string& b) {
    std::swap_ranges(b.begin() + 128 + 64, b.begin() + 128 + 128, b.begin() + 128 + 192);
  }));
  family::expect_error(error_code::bad_file, "not in the order",
                       [&] { (void)windowed_filter::load(file.path(), {}, clock.face()); });
  expect_refused(64 + 8, 0, "keys of a layer is 0");
  expect_refused(64 + 16, char(0xE7), "last time of a layer is 999, expected 1000 to 1024");
  expect_refused(64 + 17, 4, "last time of a layer is 1256, expected 1000 to 1024");
  expect_refused(64 + 24, 1, "reserved");
  family::expect_every_damage_refused(
      bytes, [&](const std::string& path) { (void)windowed_filter::load(path, {}, clock.face()); });
}

}  // namespace
