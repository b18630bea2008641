// The library with memory refused at every place in turn: each call throws or succeeds, and saving
// leaves the old file or the new one.

#include <gtest/gtest.h>

#include <unistd.h>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <octobloom/counting_filter.h>
#include <octobloom/cuckoo_filter.h>
#include <octobloom/facts.h>
#include <octobloom/filter.h>
#include <octobloom/growing_filter.h>
#include <octobloom/key_column.h>
#include <octobloom/mapped_filter.h>
#include <octobloom/plan.h>
#include <octobloom/set_operations.h>
#include <octobloom/shared_filter.h>
#include <octobloom/windowed_filter.h>

#include "../refuse_memory.h"

namespace octobloom {
namespace {

using test::refuse_each;

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// In a folder whose name is too long to be kept inside a std::string.
std::string scratch(const std::string& name) {
  const std::string folder =
      ::testing::TempDir() + "octobloom_refused_memory_" + std::to_string(getpid()) + "/";
  std::filesystem::create_directories(folder);
  return folder + name;
}

template <class Filter>
void check_save_and_load(const Filter& empty, const Filter& filled, const std::string& name) {
  const std::string path = scratch(name);
  empty.save(path);
  const std::string before = bytes_of_file(path);
  EXPECT_GT(refuse_each([&] { filled.save(path); },
                        [&] { ASSERT_EQ(bytes_of_file(path), before) << "half done"; }),
            0);
  EXPECT_NE(bytes_of_file(path), before);
  EXPECT_GT(refuse_each([&] { (void)Filter::load(path); }, [] {}), 0);
  std::filesystem::remove_all(std::filesystem::path(path).parent_path());
}

const std::vector<std::uint64_t> keys = [] {
  std::vector<std::uint64_t> all(1000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}();

TEST(RefusedMemory, PlainFilter) {
  const plan shape = plan_for(1000, 0.01);
  EXPECT_GT(refuse_each([&] { (void)filter(shape); }, [] {}), 0);
  filter filled(shape);
  filled.insert(keys);
  check_save_and_load(filter(shape), filled, "plain");
}

TEST(RefusedMemory, CountingFilter) {
  const plan shape = plan_for(1000, 0.01);
  EXPECT_GT(refuse_each([&] { (void)counting_filter(shape); }, [] {}), 0);
  counting_filter filled(shape);
  filled.insert(keys);
  check_save_and_load(counting_filter(shape), filled, "counting");
}

TEST(RefusedMemory, GrowingFilter) {
  EXPECT_GT(refuse_each([] { (void)growing_filter(100, 0.01); }, [] {}), 0);
  growing_filter filled(100, 0.01);
  EXPECT_GT(refuse_each([&] { filled.insert(keys); },
                        [&] {
                          for (std::uint64_t i = 0; i < filled.distinct_keys() && i < 100; ++i) {
                            ASSERT_TRUE(filled.may_contain(i));
                          }
                        }),
            0);
  for (const std::uint64_t key : keys) ASSERT_TRUE(filled.may_contain(key));
  check_save_and_load(growing_filter(100, 0.01), filled, "growing");
}

TEST(RefusedMemory, GrowingFilterCountsAsItGoes) {
  constexpr std::size_t repeats = std::size_t{1} << 16;  // a round
  growing_filter filled(1000, 0.01);
  filled.insert(keys);
  std::vector<std::uint64_t> batch(repeats, 0);
  for (std::uint64_t i = 0; i < 100'000; ++i) batch.push_back(1000 + i);
  std::uint64_t distinct = filled.distinct_keys();
  std::uint64_t inserted = filled.inserted_keys();
  int halfway = 0;
  refuse_each([&] { filled.insert(batch); },
              [&] {
                if (filled.distinct_keys() > distinct) {
                  ++halfway;
                  EXPECT_GE(filled.inserted_keys(), inserted + repeats);
                }
                distinct = filled.distinct_keys();
                inserted = filled.inserted_keys();
              });
  EXPECT_GT(halfway, 0);
}

TEST(RefusedMemory, StringsAndThreads) {
  const std::string path = scratch("strings");
  std::vector<std::string> words;
  for (const std::uint64_t key : keys) words.push_back("a word " + std::to_string(key));
  filter filled(plan_for(1000, 0.01));
  filled.save(path);
  const std::string before = bytes_of_file(path);
  const bulk_options two{.threads = 2};
  EXPECT_GT(refuse_each([&] { filled.insert(words, two); },
                        [&] {
                          filled.save(path);
                          ASSERT_EQ(bytes_of_file(path), before) << "half done";
                        }),
            0);
  for (const std::string& word : words) ASSERT_TRUE(filled.may_contain(word));
  EXPECT_GT(refuse_each([&] { (void)filled.count_contained(words, two); }, [] {}), 0);
  std::filesystem::remove_all(std::filesystem::path(path).parent_path());
}

/// What every bulk call is refused memory for: the filter goes on answering with all that it held,
/// and the call succeeds once there is memory. Returns the number of refusals.
template <class Filter>
int refuse_bulk_calls(Filter& f) {
  constexpr std::uint64_t held = 500;
  std::vector<std::int32_t> narrow;
  std::vector<std::string> words;
  for (std::int32_t i = 0; i < 9000; ++i) {  // more than a batch
    narrow.push_back(i % 1500);
    words.push_back(std::to_string(i % 1500));
  }
  const std::vector<std::uint8_t> validity(bitmap_bytes(narrow.size()), 0x7F);
  const key_column column{.type = column_type::int32,
                          .rows = narrow.size(),
                          .values = narrow.data(),
                          .validity = validity.data()};
  std::vector<std::uint8_t> bitmap(bitmap_bytes(narrow.size()));
  std::vector<std::uint8_t> valid(bitmap_bytes(narrow.size()));
  const auto still_there = [&] {
    for (std::uint64_t key = 0; key < held; ++key) ASSERT_TRUE(f.may_contain(key));
  };
  for (std::uint64_t key = 0; key < held; ++key) (void)f.insert(key);

  int refusals = 0;
  const auto refuse = [&](auto act) { refusals += refuse_each(act, still_there); };
  refuse([&] { (void)f.may_contain(narrow, bitmap); });
  refuse([&] { (void)f.may_contain(words, bitmap, {.any_family = true}); });
  refuse([&] { (void)f.may_contain(column, {bitmap.data(), valid.data()}); });
  if constexpr (!std::is_same_v<Filter, cuckoo_filter>) {  // it keeps few copies of a key
    refuse([&] { f.insert(narrow); });
    refuse([&] { f.insert(words, {.threads = 2}); });
    refuse([&] { (void)f.insert(column); });
    refuse([&] { (void)f.insert_new(narrow, bitmap); });
    refuse([&] { (void)f.insert_new(words, bitmap); });
    refuse([&] { (void)f.insert_new(column, {bitmap.data(), valid.data()}); });
    for (const std::int32_t key : narrow) EXPECT_TRUE(f.may_contain(key));
  }
  if constexpr (requires { facts_of(f); }) refuse([&] { (void)facts_of(f); });
  if constexpr (requires { f.snapshot(); }) refuse([&] { (void)f.snapshot(); });
  if constexpr (requires { f.copy(); }) refuse([&] { (void)f.copy(); });
  if constexpr (requires { f.remove(narrow, bitmap); }) {
    const std::vector<std::int32_t> strangers(9000, -7);
    refuse([&] { (void)f.remove(strangers, bitmap); });
  }
  return refusals;
}

TEST(RefusedMemory, BulkCallsOfEveryKind) {
  const plan shape = plan_for(3000, 0.001);
  filter plain(shape);
  EXPECT_GT(refuse_bulk_calls(plain), 20);
  counting_filter counting(shape);
  EXPECT_GT(refuse_bulk_calls(counting), 20);
  shared_filter shared(shape);
  EXPECT_GT(refuse_bulk_calls(shared), 20);
  growing_filter growing(100, 0.001);
  EXPECT_GT(refuse_bulk_calls(growing), 40);
  cuckoo_filter cuckoo = cuckoo_filter::with_fpr(3000, 0.001);
  EXPECT_GT(refuse_bulk_calls(cuckoo), 10);
  windowed_filter by_events = windowed_filter::last_events(100'000, 0.001);
  EXPECT_GT(refuse_bulk_calls(by_events), 40);
  windowed_filter by_time = windowed_filter::last_duration(std::chrono::hours(1), 4000, 0.001);
  EXPECT_GT(refuse_bulk_calls(by_time), 40);
}

TEST(RefusedMemory, MergingChangesAllOrNothing) {
  const auto refuse_merge = [](auto into, const auto& other) {
    const std::string path = scratch("merged");
    into.save(path);
    const std::string before = bytes_of_file(path);
    refuse_each([&] { into.merge(other); },
                [&] {
                  into.save(path);
                  ASSERT_EQ(bytes_of_file(path), before) << "half done";
                });
    into.save(path);
    EXPECT_NE(bytes_of_file(path), before);
    std::filesystem::remove_all(std::filesystem::path(path).parent_path());
  };
  const plan shape = plan_for(1000, 0.01);
  filter plain(shape);
  plain.insert(keys);
  refuse_merge(filter(shape), plain);
  counting_filter counting(shape);
  counting.insert(keys);
  refuse_merge(counting_filter(shape), counting);
  const auto window = [] {
    return windowed_filter::last_duration(std::chrono::hours(1), 1000, 0.01, {}, [] {
      return std::chrono::nanoseconds(1'700'000'000'000'000'000);
    });
  };
  windowed_filter full = window();
  full.insert(keys);
  windowed_filter target = window();
  target.insert(std::uint64_t{1} << 40);
  refuse_merge(std::move(target), full);
}

TEST(RefusedMemory, FilesOfTheOtherKindsAndMappings) {
  cuckoo_filter cuckoo = cuckoo_filter::with_fpr(1000, 0.01);
  EXPECT_EQ(cuckoo.insert(keys), keys.size());
  check_save_and_load(cuckoo_filter::with_fpr(1000, 0.01), cuckoo, "cuckoo");
  windowed_filter window = windowed_filter::last_events(1000, 0.01);
  window.insert(keys);
  check_save_and_load(windowed_filter::last_events(1000, 0.01), window, "windowed");
  const std::string path = scratch("mapped");
  filter plain(plan_for(1000, 0.01));
  plain.insert(keys);
  plain.save(path);
  EXPECT_GT(refuse_each([&] { (void)mapped_filter(path, {.copy = true}); }, [] {}), 0);
  if (files_can_be_used_in_place) {
    EXPECT_GT(refuse_each([&] { (void)mapped_filter(path, {.copy = false}); }, [] {}), 0);
  }
  std::filesystem::remove_all(std::filesystem::path(path).parent_path());
}

TEST(RefusedMemory, SetOperationsAndCompacting) {
  const plan shape = plan_with_blocks(64, 6);
  filter a(shape);
  filter b(shape);
  a.insert(keys);
  EXPECT_GT(refuse_each([&] { (void)union_of(a, b); }, [] {}), 0);
  EXPECT_GT(refuse_each([&] { (void)common_bits(a, b); }, [] {}), 0);
  EXPECT_GT(refuse_each([&] { (void)fold(a, 4); }, [] {}), 0);
  refuse_each([&] { (void)estimate_sets(a, b); }, [] {});
  growing_filter growing(100, 0.01);
  growing.insert(keys);
  const std::size_t levels = growing.levels().size();
  EXPECT_GT(levels, 1u);
  EXPECT_GT(refuse_each([&] { growing.compact([](growing_filter& f) { f.insert(keys); }); },
                        [&] { ASSERT_EQ(growing.levels().size(), levels) << "half done"; }),
            0);
  EXPECT_EQ(growing.levels().size(), 1u);
}

// The plan of a size is made once and kept: a first call that is refused spoils no later one.
TEST(RefusedMemory, Plans) {
  for (const std::uint64_t n : {1u, 1000u, 1'000'000u}) {
    for (const double p : {0.5, 0.01, 1e-6}) {
      plan made{};
      refuse_each([&] { made = plan_for(n, p); }, [] {});
      EXPECT_EQ(made.expected_keys, n);
      EXPECT_GE(made.blocks, 1u);
    }
  }
}

}  // namespace
}  // namespace octobloom
