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
#include <octobloom/filter.h>
#include <octobloom/growing_filter.h>
#include <octobloom/plan.h>

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
