// The compiled kernels, PTX of every architecture, run by an interpreter on the CPU: their real
// divergence, shuffles, bounds and races, under random schedules, against the reference engine; and
// what they ask of memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <octobloom/emulator/interpreter.h>
#include <octobloom/engine.h>
#include <octobloom/filter.h>
#include <octobloom/gpu/detail/bodies.h>
#include <octobloom/statistics.h>
#include <octobloom/storage.h>

#include "cuda/cuda_test_data.h"

namespace octobloom::test {
namespace {

using gpu::detail::block_threads;
using gpu::detail::rounds_of;
using gpu::detail::slice;

std::uint64_t comparisons = 0;
std::uint64_t launches = 0;

class report_comparisons : public ::testing::Environment {
 public:
  void TearDown() override {
    std::printf("kernels interpreted: %llu launches; comparisons with the reference: %llu\n",
                static_cast<unsigned long long>(launches),
                static_cast<unsigned long long>(comparisons));
  }
};
const auto* const registered = ::testing::AddGlobalTestEnvironment(new report_comparisons);

const std::string detail = "octobloom::gpu::detail::";

/// "octobloom::gpu::detail::layout<4u, 2u>, (octobloom::gpu::detail::rounds)0"
std::string shape_name(unsigned lanes, unsigned words, std::uint32_t k) {
  return detail + "layout<" + std::to_string(lanes) + "u, " + std::to_string(words) + "u>, (" +
         detail + "rounds)" + std::to_string(static_cast<unsigned>(rounds_of(k)));
}

class Ptx : public ::testing::TestWithParam<int> {
 protected:
  /// Parsed once for each architecture.
  ptx::module& module(const std::string& stem) const {
    static std::map<std::string, ptx::module> modules;
    const std::string path =
        std::string(OCTOBLOOM_KERNELS) + "/" + stem + ".sm_" + std::to_string(GetParam()) + ".ptx";
    auto found = modules.find(path);
    if (found == modules.end()) {
      found = modules.emplace(path, ptx::module::from_file(path)).first;
    }
    return found->second;
  }

  ptx::launch_statistics launch(const std::string& stem, const std::string& entry,
                                std::uint32_t blocks, std::uint32_t threads, std::size_t shared,
                                const std::vector<ptx::argument>& arguments,
                                const ptx::launch_options& options) const {
    ptx::launch_statistics stats =
        module(stem).launch(entry, {blocks}, {threads}, shared, arguments, options);
    ++launches;
    EXPECT_TRUE(stats.races.empty()) << entry << ": " << stats.races.front();
    EXPECT_EQ(stats.exited_in_mask, 0u) << entry;
    EXPECT_EQ(stats.local_loads + stats.local_stores, 0u) << entry;
    return stats;
  }
};

ptx::launch_options random_schedule(std::uint64_t seed) {
  ptx::launch_options options;
  options.seed = seed;
  options.switch_probability = 0.3;
  options.collect_stats = false;
  options.racecheck = true;
  options.check_init = true;
  options.strict_sync = true;
  return options;
}

/// Keys of one kind: the kernel's name for it, its argument, and what the reference gets.
struct key_case {
  std::string source;
  ptx::argument argument;
  key_batch batch;
};

/// The same keys in every form; lives as long as its cases are used.
class all_keys {
 public:
  all_keys(std::size_t count, std::uint64_t seed)
      : seed_(seed), wide_(random_keys(count, seed)), strings_(count, seed % 2, seed) {
    signed_.resize(count);
    std::iota(signed_.begin(), signed_.end(), -static_cast<std::int32_t>(count) / 2);
    unsigned_.resize(count);
    std::iota(unsigned_.begin(), unsigned_.end(), 0x7FFFFFF0u);
    for (const auto key : signed_) widened_signed_.push_back(widen(key));
    for (const auto key : unsigned_) widened_unsigned_.push_back(widen(key));
  }

  [[nodiscard]] std::vector<key_case> cases() const {
    const ptx::argument start = ptx::argument::value(octobloom::detail::integer_start(seed_));
    return {
        {detail + "integer_source<unsigned long>",
         ptx::argument::record({ptx::argument::in(wide_), start}), key_batch::integers(wide_)},
        {detail + "integer_source<int>", ptx::argument::record({ptx::argument::in(signed_), start}),
         key_batch::integers(widened_signed_)},
        {detail + "integer_source<unsigned int>",
         ptx::argument::record({ptx::argument::in(unsigned_), start}),
         key_batch::integers(widened_unsigned_)},
        {detail + "hash_source", ptx::argument::record({ptx::argument::in(wide_)}),
         key_batch::hashes(wide_)},
        {detail + "string_source",
         ptx::argument::record({ptx::argument::in(strings_.bytes.data(), strings_.bytes.size()),
                                ptx::argument::in(strings_.offsets),
                                ptx::argument::value(strings_.separator),
                                ptx::argument::value(seed_)}),
         key_batch::strings(strings_.keys())},
    };
  }

 private:
  std::uint64_t seed_;
  std::vector<std::uint64_t> wide_;
  std::vector<std::int32_t> signed_;
  std::vector<std::uint32_t> unsigned_;
  std::vector<std::uint64_t> widened_signed_;
  std::vector<std::uint64_t> widened_unsigned_;
  string_column strings_;
};

ptx::argument words_of(filter& f) {
  return ptx::argument::inout(f.view().words(), f.bytes());
}
ptx::argument words_of(const filter& f) {
  return ptx::argument::in(f.view().words(), f.bytes());
}

// k of every kind of kernel, its ends and something between.
constexpr std::uint32_t some_k[] = {8, 1, 4, 7, 9, 12, 16, 17, 20, 24};
// Tails of a byte, a warp and a block; 0 is never launched.
constexpr std::size_t some_counts[] = {1, 7, 33, 255, 256, 300, 801};

TEST_P(Ptx, ContainsEveryKindOfKeyWidthAndTail) {
  for (const std::uint32_t k : some_k) {
    for (const std::size_t count : some_counts) {
      const std::uint64_t seed = k * 1000 + count;
      const all_keys keys(count, seed);
      for (const key_case& c : keys.cases()) {
        filter f = make_filter(90, k, seed);
        f.insert(c.batch.slice(0, count / 2));
        std::vector<std::uint8_t> expected(bitmap_bytes(count));
        reference_engine().may_contain(f.view(), c.batch, expected.data(), {});
        for (const auto& [lanes, words] : {std::pair{4u, 2u}, std::pair{2u, 4u}}) {
          if (lanes == 2 && c.batch.kind() == key_kind::strings) continue;
          std::vector<std::uint8_t> bitmap(bitmap_bytes(count), 0xEE);
          launch("contains", "contains_kernel<" + shape_name(lanes, words, k) + ", " + c.source, 2,
                 block_threads, 0,
                 {words_of(std::as_const(f)), ptx::argument::value(f.blocks()),
                  ptx::argument::value(k), c.argument, ptx::argument::value(std::uint64_t{count}),
                  ptx::argument::inout(bitmap)},
                 random_schedule(seed));
          ASSERT_EQ(bitmap, expected) << c.source << ", lanes " << lanes << ", k " << k;
          comparisons += count;
        }
      }
    }
  }
}

TEST_P(Ptx, InsertEveryKindOfKeyAndTail) {
  for (const std::uint32_t k : some_k) {
    for (const std::size_t count : some_counts) {
      const std::uint64_t seed = k * 1000 + count;
      const all_keys keys(count, seed);
      for (const key_case& c : keys.cases()) {
        filter expected = make_filter(5, k, seed);
        expected.insert(c.batch);
        filter built = make_filter(5, k, seed);
        launch("insert", "insert_kernel<" + shape_name(4, 1, k) + ", " + c.source, 3, block_threads,
               0,
               {words_of(built), ptx::argument::value(built.blocks()), ptx::argument::value(k),
                c.argument, ptx::argument::value(std::uint64_t{count})},
               random_schedule(seed));
        ASSERT_TRUE(same_words(expected, built)) << c.source << ", k " << k << ", keys " << count;
        comparisons += expected.view().shape().word_count();
      }
    }
  }
}

TEST_P(Ptx, HashEveryKindOfKey) {
  constexpr std::size_t count = 777;
  const all_keys keys(count, 5);
  for (const key_case& c : keys.cases()) {
    std::vector<std::uint64_t> expected(count);
    reference_engine().hash(c.batch, 5, expected.data(), {});
    std::vector<std::uint64_t> hashes(count);
    launch("contains", "hash_kernel<" + c.source, 2, block_threads, 0,
           {c.argument, ptx::argument::value(std::uint64_t{count}), ptx::argument::inout(hashes)},
           random_schedule(1));
    ASSERT_EQ(hashes, expected) << c.source;
    comparisons += count;
  }
}

TEST_P(Ptx, InsertBySlices) {
  const auto keys = random_keys(1500, 8);
  for (const std::uint32_t k : some_k) {
    for (const std::uint32_t blocks : {1u, 64u, 1000u}) {
      for (const unsigned bits : {1u, 4u}) {
        std::vector<std::uint64_t> sorted = keys;
        std::sort(sorted.begin(), sorted.end());
        std::vector<std::uint64_t> offsets;
        for (std::uint64_t part = 0; part <= std::uint64_t{1} << bits; ++part) {
          offsets.push_back(static_cast<std::uint64_t>(
              std::partition_point(sorted.begin(), sorted.end(),
                                   [&](std::uint64_t h) { return h >> (64 - bits) < part; }) -
              sorted.begin()));
        }
        filter expected = make_filter(blocks, k);
        filter built = make_filter(blocks, k);
        expected.insert(key_batch::hashes(keys));
        built.insert_hash(keys[1]);
        launch("insert",
               "insert_slices_kernel<(" + detail + "rounds)" +
                   std::to_string(static_cast<unsigned>(rounds_of(k))),
               3, gpu::detail::slice_threads,
               std::size_t{slice::most_blocks(bits, blocks)} * rot8::bytes_per_block,
               {words_of(built), ptx::argument::value(blocks), ptx::argument::value(k),
                ptx::argument::in(sorted), ptx::argument::in(offsets), ptx::argument::value(bits)},
               random_schedule(k));
        ASSERT_TRUE(same_words(expected, built)) << "k " << k << ", blocks " << blocks;
        comparisons += expected.view().shape().word_count();
      }
    }
  }
}

TEST_P(Ptx, EveryWidthOfTheCommonCase) {
  const all_keys keys(1000, 3);
  const key_case c = keys.cases().front();
  filter f = make_filter(200, 8, 3);
  f.insert(c.batch.slice(0, 500));
  std::vector<std::uint8_t> expected(bitmap_bytes(1000));
  reference_engine().may_contain(f.view(), c.batch, expected.data(), {});
  for (const auto& [lanes, words] :
       {std::pair{1u, 2u}, {1u, 4u}, {2u, 2u}, {2u, 4u}, {4u, 2u}, {8u, 1u}}) {
    std::vector<std::uint8_t> bitmap(expected.size());
    launch("widths", "contains_kernel<" + shape_name(lanes, words, 8), 2, block_threads, 0,
           {words_of(std::as_const(f)), ptx::argument::value(f.blocks()), ptx::argument::value(8u),
            c.argument, ptx::argument::value(std::uint64_t{1000}), ptx::argument::inout(bitmap)},
           random_schedule(lanes));
    ASSERT_EQ(bitmap, expected) << lanes << " lanes, " << words << " words";
    comparisons += 1000;
  }
  filter whole = make_filter(200, 8, 3);
  whole.insert(c.batch);
  for (const unsigned lanes : {1u, 2u, 4u, 8u}) {
    filter built = make_filter(200, 8, 3);
    launch("widths", "insert_kernel<" + shape_name(lanes, 1, 8), 2, block_threads, 0,
           {words_of(built), ptx::argument::value(built.blocks()), ptx::argument::value(8u),
            c.argument, ptx::argument::value(std::uint64_t{1000})},
           random_schedule(lanes));
    ASSERT_TRUE(same_words(whole, built)) << lanes << " lanes";
    comparisons += whole.view().shape().word_count();
  }
}

TEST_P(Ptx, ViewInsideKernels) {
  const auto keys = random_keys(700, 12);
  const std::uint64_t count = keys.size();
  for (const std::uint32_t k : {8u, 3u, 13u, 24u}) {
    filter expected = make_filter(40, k, 9);
    expected.insert(std::span(keys).first(350));
    for (const std::string kernel :
         {"_by_threads", "_by_groups<1u>", "_by_groups<2u>", "_by_groups<4u>", "_by_groups<8u>"}) {
      filter built = make_filter(40, k, 9);
      // filter_view: the words, then the shape.
      const filter_shape shape = built.view().shape();
      const auto view = [&](const ptx::argument& words) {
        return ptx::argument::record(
            {words, ptx::argument::raw(&shape, sizeof shape, alignof(filter_shape))});
      };
      launch("view", "insert" + kernel, 3, 128, 0,
             {view(words_of(built)), ptx::argument::in(keys),
              ptx::argument::value(std::uint64_t{350})},
             random_schedule(k));
      ASSERT_TRUE(same_words(expected, built)) << kernel << ", k " << k;
      std::vector<std::uint8_t> answers(count);
      launch("view", "contains" + kernel, 3, 128, 0,
             {view(words_of(std::as_const(built))), ptx::argument::in(keys),
              ptx::argument::value(count), ptx::argument::inout(answers)},
             random_schedule(k));
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(answers[i] != 0, expected.may_contain(keys[i])) << kernel << ", k " << k;
      }
      comparisons += count + expected.view().shape().word_count();
    }
  }
}

/// One hash for each bit of a one-block filter with k = 1.
std::vector<std::uint64_t> hash_of_every_bit() {
  std::vector<std::uint64_t> hashes(rot8::bits_per_block);
  std::size_t found = 0;
  for (std::uint32_t x = 1; found < hashes.size(); ++x) {
    const unsigned word = rot8::partial_start(x);
    std::uint64_t& slot = hashes[word * 64 + rot8::bit_index(x, word)];
    found += slot == 0 ? 1 : 0;
    slot = x;
  }
  return hashes;
}

TEST_P(Ptx, NoLostUpdateWithTheAtomicAndManyWithout) {
  const auto hashes = hash_of_every_bit();
  std::uint64_t lost_without = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    ptx::launch_options options = random_schedule(seed);
    options.racecheck = false;  // that would see the missing atomic at once
    for (const bool atomic : {true, false}) {
      filter f = make_filter(1, 1);
      launch("losing", atomic ? "insert_atomically" : "insert_and_lose", 4, block_threads, 0,
             {words_of(f), ptx::argument::in(hashes),
              ptx::argument::value(std::uint64_t{hashes.size()})},
             options);
      const std::uint64_t lost = rot8::bits_per_block - popcount_of(f.view());
      if (atomic) {
        ASSERT_EQ(lost, 0u);
      } else {
        lost_without += lost;
      }
      comparisons += hashes.size();
    }
  }
  EXPECT_GT(lost_without, 0u);
  std::printf("without the atomic, %llu of %zu bits were lost in 5 schedules\n",
              static_cast<unsigned long long>(lost_without), 5 * hashes.size());
  filter f = make_filter(1, 1);
  const ptx::launch_statistics stats = module("losing").launch(
      "insert_and_lose", {4}, {block_threads}, 0,
      {words_of(f), ptx::argument::in(hashes), ptx::argument::value(std::uint64_t{hashes.size()})},
      random_schedule(1));
  EXPECT_FALSE(stats.races.empty()) << "the race check does not see the missing atomic";
}

// A pointer to keys beyond the buffer would fault; so would a key read past the tail. These
// pointers are as little aligned as callers may have them.
TEST_P(Ptx, KeysAndStringsAtOddAddresses) {
  const auto keys = random_keys(300, 2);
  string_column column(300, 0, 7);
  for (const std::int64_t offset : {1, 3, 5}) {
    string_column shifted = column;
    shifted.bytes.insert(0, static_cast<std::size_t>(offset), '?');
    filter expected = make_filter(50, 8);
    expected.insert(key_batch::strings(column.keys()));
    filter built = make_filter(50, 8);
    launch("insert", "insert_kernel<" + shape_name(4, 1, 8) + ", " + detail + "string_source", 1,
           block_threads, 0,
           {words_of(built), ptx::argument::value(50u), ptx::argument::value(8u),
            ptx::argument::record(
                {ptx::argument::in(shifted.bytes.data(), shifted.bytes.size(), offset),
                 ptx::argument::in(shifted.offsets), ptx::argument::value(std::uint64_t{0}),
                 ptx::argument::value(std::uint64_t{0})}),
            ptx::argument::value(std::uint64_t{300})},
           random_schedule(3));
    ASSERT_TRUE(same_words(expected, built)) << offset;
    comparisons += 400;
  }
}

// Word addresses above 32 bits: a filter over 4 GiB, of which only a few pages are touched.
TEST_P(Ptx, BlocksBeyondFourGiB) {
  const std::uint32_t blocks = (1u << 26) + 12345;
  if (available_memory() < std::uint64_t{blocks} * 200) {
    GTEST_SKIP() << "not enough memory for 4 GiB twice";
  }
  std::vector<std::uint64_t> hashes = random_keys(30, 4);
  hashes.push_back(~std::uint64_t{0});  // the last block
  filter expected = make_filter(blocks, 8);
  filter built = make_filter(blocks, 8);
  expected.insert(key_batch::hashes(hashes));
  const ptx::argument source = ptx::argument::record({ptx::argument::in(hashes)});
  const ptx::argument count = ptx::argument::value(std::uint64_t{hashes.size()});
  ptx::launch_options options;
  options.collect_stats = false;
  launch("insert", "insert_kernel<" + shape_name(4, 1, 8) + ", " + detail + "hash_source", 1,
         block_threads, 0,
         {words_of(built), ptx::argument::value(blocks), ptx::argument::value(8u), source, count},
         options);
  for (const std::uint64_t hash : hashes) {
    const std::size_t word = std::size_t{rot8::block_index(hash, blocks)} * 8;
    ASSERT_TRUE(std::equal(expected.view().words() + word, expected.view().words() + word + 8,
                           built.view().words() + word));
  }
  std::vector<std::uint8_t> bitmap(bitmap_bytes(hashes.size()));
  launch("contains", "contains_kernel<" + shape_name(4, 2, 8) + ", " + detail + "hash_source", 1,
         block_threads, 0,
         {words_of(std::as_const(built)), ptx::argument::value(blocks), ptx::argument::value(8u),
          source, count, ptx::argument::inout(bitmap)},
         options);
  for (std::size_t i = 0; i < hashes.size(); ++i) ASSERT_TRUE(bitmap_get(bitmap.data(), i)) << i;
  comparisons += 9 * hashes.size();
}

struct traffic {
  double sectors = 0;       ///< 32-byte requests to the filter a key
  double atomics = 0;       ///< warp instructions for 32 keys
  double instructions = 0;  ///< PTX instructions for 32 keys
};

// Sectors, atomics and instructions a key, over a filter so large that keys share nothing.
TEST_P(Ptx, SectorsAtomicsAndInstructionsAKey) {
  constexpr std::uint64_t count = 64 * 1024;
  const auto keys = random_keys(count, 77);
  filter f = make_filter(1 << 20, 8);
  ptx::launch_options serial;
  serial.serial = true;
  const ptx::argument source = ptx::argument::record(
      {ptx::argument::in(keys), ptx::argument::value(octobloom::detail::integer_start(0))});
  const double key_sectors = count * 8.0 / 32;
  const double groups = count / 32.0;

  std::printf(
      "| sm_%d, k = 8, 64-bit keys | sectors a key | RED for 32 keys | PTX instructions "
      "for 32 keys |\n",
      GetParam());
  const auto contains = [&](unsigned lanes, unsigned words) {
    std::vector<std::uint8_t> bitmap(bitmap_bytes(count));
    const ptx::launch_statistics s = launch(
        "widths", "contains_kernel<" + shape_name(lanes, words, 8), 32, block_threads, 0,
        {words_of(std::as_const(f)), ptx::argument::value(f.blocks()), ptx::argument::value(8u),
         source, ptx::argument::value(count), ptx::argument::inout(bitmap)},
        serial);
    EXPECT_EQ(s.global_atomic.instructions, 0u);
    EXPECT_EQ(s.global_store.bytes, count / 8);
    const traffic t{(static_cast<double>(s.global_load.sectors) - key_sectors) / count, 0,
                    static_cast<double>(s.warp_instructions) / groups};
    std::printf("| contains, %u lanes of %u bytes | %.3f | 0 | %.1f |\n", lanes, 8 * words,
                t.sectors, t.instructions);
    return t;
  };
  const auto insert = [&](unsigned lanes) {
    const ptx::launch_statistics s =
        launch("widths", "insert_kernel<" + shape_name(lanes, 1, 8), 32, block_threads, 0,
               {words_of(f), ptx::argument::value(f.blocks()), ptx::argument::value(8u), source,
                ptx::argument::value(count)},
               serial);
    EXPECT_EQ(static_cast<double>(s.global_load.sectors), key_sectors);
    EXPECT_EQ(s.global_store.instructions, 0u);
    const traffic t{static_cast<double>(s.global_atomic.sectors) / count,
                    static_cast<double>(s.global_atomic.instructions) / groups,
                    static_cast<double>(s.warp_instructions) / groups};
    std::printf("| insert, %u lanes | %.3f | %.1f | %.1f |\n", lanes, t.sectors, t.atomics,
                t.instructions);
    return t;
  };

  // Two keys of a warp now and then meet in a block.
  const auto near = [](double value, double expected) {
    EXPECT_LE(value, expected);
    EXPECT_GE(value, expected * 0.999);
  };
  near(contains(4, 2).sectors, 2);
  near(contains(2, 2).sectors, 2);
  near(contains(2, 4).sectors, GetParam() >= 100 ? 2 : 4);
  near(contains(1, 2).sectors, 4);
  (void)contains(1, 4);
  (void)contains(8, 1);
  for (const unsigned lanes : {4u, 8u, 2u, 1u}) {
    const traffic t = insert(lanes);
    near(t.sectors, lanes >= 4 ? 2 : 8.0 / lanes);
    EXPECT_EQ(t.atomics, 8);
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, Ptx, ::testing::Values(80, 90, 100),
                         [](const auto& parameter) {
                           return "sm_" + std::to_string(parameter.param);
                         });

}  // namespace
}  // namespace octobloom::test
