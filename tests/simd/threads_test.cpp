// The same answers at any number of threads, by parts or not.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "simd/answers.h"
#include "simd/contender.h"
#include "simd/sample_keys.h"

namespace octobloom::test {
namespace {

constexpr std::array<unsigned, 5> thread_counts{1, 2, 3, 8, 0};
constexpr std::array all_operations{bulk_operation::insert, bulk_operation::may_contain,
                                    bulk_operation::insert_new, bulk_operation::hash};

/// Many repeats, near and far, so that the order of equal keys matters to insert_new.
std::vector<std::uint64_t> repeating(std::size_t length) {
  random_numbers random(length);
  std::vector<std::uint64_t> ids(length);
  for (std::size_t i = 0; i < length; ++i) {
    ids[i] = i > 0 && random.below(4) == 0 ? ids[i - 1] : random.below(length);
  }
  return ids;
}

class Threads : public testing::TestWithParam<key_kind> {
 protected:
  void compare(const simd_tuning& tuning, const filter_shape& shape,
               const std::vector<std::uint64_t>& ids) {
    const simd_override forced(tuning);
    const sample_keys keys(GetParam(), ids, 1);
    block_array start(shape);
    reference_engine().insert(start.view(), keys.batch().slice(0, ids.size() / 5), {});
    for (const bulk_operation operation : all_operations) {
      const answers expected = perform(reference_engine(), operation, start, keys.batch(), true);
      for (const unsigned threads : thread_counts) {
        ASSERT_EQ(
            perform(simd_engine(), operation, start, keys.batch(), true, {.threads = threads}),
            expected)
            << "operation " << static_cast<int>(operation) << ", threads " << threads;
      }
    }
  }
};

TEST_P(Threads, TinyTunings) {
  for (const std::size_t length : {1u, 9u, 71u, 3333u}) {
    for (const std::uint32_t blocks : {1u, 64u, 1021u}) {
      simd_tuning tuning = always_by_parts();
      tuning.chunk_keys = 800;
      compare(tuning, {.blocks = blocks, .k = 9, .seed = 4}, repeating(length));
      tuning.partition_from_bytes = UINT64_MAX;
      tuning.partition_answers_from_bytes = UINT64_MAX;
      compare(tuning, {.blocks = blocks, .k = 8}, repeating(length));
    }
  }
}

TEST_P(Threads, CopiesOfTheFilter) {
  simd_tuning tuning = always_by_parts();
  tuning.partition_from_bytes = UINT64_MAX;
  tuning.copies_from_keys_per_block = 0;
  tuning.chunk_keys = 1 << 20;
  for (const std::size_t length : {2u, 71u, 3333u}) {
    for (const std::uint32_t blocks : {1u, 64u, 2085u}) {
      compare(tuning, {.blocks = blocks, .k = 9, .seed = 4}, repeating(length));
    }
  }
}

TEST_P(Threads, ThisMachinesTuningOnManyKeys) {
  compare(simd_tuning::of_this_machine(), {.blocks = 20'011, .k = 7}, repeating(300'000));
}

TEST_P(Threads, OneKeyOverAndOver) {
  // Every hash lands in one part, whose pages hold them all.
  simd_tuning tuning = always_by_parts();
  tuning.chunk_keys = 20'000;
  compare(tuning, {.blocks = 4096, .k = 8}, std::vector<std::uint64_t>(50'000, 7));
}

TEST_P(Threads, PagesThatAreExactlyFull) {
  simd_tuning tuning = always_by_parts();
  tuning.chunk_keys = 1 << 20;
  for (const std::size_t length : {511u, 512u, 513u, 1024u, 4096u}) {
    compare(tuning, {.blocks = 2, .k = 8}, std::vector<std::uint64_t>(length, 3));
  }
}

std::string name_of(const testing::TestParamInfo<key_kind>& kind) {
  constexpr std::array names{"integers", "hashes", "strings"};
  return names.at(static_cast<std::size_t>(kind.param));
}

INSTANTIATE_TEST_SUITE_P(Kinds, Threads,
                         testing::Values(key_kind::integers, key_kind::hashes, key_kind::strings),
                         name_of);

TEST(Cuckoo, AnswersAlikeAtAnyNumberOfThreads) {
  const std::vector<std::uint64_t> ids = repeating(300'000);
  const sample_keys keys(key_kind::integers, ids, 1);
  cuckoo_filter filter = cuckoo_filter::with_fpr(150'000, 0.01);
  insert_set(filter, keys.batch().slice(0, 100'000));
  const answers expected = perform(reference_engine(), filter.view(), keys.batch(), true);
  for (const unsigned threads : thread_counts) {
    EXPECT_EQ(perform(simd_engine(), filter.view(), keys.batch(), true, {.threads = threads}),
              expected)
        << threads;
  }
}

TEST(InsertNew, TellsWhatOneKeyAfterTheOtherWouldTell) {
  const std::vector<std::uint64_t> ids = repeating(100'000);
  const sample_keys keys(key_kind::integers, ids, 0);
  filter one_by_one = filter::with_blocks(2000, 8);
  std::vector<bool> expected(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    expected[i] = one_by_one.insert_new_hash(keys.batch().hash(i, 0));
  }
  for (const unsigned threads : thread_counts) {
    filter bulk = filter::with_blocks(2000, 8);
    std::vector<std::uint8_t> bitmap(bitmap_bytes(ids.size()));
    const std::uint64_t fresh =
        simd_engine().insert_new(bulk.view(), keys.batch(), bitmap.data(), {.threads = threads});
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      wrong += bitmap_get(bitmap.data(), i) != expected[i] ? 1u : 0u;
    }
    EXPECT_EQ(wrong, 0u) << threads;
    EXPECT_EQ(fresh, static_cast<std::uint64_t>(std::ranges::count(expected, true))) << threads;
  }
}

}  // namespace
}  // namespace octobloom::test
