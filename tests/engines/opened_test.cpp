// Engines that hold filters between calls, by one that holds them in host memory of its own.

#include <octobloom/opened.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include <octobloom/octobloom.h>

#include "support.h"

namespace {

using namespace octobloom;
using octobloom_test::expect_error;

std::atomic<int> opened_so_far = 0;
std::atomic<int> brought_home = 0;
std::atomic<std::size_t> held_now = 0;
bool breaks = false;

class far_filter : public opened_filter {
 public:
  explicit far_filter(const const_filter_view& view)
      : shape_(view.shape()), words_(view.words(), view.words() + view.shape().word_count()) {
    ++opened_so_far;
    ++held_now;
  }
  ~far_filter() override { --held_now; }
  void insert(const key_batch& keys, const bulk_options& options) override {
    if (breaks) throw error(error_code::device, "the far engine broke");
    reference_engine().insert(view(), keys, options);
  }
  std::uint64_t may_contain(const key_batch& keys, std::uint8_t* bitmap,
                            const bulk_options& options) override {
    return reference_engine().may_contain(view(), keys, bitmap, options);
  }
  std::uint64_t insert_new(const key_batch& keys, std::uint8_t* bitmap,
                           const bulk_options& options) override {
    return reference_engine().insert_new(view(), keys, bitmap, options);
  }
  void copy_to(std::uint64_t* words) override {
    ++brought_home;
    std::memcpy(words, words_.data(), shape_.bytes());
  }

 private:
  [[nodiscard]] filter_view view() noexcept { return {words_.data(), shape_}; }

  filter_shape shape_;
  std::vector<std::uint64_t> words_;
};

std::string nothing_missing() {
  return {};
}

/// Calls of its own open the filter each time, as those of a device do.
const engine& far_engine() {
  static const engine row{
      .name = "far",
      .automatic = false,
      .why_unavailable = nothing_missing,
      .open = [](const const_filter_view& view) -> std::unique_ptr<opened_filter> {
        return std::make_unique<far_filter>(view);
      },
      .insert =
          [](const filter_view& view, const key_batch& keys, const bulk_options& options) {
            far_filter there(view);
            there.insert(keys, options);
            there.copy_to(view.words());
          },
      .may_contain =
          [](const const_filter_view& view, const key_batch& keys, std::uint8_t* bitmap,
             const bulk_options& options) {
            return far_filter(view).may_contain(keys, bitmap, options);
          },
      .insert_new =
          [](const filter_view& view, const key_batch& keys, std::uint8_t* bitmap,
             const bulk_options& options) {
            far_filter there(view);
            const std::uint64_t fresh = there.insert_new(keys, bitmap, options);
            there.copy_to(view.words());
            return fresh;
          },
      .cuckoo_may_contain = reference_engine().cuckoo_may_contain,
      .hash = reference_engine().hash};
  return row;
}

class Opened : public testing::Test {
 protected:
  void SetUp() override {
    opened_so_far = 0;
    brought_home = 0;
    breaks = false;
  }
};

std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = (first + i) * 0x9E3779B97F4A7C15u;
  return keys;
}

const plan some_plan = plan_for(20'000, 0.001);

TEST_F(Opened, AFilterGoesThereOnceAndComesBackOnce) {
  opened<filter> there(filter(some_plan), far_engine());
  filter here(some_plan);
  EXPECT_EQ(opened_so_far, 0);
  std::vector<std::uint8_t> answers(bitmap_bytes(1000));
  std::vector<std::uint8_t> expected(bitmap_bytes(1000));
  for (std::uint64_t call = 0; call < 20; ++call) {
    const std::vector<std::uint64_t> keys = keys_from(500 * call, 1000);
    EXPECT_EQ(there.insert_new(keys, answers), here.insert_new(keys, expected));
    EXPECT_EQ(answers, expected);
    EXPECT_EQ(there.may_contain(keys_from(500 * call + 800, 1000), answers),
              here.may_contain(keys_from(500 * call + 800, 1000), expected));
    EXPECT_EQ(answers, expected);
    there.insert(key_batch::integers(keys_from(1'000'000 + call, 30)));
    here.insert(key_batch::integers(keys_from(1'000'000 + call, 30)));
  }
  EXPECT_EQ(opened_so_far, 1);
  EXPECT_EQ(brought_home, 0);
  EXPECT_EQ(there.unsettled().inserted_keys(), here.inserted_keys());
  EXPECT_EQ(there.filter().to_bytes(), here.to_bytes());
  EXPECT_EQ(there.filter().to_bytes(), here.to_bytes());
  EXPECT_EQ(brought_home, 1);

  there.insert(keys_from(5'000'000, 10));
  here.insert(keys_from(5'000'000, 10));
  EXPECT_EQ(opened_so_far, 1) << "coming home does not end the stay";
  EXPECT_EQ(std::move(there).close().to_bytes(), here.to_bytes());
}

TEST_F(Opened, WhatIsWrittenAtHomeIsSeenThere) {
  opened<filter> there(filter(some_plan), far_engine());
  there.insert(keys_from(0, 10));
  there.home().insert(std::uint64_t{77});
  const std::vector<std::uint64_t> one{77};
  EXPECT_EQ(there.may_contain(key_batch::integers(one), nullptr), 1u);
  EXPECT_EQ(there.may_contain(key_batch::integers(keys_from(0, 10)), nullptr), 10u);
  EXPECT_EQ(opened_so_far, 2);
  there.home().clear();
  EXPECT_EQ(there.may_contain(key_batch::integers(keys_from(0, 10)), nullptr), 0u);
}

TEST_F(Opened, AMovedOneGoesOn) {
  opened<filter> first(filter(some_plan), far_engine());
  first.insert(keys_from(0, 100));
  opened<filter> second = std::move(first);
  second.insert(keys_from(100, 100));
  EXPECT_EQ(opened_so_far, 1);
  filter here(some_plan);
  here.insert(keys_from(0, 200));
  EXPECT_EQ(second.filter().to_bytes(), here.to_bytes());
}

TEST_F(Opened, ADeviceThatBreaksLeavesWhatLastCameHome) {
  opened<filter> there(filter(some_plan), far_engine());
  there.insert(keys_from(0, 100));
  const std::vector<std::byte> before = there.filter().to_bytes();
  breaks = true;
  expect_error(error_code::device, [&] { there.insert(keys_from(100, 100)); });
  breaks = false;
  EXPECT_EQ(there.may_contain(key_batch::integers(keys_from(0, 100)), nullptr), 100u);
  EXPECT_EQ(there.filter().to_bytes(), before);
}

TEST_F(Opened, AnEngineThatCannotRunIsRefusedAtOnce) {
  engine missing = far_engine();
  missing.why_unavailable = [] { return std::string("no far place"); };
  const error e = expect_error(error_code::engine_unavailable,
                               [&] { (void)opened<filter>(filter(some_plan), missing); });
  EXPECT_NE(std::string(e.what()).find("no far place"), std::string::npos);
}

TEST_F(Opened, OnTheCpuNothingIsHeld) {
  for (const engine* e : all_engines()) {
    if (!e->why_unavailable().empty() || e->open != nullptr) continue;
    opened<filter> one(filter(some_plan), *e);
    one.insert(keys_from(0, 100));
    EXPECT_EQ(one.unsettled().may_contain(keys_from(0, 1)[0]), true) << e->name;
    EXPECT_EQ(&one.engine(), e);
  }
}

TEST_F(Opened, EachCallOfAFilterOpensItOnce) {
  const bulk_options far{.engine = &far_engine()};
  filter one(some_plan);
  std::vector<std::uint32_t> narrow(50'000);  // several batches
  for (std::size_t i = 0; i < narrow.size(); ++i) narrow[i] = static_cast<std::uint32_t>(i);
  one.insert(narrow, far);
  EXPECT_EQ(opened_so_far, 1);
  EXPECT_EQ(brought_home, 1);
  EXPECT_EQ(one.count_contained(narrow, far), narrow.size());
  EXPECT_EQ(opened_so_far, 2);
  EXPECT_EQ(brought_home, 1);

  key_column column;
  column.type = column_type::uint32;
  column.rows = narrow.size();
  column.values = narrow.data();
  EXPECT_EQ(one.insert(column, far), narrow.size());
  EXPECT_EQ(one.may_contain(column, {}, far), narrow.size());
  EXPECT_EQ(opened_so_far, 4);
  EXPECT_EQ(brought_home, 2);

  filter here(some_plan);
  here.insert(narrow);
  here.insert(narrow);
  EXPECT_EQ(one.to_bytes(), here.to_bytes());
}

TEST_F(Opened, ACallThatThrowsOnItsWayBringsHomeWhatWasDone) {
  const bulk_options far{.engine = &far_engine()};
  growing_filter there(100, 2e-8, {.seed = 1});
  growing_filter here(100, 2e-8, {.seed = 1});
  const std::vector<std::uint64_t> keys = keys_from(0, 3000);
  std::uint64_t refused = 0;
  for (const auto& [one, options] : {std::pair(&there, far), std::pair(&here, bulk_options{})}) {
    try {
      one->insert(key_batch::integers(keys), options);
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::full);
      ++refused;
    }
  }
  EXPECT_EQ(refused, 2u) << "a filter that cannot grow so far";
  EXPECT_EQ(there.to_bytes(), here.to_bytes());
}

/// Rounds of all calls that `Filter` has, on the far engine and here.
template <class Filter>
void expect_same(
    Filter start_there, Filter here, const std::function<void()>& between = [] {}) {
  opened<Filter> there(std::move(start_there), far_engine());
  std::vector<std::uint8_t> answers(bitmap_bytes(3000));
  std::vector<std::uint8_t> expected(bitmap_bytes(3000));
  for (std::uint64_t round = 0; round < 25; ++round) {
    const std::vector<std::uint64_t> some = keys_from(700 * round, 3000);
    const key_batch keys = key_batch::integers(some);
    EXPECT_EQ(there.insert_new(keys, answers.data()), here.insert_new(keys, expected.data()));
    EXPECT_EQ(answers, expected);
    between();
    const std::vector<std::uint64_t> others = keys_from(650 * round, 3000);
    const key_batch asked = key_batch::integers(others);
    EXPECT_EQ(there.may_contain(asked, answers.data()), here.may_contain(asked, expected.data()));
    EXPECT_EQ(answers, expected);
    if constexpr (requires { here.remove(keys, answers.data()); }) {
      const key_batch first = keys.slice(0, 500);
      EXPECT_EQ(there.remove(first, answers.data()), here.remove(first, expected.data()));
      EXPECT_EQ(answers, expected);
    }
    (void)there.insert(asked.slice(0, 100));
    (void)here.insert(asked.slice(0, 100));
    if (round % 10 == 3) {
      EXPECT_EQ(there.filter().to_bytes(), here.to_bytes()) << "round " << round;
    }
    if constexpr (requires { here.layers(); }) {
      EXPECT_LE(held_now, here.layers().size()) << "what was forgotten is held";
    }
    between();
  }
  EXPECT_EQ(there.filter().to_bytes(), here.to_bytes());
}

TEST_F(Opened, GrowingLevelsStayThere) {
  growing_filter start(1000, 0.001, {.seed = 3});
  growing_filter twin(1000, 0.001, {.seed = 3});
  expect_same(std::move(start), std::move(twin));
  EXPECT_GE(opened_so_far, 4);
  EXPECT_LE(opened_so_far, 8) << "once a level";
}

TEST_F(Opened, CountingOnesAreWrittenAtHome) {
  expect_same(counting_filter(some_plan), counting_filter(some_plan));
  EXPECT_GE(opened_so_far, 1);
}

TEST_F(Opened, CuckooOnesStayAtHome) {
  expect_same(cuckoo_filter::with_fpr(60'000, 0.001), cuckoo_filter::with_fpr(60'000, 0.001));
  EXPECT_EQ(opened_so_far, 0);
}

TEST_F(Opened, WindowsByEventsMoveOnThere) {
  expect_same(windowed_filter::last_events(4000, 0.001), windowed_filter::last_events(4000, 0.001));
  EXPECT_GE(opened_so_far, 20) << "a part is another filter";
}

TEST_F(Opened, WindowsByTimeForgetAndUniteThere) {
  // Planned for few keys, so that layers are united, and parts become old on the way.
  for (const std::uint64_t planned : {400u, 40'000u}) {
    auto time = std::make_shared<std::chrono::nanoseconds>(std::chrono::hours(24 * 365));
    const auto clock = [time] { return *time; };
    expect_same(windowed_filter::last_duration(std::chrono::seconds(8), planned, 0.001, {}, clock),
                windowed_filter::last_duration(std::chrono::seconds(8), planned, 0.001, {}, clock),
                [&] { *time += std::chrono::milliseconds(700); });
  }
}

TEST_F(Opened, AnyFilterOfEveryKind) {
  for (const kind_row& row : all_kinds()) {
    SCOPED_TRACE(to_string(row.kind));
    filter_request request{.kind = row.kind, .expected_keys = 3000, .target_fpr = 0.01};
    if (row.kind == filter_kind::windowed) request.window_events = 3000;
    opened<any_filter> there(any_filter::make(request), far_engine());
    any_filter here = any_filter::make(request);
    const std::vector<std::uint64_t> some = keys_from(0, 2000);
    const key_batch keys = key_batch::integers(some);
    there.insert(keys.slice(0, 1000));
    here.insert(keys.slice(0, 1000));
    EXPECT_EQ(there.insert_new(keys, nullptr), here.insert_new(keys, nullptr));
    EXPECT_EQ(there.may_contain(keys, nullptr), 2000u);
    EXPECT_EQ(there.filter().to_bytes(), here.to_bytes());
  }
}

TEST_F(Opened, QuestionsOfManyThreads) {
  filter start(some_plan);
  start.insert(keys_from(0, 10'000));
  const opened<filter> there(std::move(start), far_engine());
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      const std::vector<std::uint64_t> keys = keys_from(0, 10'000);
      for (int call = 0; call < 10; ++call) {
        if (there.may_contain(key_batch::integers(keys), nullptr) == keys.size()) ++right;
        if (there.filter().inserted_keys() == keys.size()) ++right;
      }
    });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(right, 160);
  EXPECT_EQ(opened_so_far, 1);
}

TEST(Engines, AllRowsAreWhole) {
  filter one(some_plan);
  for (const engine* e : all_engines()) {
    SCOPED_TRACE(e->name);
    EXPECT_NE(e->cuckoo_may_contain, nullptr);
    ASSERT_NE(e->hash, nullptr);
    const std::vector<std::uint64_t> keys = keys_from(0, 100);
    std::vector<std::uint64_t> hashes(keys.size());
    e->hash(key_batch::integers(keys), 5, hashes.data(), {});
    for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(hashes[i], key_hash(keys[i], 5));
  }
}

TEST(Engines, NamesAreThoseThatCanBeAskedFor) {
  const auto names = engine_names();
  ASSERT_GE(names.size(), 2u);
  EXPECT_EQ(names[0], "auto");
  for (const engine* e : all_engines()) {
    EXPECT_NE(std::find(names.begin(), names.end(), e->name), names.end()) << e->name;
  }
}

}  // namespace
