#include <sys/mman.h>

#include <octobloom/filter.h>
#include <algorithm>
#include <cstring>
#include <list>

#include "support.h"

namespace {

using namespace octobloom;
using octobloom_test::expect_error;
using octobloom_test::expect_rate;
using octobloom_test::random_numbers;
using octobloom_test::trials;

std::uint64_t big_endian(std::uint64_t i) {
  std::uint64_t reversed = 0;
  for (int b = 0; b < 8; ++b) reversed |= (i >> (8 * b) & 0xFF) << (56 - 8 * b);
  return reversed;
}

TEST(Filter, NeverForgetsAKeyForEveryKAndManyBlockCounts) {
  for (std::uint32_t k = 1; k <= rot8::max_k; ++k) {
    for (const std::uint32_t blocks : {1u, 2u, 3u, 7u, 64u, 100u, 1000u, 4097u}) {
      filter f = filter::with_blocks(blocks, k, {.seed = k});
      random_numbers random(k * 10'007 + blocks);
      std::vector<std::uint64_t> keys(500);
      for (auto& key : keys) {
        key = random();
        f.insert(key);
        ASSERT_TRUE(f.may_contain(key)) << "k " << k << " blocks " << blocks;
      }
      for (const auto key : keys)
        ASSERT_TRUE(f.may_contain(key)) << "k " << k << " blocks " << blocks;
    }
  }
}

enum class key_pattern { sequential, random, big_endian, strings };

struct rate_case {
  double bits_per_key;
  std::uint32_t k;
  key_pattern pattern;
};

class FilterRate : public testing::TestWithParam<rate_case> {};

TEST_P(FilterRate, MeasuredRateIsTheExpectedOne) {
  const rate_case c = GetParam();
  const std::uint64_t n = 200'000;
  const std::uint64_t probes = trials(4'000'000, 400'000);
  filter f =
      filter::with_bits(static_cast<std::uint64_t>(c.bits_per_key * static_cast<double>(n)), c.k);
  random_numbers random(7);
  const auto key = [&](std::uint64_t i) -> std::uint64_t {
    switch (c.pattern) {
      case key_pattern::sequential:
        return i;
      case key_pattern::big_endian:
        return big_endian(i);
      default:
        return random();
    }
  };
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < n + probes; ++i) {
    if (c.pattern == key_pattern::strings) {
      const std::string text = "user" + std::to_string(i) + "@example.com";
      if (i < n)
        f.insert(text);
      else
        found += f.may_contain(text) ? 1u : 0u;
    } else if (i < n) {
      f.insert(key(i));
    } else {
      found += f.may_contain(key(i)) ? 1u : 0u;
    }
  }
  expect_rate(found, probes, expected_fpr(static_cast<double>(n), f.blocks(), c.k), 0.02);
  EXPECT_NEAR(f.current_fpr() / (static_cast<double>(found) / static_cast<double>(probes)), 1,
              0.12);
}

INSTANTIATE_TEST_SUITE_P(
    BitsPerKey, FilterRate,
    testing::Values(rate_case{8, 5, key_pattern::sequential}, rate_case{8, 5, key_pattern::random},
                    rate_case{10, 8, key_pattern::sequential},
                    rate_case{10, 8, key_pattern::big_endian},
                    rate_case{10, 6, key_pattern::strings}, rate_case{16, 11, key_pattern::random},
                    rate_case{16, 16, key_pattern::sequential},
                    rate_case{5, 3, key_pattern::big_endian}, rate_case{12, 1, key_pattern::random},
                    rate_case{12, 24, key_pattern::sequential}));

TEST(Filter, SequentialIntegersKeepTheRateOfAMillion) {
  filter f = filter::with_fpr(1'000'000, 0.01);
  for (std::uint64_t i = 0; i < 1'000'000; ++i) f.insert(i);
  std::uint64_t found = 0;
  for (std::uint64_t i = 1'000'000; i < 2'000'000; ++i) found += f.may_contain(i) ? 1u : 0u;
  expect_rate(found, 1'000'000, 0.01, 0.02);
}

TEST(Filter, OneInTenThousandHoldsOverAHundredMillionProbes) {
  const std::uint64_t n = 1'000'000;
  const std::uint64_t probes = trials(100'000'000, 5'000'000);
  filter f = filter::with_fpr(n, 1e-4);
  std::vector<std::uint64_t> keys(1 << 20);
  const auto fill = [&](std::uint64_t first) {
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = first + i;
  };
  fill(0);
  f.insert(std::span(keys).first(n));
  std::uint64_t found = 0;
  std::uint64_t probed = 0;
  for (; probed < probes; probed += keys.size()) {
    fill(n + probed);
    found += f.count_contained(keys);
  }
  const double rate = static_cast<double>(found) / static_cast<double>(probed);
  EXPECT_LE(rate, 1.1e-4);
  expect_rate(found, probed, 1e-4, 0.03);
}

TEST(Filter, FillAndEstimateFollowTheory) {
  for (const std::uint64_t n : {1'000u, 100'000u, 2'000'000u}) {
    for (const std::uint32_t k : {3u, 8u, 13u}) {
      filter f = filter::with_bits(12 * n, k);
      for (std::uint64_t i = 0; i < n; ++i) f.insert(i);
      // Independent of the library's inverse: a word meets k/8 balls a key on average, blocks n/B.
      const double rounds = k / 8;
      const double rest = k % 8;
      const double missed = std::pow(63.0 / 64, rounds) * (1 - rest / 512);
      const double fill = 1 - std::exp(-static_cast<double>(n) / f.blocks() * (1 - missed));
      // Standard deviation of the fill of small filters: below 0.4 %.
      const double tolerance = n < 10'000 ? 0.015 : 0.005;
      EXPECT_NEAR(f.fill_ratio() / fill, 1, tolerance) << n << " k " << k;
      EXPECT_NEAR(f.estimated_keys().value() / static_cast<double>(n), 1, 2 * tolerance);
      EXPECT_EQ(popcount_of(f.view()), static_cast<std::uint64_t>(std::llround(
                                           f.fill_ratio() * 8 * static_cast<double>(f.bytes()))));
    }
  }
}

TEST(Filter, SaturatedFiltersSaySo) {
  filter f = filter::with_blocks(2, 8);
  EXPECT_EQ(f.verdict(), saturation::fine);
  for (std::uint64_t i = 0; i < 20'000; ++i) f.insert(i);
  EXPECT_EQ(f.fill_ratio(), 1);
  EXPECT_FALSE(f.estimated_keys().has_value());
  EXPECT_EQ(f.current_fpr(), 1);
  EXPECT_EQ(f.verdict(), saturation::over_full);
}

TEST(Filter, VerdictFollowsThePlan) {
  filter f = filter::with_fpr(10'000, 0.001);
  std::uint64_t i = 0;
  for (; i < 10'000; ++i) f.insert(i);
  EXPECT_EQ(f.verdict(), saturation::fine);
  for (; i < 10'500; ++i) f.insert(i);
  EXPECT_EQ(f.verdict(), saturation::full);
  for (; i < 20'000; ++i) f.insert(i);
  EXPECT_EQ(f.verdict(), saturation::over_full);
}

TEST(Filter, InsertNewTellsRepeats) {
  filter f = filter::with_fpr(1000, 1e-6);
  EXPECT_TRUE(f.insert_new(5));
  EXPECT_FALSE(f.insert_new(std::int8_t{5}));
  EXPECT_TRUE(f.insert_new("a"));
  EXPECT_FALSE(f.insert_new(std::string("a")));
  EXPECT_EQ(f.inserted_keys(), 2u);
}

TEST(Filter, BulkEqualsOneByOne) {
  random_numbers random(3);
  std::vector<std::uint64_t> keys(3000);
  for (auto& key : keys) key = random() % 2000;  // with repeats
  filter one = filter::with_fpr(2000, 0.01, {.seed = 4});
  std::vector<std::uint8_t> expected(bitmap_bytes(keys.size()));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (one.insert_new(keys[i])) expected[i / 8] |= static_cast<std::uint8_t>(1u << i % 8);
  }
  filter bulk = filter::with_fpr(2000, 0.01, {.seed = 4});
  std::vector<std::uint8_t> bitmap(bitmap_bytes(keys.size()), 0xFF);
  const auto fresh = bulk.insert_new(keys, bitmap);
  EXPECT_EQ(bitmap, expected);
  EXPECT_EQ(fresh, one.inserted_keys());
  EXPECT_EQ(bulk.inserted_keys(), fresh);
  EXPECT_TRUE(std::equal(one.view().words(), one.view().words() + one.view().shape().word_count(),
                         bulk.view().words()));
  EXPECT_EQ(bulk.may_contain(keys, bitmap), keys.size());
}

TEST(Filter, EveryDoorForARangeGivesTheSameFilter) {
  const std::vector<std::int32_t> narrow{-3, -2, -1, 0, 1, 2, 70000};
  const std::vector<std::int64_t> wide(narrow.begin(), narrow.end());
  filter a = filter::with_blocks(16, 5);
  filter b = filter::with_blocks(16, 5);
  filter c = filter::with_blocks(16, 5);
  a.insert(narrow);
  b.insert(std::span<const std::int64_t>(wide));
  for (const auto key : narrow) c.insert(key);
  EXPECT_EQ(std::memcmp(a.view().words(), b.view().words(), a.bytes()), 0);
  EXPECT_EQ(std::memcmp(a.view().words(), c.view().words(), a.bytes()), 0);
  EXPECT_EQ(a.inserted_keys(), 7u);

  const std::list<std::string> list{"x", "", "yz"};
  const std::vector<std::string_view> views(list.begin(), list.end());
  filter d = filter::with_blocks(16, 5);
  filter e = filter::with_blocks(16, 5);
  d.insert(list);
  e.insert(views);
  EXPECT_EQ(std::memcmp(d.view().words(), e.view().words(), d.bytes()), 0);
  EXPECT_TRUE(d.may_contain(""));
  EXPECT_TRUE(d.may_contain(std::string("yz")));

  const std::vector<double> floats{0.0, -0.0, 1.5};
  filter g = filter::with_blocks(16, 5);
  std::vector<std::uint8_t> bitmap(1);
  EXPECT_EQ(g.insert_new(floats, bitmap), 2u);
  EXPECT_EQ(bitmap[0], 0b101);
}

TEST(Filter, LongRangesOfNarrowKeysAndStringsKeepTheirPlaces) {
  std::vector<std::uint32_t> narrow(20'001);
  std::vector<std::string> texts(20'001);
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    narrow[i] = static_cast<std::uint32_t>(i);
    texts[i] = std::to_string(i);
  }
  filter f = filter::with_fpr(50'000, 1e-8);
  for (std::size_t i = 0; i < narrow.size(); i += 3) {
    f.insert(narrow[i]);
    f.insert(texts[i]);
  }
  std::vector<std::uint8_t> bitmap(bitmap_bytes(narrow.size()));
  EXPECT_EQ(f.may_contain(narrow, bitmap), 6667u);
  for (std::size_t i = 0; i < narrow.size(); ++i)
    ASSERT_EQ(bitmap_get(bitmap.data(), i), i % 3 == 0);
  EXPECT_EQ(f.may_contain(texts, bitmap), 6667u);
  for (std::size_t i = 0; i < narrow.size(); ++i)
    ASSERT_EQ(bitmap_get(bitmap.data(), i), i % 3 == 0);
}

TEST(Filter, ShortBitmapsAreRefused) {
  filter f = filter::with_blocks(1, 1);
  const std::vector<std::uint64_t> keys(9);
  std::vector<std::uint8_t> bitmap(1);
  expect_error(error_code::invalid_argument, [&] { (void)f.may_contain(keys, bitmap); });
  expect_error(error_code::invalid_argument, [&] { (void)f.insert_new(keys, bitmap); });
  EXPECT_EQ(f.inserted_keys(), 0u);
}

TEST(Filter, MergeIsTheUnionAndChecksFirst) {
  filter a = filter::with_fpr(2000, 0.001);
  filter b = filter::with_fpr(2000, 0.001);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    a.insert(i);
    b.insert(i + 1000);
  }
  a.merge(b);
  for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(a.may_contain(i));
  EXPECT_EQ(a.inserted_keys(), 2000u);
  EXPECT_NEAR(a.estimated_keys().value(), 2000, 60);

  const filter before = a.copy();
  const auto refused = [&](const filter& other, const char* field) {
    const error e = expect_error(error_code::mismatch, [&] { a.merge(other); });
    EXPECT_NE(std::string(e.what()).find(field), std::string::npos) << e.what();
    EXPECT_EQ(std::memcmp(a.view().words(), before.view().words(), a.bytes()), 0);
    EXPECT_EQ(a.inserted_keys(), before.inserted_keys());
  };
  refused(filter::with_blocks(a.blocks() + 1, a.k()), "blocks");
  refused(filter::with_blocks(a.blocks(), a.k() + 1), "k ");
  refused(filter::with_blocks(a.blocks(), a.k(), {.seed = 1}), "seed");
  refused(filter::with_blocks(a.blocks(), a.k(), {.hashing = key_hashing::caller}), "hash id");
}

TEST(Filter, ClearForgetsKeysAndKeepsThePlan) {
  for (const std::uint64_t n : {100u, 4'000'000u}) {  // on the heap, on pages
    filter f = filter::with_fpr(n, 0.01, {.seed = 9});
    f.insert(1);
    f.clear();
    EXPECT_FALSE(f.may_contain(1));
    EXPECT_EQ(popcount_of(f.view()), 0u);
    EXPECT_EQ(f.inserted_keys(), 0u);
    EXPECT_EQ(f.planned_keys(), n);
    EXPECT_EQ(f.seed(), 9u);
  }
}

TEST(Filter, CopiesAreIndependentAndMovesHaveOneOwner) {
  filter a = filter::with_fpr(100, 0.01);
  a.insert(1);
  filter twin = a.copy();
  twin.insert(2);
  EXPECT_FALSE(a.may_contain(2));
  EXPECT_TRUE(twin.may_contain(1));
  const auto* words = a.view().words();
  filter moved = std::move(a);
  EXPECT_EQ(moved.view().words(), words);
  a = std::move(moved);
  EXPECT_EQ(a.view().words(), words);
  EXPECT_TRUE(a.may_contain(1));
  static_assert(!std::is_copy_constructible_v<filter>);
}

TEST(Filter, BlocksAreAlignedToCacheLines) {
  for (const std::uint64_t blocks : {1u, 3u, 1000u, 32768u, 100'000u}) {
    const filter f = filter::with_blocks(blocks, 8);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(f.view().words()) % 64, 0u);
    if (f.bytes() >= 2u << 20) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(f.view().words()) % (2u << 20), 0u);
    }
    EXPECT_EQ(popcount_of(f.view()), 0u);
  }
}

TEST(Filter, FiltersOfHashesRefuseOtherKeys) {
  filter f = filter::with_blocks(10, 8, {.hashing = key_hashing::caller});
  f.insert_hash(0x123456789ABCDEFu);
  EXPECT_TRUE(f.may_contain_hash(0x123456789ABCDEFu));
  expect_error(error_code::wrong_key, [&] { f.insert(5); });
  expect_error(error_code::wrong_key, [&] { (void)f.may_contain("x"); });
  expect_error(error_code::wrong_key, [&] { f.insert(std::vector<int>{1}); });
  const std::vector<std::uint64_t> hashes{1, 2};
  f.insert(key_batch::hashes(hashes));
  EXPECT_EQ(f.inserted_keys(), 3u);
}

TEST(Filter, SizesAboveTheMachinesMemoryAreRefusedBeforeTheyAreAllocated) {
  const std::uint64_t above = available_memory() / 64 + 1000;
  if (above >= std::uint64_t{1} << 32)
    GTEST_SKIP() << "this machine has more memory than a filter can";
  const error e =
      expect_error(error_code::out_of_memory, [&] { (void)filter::with_blocks(above, 8); });
  EXPECT_NE(std::string(e.what()).find("MiB"), std::string::npos);
  expect_error(error_code::invalid_argument, [] { filter(plan{}); });
}

TEST(Filter, InsertedKeysSaturate) {
  filter f = filter::with_blocks(1, 1);
  f.count_inserted(UINT64_MAX - 1);
  f.insert(1);
  EXPECT_EQ(f.inserted_keys(), UINT64_MAX);
  f.insert(2);
  EXPECT_EQ(f.inserted_keys(), UINT64_MAX);
}

/// Address space that takes memory only where it is written.
class sparse_words {
 public:
  explicit sparse_words(const filter_shape& shape) : bytes_(shape.bytes()) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~sparse_words() {
    if (available()) munmap(memory_, bytes_);
  }
  sparse_words(const sparse_words&) = delete;
  sparse_words& operator=(const sparse_words&) = delete;
  [[nodiscard]] bool available() const { return memory_ != MAP_FAILED; }
  [[nodiscard]] std::uint64_t* words() const { return static_cast<std::uint64_t*>(memory_); }

 private:
  std::uint64_t bytes_;
  void* memory_;
};

TEST(LargeFilter, KeysReachTheLastBlockBeyondTwoToThe32Bits) {
  const filter_shape shape{.blocks = (1u << 27) + 12345, .k = 8};  // 8 GiB and a bit
  const sparse_words memory(shape);
  if (!memory.available()) GTEST_SKIP() << "no 8 GiB of address space";
  const filter_view view(memory.words(), shape);
  random_numbers random(5);
  std::vector<std::uint64_t> hashes{0, ~std::uint64_t{0}};
  for (int i = 0; i < 20'000; ++i) hashes.push_back(random());
  std::uint32_t furthest = 0;
  for (const auto hash : hashes) {
    view.insert_hash(hash);
    furthest = std::max(furthest, rot8::block_index(hash, shape.blocks));
    const std::size_t word = std::size_t{rot8::block_index(hash, shape.blocks)} * 8;
    ASSERT_NE(view.words()[word], 0u);
  }
  EXPECT_EQ(furthest, shape.blocks - 1);
  for (const auto hash : hashes) ASSERT_TRUE(view.may_contain_hash(hash));
  std::uint64_t found = 0;
  for (int i = 0; i < 20'000; ++i) found += view.may_contain_hash(random()) ? 1u : 0u;
  EXPECT_EQ(found, 0u);
}

TEST(LargeFilter, UnevenSharesShowInTheMeasuredRate) {
  // A window of a filter of 48 GiB, filled and probed with the hashes that fall into it: 5 or 6
  // values of the upper half of the hash for a block.
  const filter_shape shape{.blocks = 48u << 24, .k = 11};
  const sparse_words memory(shape);
  if (!memory.available()) GTEST_SKIP() << "no 48 GiB of address space";
  const filter_view view(memory.words(), shape);
  const double n = 512.0 / 16 * shape.blocks;
  const std::uint64_t values = 120'000;  // of the upper half: about 22,500 blocks
  const std::uint64_t first = std::uint64_t{1} << 31;
  random_numbers random(11);
  const auto draw = [&] { return (first + random() % values) << 32 | (random() & 0xFFFFFFFFu); };
  const auto keys = static_cast<std::uint64_t>(n / 4294967296.0 * static_cast<double>(values));
  for (std::uint64_t i = 0; i < keys; ++i) view.insert_hash(draw());
  const std::uint64_t probes = trials(20'000'000, 2'000'000);
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < probes; ++i) found += view.may_contain_hash(draw()) ? 1u : 0u;
  const double uneven = expected_fpr(n, shape.blocks, shape.k);
  const double even = expected_fpr(n / 48, 1u << 24, shape.k);
  expect_rate(found, probes, uneven, 0.015);
  EXPECT_GT(uneven / even, 1.04);
}

}  // namespace
