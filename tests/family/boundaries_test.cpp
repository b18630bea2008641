// Constructors refuse what files refuse, and the other way round: at every boundary of every
// argument, a filter is refused at once, or saves, loads and saves as the same bytes.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <octobloom/octobloom.h>

#include "helpers.h"

namespace {

using namespace octobloom;
using namespace std::chrono_literals;

constexpr auto infinity = std::numeric_limits<double>::infinity();
constexpr auto most = std::numeric_limits<std::uint64_t>::max();
constexpr auto no_hashing = static_cast<key_hashing>(2);

/// Makes a filter, saves it as the first file, loads that, and saves it as the second.
using round_trip = std::function<void(const std::string& first, const std::string& second)>;

template <class Filter>
void go_round(Filter filter, const std::string& first, const std::string& second) {
  if (filter.hashing() == key_hashing::caller) {
    constexpr std::array<std::uint64_t, 1> hash{0x0123456789ABCDEF};
    (void)filter.insert(key_batch::hashes(hash));
  } else {
    (void)filter.insert(std::uint64_t{7});
  }
  filter.save(first);
  Filter::load(first).save(second);
}

struct boundary {
  std::string name;
  bool stands;  // otherwise refused
  round_trip go;
};

class table {
 public:
  template <class Make>
  void add(const std::string& name, bool stands, Make make) {
    rows_.push_back({name, stands, [make](const std::string& first, const std::string& second) {
                       go_round(make(), first, second);
                     }});
  }
  [[nodiscard]] const std::vector<boundary>& rows() const { return rows_; }

 private:
  std::vector<boundary> rows_;
};

/// A plan that somebody made by hand.
plan by_hand(double target_fpr, std::uint32_t blocks = 3, std::uint32_t k = 5) {
  plan p;
  p.expected_keys = most;
  p.target_fpr = target_fpr;
  p.blocks = blocks;
  p.k = k;
  return p;
}

cuckoo_plan cuckoo_by_hand(double target_fpr, std::uint32_t lines = 3, std::uint32_t bits = 9) {
  cuckoo_plan p;
  p.expected_keys = most;
  p.target_fpr = target_fpr;
  p.lines = lines;
  p.fingerprint_bits = bits;
  return p;
}

/// Those that are made of a plan and options.
template <class Filter, class MakePlan>
void add_planned(table& rows, const std::string& kind, MakePlan make_plan) {
  for (const auto& [target, stands] : {std::pair{0.0, true},
                                       {-0.0, false},
                                       {5e-324, true},
                                       {std::nextafter(1.0, 0.0), true},
                                       {1.0, false},
                                       {-1e-9, false},
                                       {family::not_a_number, false},
                                       {infinity, false}}) {
    rows.add(kind + " target " + std::to_string(target) + (std::signbit(target) ? " -" : ""),
             stands, [=] { return Filter(make_plan(target)); });
  }
  rows.add(kind + " caller's hashes", true,
           [=] { return Filter(make_plan(0.1), {.seed = most, .hashing = key_hashing::caller}); });
  rows.add(kind + " hash of no kind", false,
           [=] { return Filter(make_plan(0.1), {.hashing = no_hashing}); });
}

void add_growing(table& rows) {
  const auto add = [&](const std::string& name, bool stands, std::uint64_t keys, double target,
                       const growing_options& options = {}) {
    rows.add("growing " + name, stands, [=] { return growing_filter(keys, target, options); });
  };
  add("0 keys", false, 0, 0.1);
  add("1 key", true, 1, 0.1);
  add("2^64 - 1 keys", false, most, 0.1);
  for (const double target :
       {0.0, -0.0, 1e-8, std::nextafter(2e-8, 0.0), 1.0, -1.0, infinity, family::not_a_number}) {
    add("target " + std::to_string(target), false, 10, target);
  }
  add("target 2e-8", true, 10, 2e-8);
  add("target below 1", true, 10, std::nextafter(1.0, 0.0));
  add("growth 1", false, 10, 0.1, {.growth = 1});
  add("growth 2", true, 10, 0.1, {.growth = 2});
  add("growth 16", true, 10, 0.1, {.growth = 16});
  add("growth 17", false, 10, 0.1, {.growth = 17});
  add("grow_at 0.1", true, 1, 0.1, {.grow_at = 0.1});
  add("grow_at below 0.1", false, 10, 0.1, {.grow_at = std::nextafter(0.1, 0.0)});
  add("grow_at above 1", false, 10, 0.1, {.grow_at = std::nextafter(1.0, 2.0)});
  add("grow_at not a number", false, 10, 0.1, {.grow_at = family::not_a_number});
  add("no spare blocks", true, 10, 0.1, {.spare_blocks = 0});
  add("most spare blocks", false, 10, 0.1, {.spare_blocks = 0xFFFFFFFF});  // out_of_memory
  add("caller's hashes", true, 10, 0.1, {.seed = most, .hashing = key_hashing::caller});
  add("hash of no kind", false, 10, 0.1, {.hashing = no_hashing});
  const auto from_plain = [&](const std::string& name, bool stands, std::uint64_t keys,
                              double target, double whole) {
    rows.add("growing from a plain one, " + name, stands,
             [=] { return growing_filter(filter::with_fpr(keys, target), whole); });
  };
  from_plain("half of the rate", true, 10, 0.05, 0.1);
  from_plain("1e-8 of 2e-8", true, 10, 1e-8, 2e-8);
  from_plain("1e-8 of less than 2e-8", false, 10, 1e-8, std::nextafter(2e-8, 0.0));
  from_plain("all of the rate", false, 10, 0.1, 0.1);
}

void add_windows(table& rows) {
  const auto events = [&](const std::string& name, bool stands, std::uint64_t window, double target,
                          const window_options& options = {}) {
    rows.add("events " + name, stands,
             [=] { return windowed_filter::last_events(window, target, options); });
  };
  const auto time = [&](const std::string& name, bool stands, std::chrono::nanoseconds window,
                        std::uint64_t keys, double target, const window_options& options = {},
                        const window_clock& clock = system_time) {
    rows.add("time " + name, stands,
             [=] { return windowed_filter::last_duration(window, keys, target, options, clock); });
  };
  events("0", false, 0, 0.1);
  events("1", true, 1, 0.1);
  events("1 in 64 parts", true, 1, 0.1, {.parts = 64});
  events("2^64 - 1", false, most, 0.1);
  time("0 keys", false, 10s, 0, 0.1);
  time("1 key", true, 10s, 1, 0.1);
  time("2^64 - 1 keys", false, 10s, most, 0.1);
  time("0 ns", false, 0ns, 10, 0.1);
  time("-1 ns", false, -1ns, 10, 0.1);
  time("less than 1 ns a part", false, 3ns, 10, 0.1);
  time("1 ns a part", true, 4ns, 10, 0.1);
  time("100 years", true, 24h * 366 * 100, 10, 0.1);
  time("more than 100 years", false, 24h * 366 * 100 + 1ns, 10, 0.1);
  for (const std::uint32_t parts : {0u, 1u, 64u, 65u, 0xFFFFFFFFu}) {
    const bool stands = parts >= 1 && parts <= 64;
    events(std::to_string(parts) + " parts", stands, 100, 0.1, {.parts = parts});
    time(std::to_string(parts) + " parts", stands, 100s, 100, 0.1, {.parts = parts});
  }
  for (const double target : {0.0, -0.0, 1e-8, 1.0, -1.0, infinity, family::not_a_number}) {
    events("target " + std::to_string(target), false, 100, target);
    time("target " + std::to_string(target), false, 10s, 100, target);
  }
  events("target 5e-8", true, 100, 5.0000001e-8);
  events("target below 5e-8", false, 100, 4.9999999e-8);
  time("target 1e-7", true, 10s, 100, 1.0000001e-7);
  time("target below 1e-7", false, 10s, 100, 0.9999999e-7);
  events("target below 1", true, 100, std::nextafter(1.0, 0.0));
  time("target below 1", true, 10s, 100, std::nextafter(1.0, 0.0));
  events("caller's hashes", true, 100, 0.1, {.seed = most, .hashing = key_hashing::caller});
  time("caller's hashes", true, 10s, 100, 0.1, {.seed = most, .hashing = key_hashing::caller});
  events("hash of no kind", false, 100, 0.1, {.hashing = no_hashing});
  time("hash of no kind", false, 10s, 100, 0.1, {.hashing = no_hashing});
  time("without a clock", false, 10s, 100, 0.1, {}, {});
  time("before 1970", false, 10ns, 50, 0.1, {}, [] { return -1ns; });
  time("long before 1970", false, 10ns, 50, 0.1, {},
       [] { return std::chrono::nanoseconds::min(); });
  time("at the start of 1970", true, 10ns, 50, 0.1, {}, [] { return 0ns; });
  time("at the end of time", true, 10ns, 50, 0.1, {},
       [] { return std::chrono::nanoseconds::max(); });
  time("100 years at the end of time", true, 24h * 366 * 100, 50, 0.1, {.parts = 1},
       [] { return std::chrono::nanoseconds::max(); });
}

TEST(boundaries, what_can_be_made_can_be_saved_and_loaded) {
  table rows;
  add_planned<filter>(rows, "plain", [](double target) { return by_hand(target); });
  add_planned<counting_filter>(rows, "counting", [](double target) { return by_hand(target); });
  add_planned<cuckoo_filter>(rows, "cuckoo", [](double target) { return cuckoo_by_hand(target); });
  rows.add("plain without blocks", false, [] { return filter(by_hand(0.1, 0)); });
  rows.add("plain with k 0", false, [] { return filter(by_hand(0.1, 1, 0)); });
  rows.add("plain with k 24", true, [] { return filter(by_hand(0.1, 1, 24)); });
  rows.add("plain with k 25", false, [] { return filter(by_hand(0.1, 1, 25)); });
  rows.add("counting with k 25", false, [] { return counting_filter(by_hand(0.1, 1, 25)); });
  rows.add("cuckoo without lines", false, [] { return cuckoo_filter(cuckoo_by_hand(0.1, 0)); });
  for (const std::uint32_t bits : {7u, 8u, 32u, 33u}) {
    rows.add("cuckoo of " + std::to_string(bits) + " bits", bits == 8 || bits == 32,
             [=] { return cuckoo_filter(cuckoo_by_hand(0.1, 1, bits)); });
  }
  rows.add("cuckoo of 2^32 buckets", false,
           [] { return cuckoo_filter(cuckoo_by_hand(0.1, 1u << 28, 8)); });
  // A shared filter has no file of its own.
  for (const double target : {0.0, -0.0, 1.0, family::not_a_number}) {
    rows.add("shared target " + std::to_string(target), target == 0 && !std::signbit(target), [=] {
      shared_filter shared(by_hand(target));
      return shared.snapshot();
    });
  }
  add_growing(rows);
  add_windows(rows);

  const family::scratch_file first;
  const family::scratch_file second;
  std::size_t stood = 0;
  for (const boundary& row : rows.rows()) {
    const auto [code, text] = family::error_of([&] { row.go(first.path(), second.path()); });
    if (row.stands) {
      EXPECT_EQ(text, "no error") << row.name;
      EXPECT_TRUE(family::read_file(first.path()) == family::read_file(second.path())) << row.name;
      ++stood;
    } else {
      EXPECT_TRUE(code == error_code::invalid_argument || code == error_code::out_of_memory)
          << row.name << ": " << text;
    }
  }
  EXPECT_GE(stood, 40u);
  EXPECT_GE(rows.rows().size() - stood, 70u);
}

}  // namespace
