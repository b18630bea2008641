// The bodies of the kernels, run on the host by host_tile, against the reference engine.

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <thread>
#include <vector>

#include <octobloom/engine.h>
#include <octobloom/filter.h>
#include <octobloom/gpu/detail/sources.h>
#include <octobloom/statistics.h>
#include <octobloom/storage.h>

#include "cuda/cuda_test_data.h"
#include "cuda/host_backend.h"

namespace octobloom::test {
namespace {

std::uint64_t comparisons = 0;

class report_comparisons : public ::testing::Environment {
 public:
  void TearDown() override {
    std::printf("comparisons with the reference: %llu\n",
                static_cast<unsigned long long>(comparisons));
  }
};
const auto* const registered = ::testing::AddGlobalTestEnvironment(new report_comparisons);

using u64_source = integer_source<std::uint64_t>;

u64_source integers(const std::vector<std::uint64_t>& keys, std::uint64_t seed) {
  return {keys.data(), octobloom::detail::integer_start(seed)};
}

// Every remainder of a warp and of a block that matters, and more than the grid takes in one turn.
constexpr std::size_t counts[] = {0,   1,   2,   7,    8,    9,    31,   32,   33,   63,  64,
                                  100, 224, 255, 256,  257,  300,  511,  512,  513,  767, 768,
                                  769, 800, 999, 1024, 1279, 1280, 1281, 2047, 2048, 2500};

template <class Layout, class Source>
void expect_contains_like_reference(filter& f, const Source& source, const key_batch& batch) {
  const std::size_t bytes = bitmap_bytes(batch.size());
  std::vector<std::uint8_t> expected(bytes);
  std::vector<std::uint32_t> words(bytes / 4 + 2, 0xEEEEEEEEu);
  auto* answer = reinterpret_cast<std::uint8_t*>(words.data());
  reference_engine().may_contain(f.view(), batch, expected.data(), {});
  host_contains<Layout>(gpu_view(f), source, batch.size(), answer);
  ASSERT_TRUE(std::equal(expected.begin(), expected.end(), answer))
      << "lanes " << Layout::lanes << ", words " << Layout::words << ", k " << f.k() << ", keys "
      << batch.size();
  for (std::size_t i = bytes; i < words.size() * 4; ++i) ASSERT_EQ(answer[i], 0xEE) << i;
  comparisons += batch.size();
}

template <class Layout, class Source>
void expect_insert_like_reference(std::uint32_t blocks, std::uint32_t k, std::uint64_t seed,
                                  const Source& source, const key_batch& batch) {
  filter expected = make_filter(blocks, k, seed);
  filter built = make_filter(blocks, k, seed);
  reference_engine().insert(expected.view(), batch, {});
  host_insert<Layout>(gpu_view(built), source, batch.size());
  ASSERT_TRUE(same_words(expected, built))
      << "lanes " << Layout::lanes << ", k " << k << ", keys " << batch.size();
  comparisons += expected.view().shape().word_count();
}

template <class Layout>
class ContainsBody : public ::testing::Test {};
using contains_layouts =
    ::testing::Types<layout<1, 1>, layout<1, 2>, layout<1, 4>, layout<2, 1>, layout<2, 2>,
                     layout<2, 4>, layout<4, 1>, layout<4, 2>, layout<8, 1>>;
TYPED_TEST_SUITE(ContainsBody, contains_layouts);

TYPED_TEST(ContainsBody, EveryKAndTail) {
  for (std::uint32_t k = 1; k <= rot8::max_k; ++k) {
    const std::uint64_t seed = k * 77;
    filter f = make_filter(301, k, seed);
    const auto keys = random_keys(5000, k);
    f.insert(std::span(keys).first(2500));
    for (const std::size_t count : counts) {
      const std::span mixed = std::span(keys).subspan(2500 - count / 2, count);
      expect_contains_like_reference<TypeParam>(
          f, u64_source{mixed.data(), octobloom::detail::integer_start(seed)},
          key_batch::integers(mixed));
    }
  }
}

template <class Layout>
class InsertBody : public ::testing::Test {};
using insert_layouts = ::testing::Types<layout<1, 1>, layout<2, 1>, layout<4, 1>, layout<8, 1>>;
TYPED_TEST_SUITE(InsertBody, insert_layouts);

TYPED_TEST(InsertBody, EveryKAndTail) {
  for (std::uint32_t k = 1; k <= rot8::max_k; ++k) {
    const auto keys = random_keys(2500, k);
    for (const std::size_t count : counts) {
      expect_insert_like_reference<TypeParam>(97, k, k, integers(keys, k),
                                              key_batch::integers(std::span(keys).first(count)));
    }
  }
}

TEST(Sources, EveryKindOfKey) {
  constexpr std::uint64_t seed = 42;
  const auto start = octobloom::detail::integer_start(seed);
  const auto hashes = random_keys(3000, 1);
  std::vector<std::int32_t> signed_keys(3000);
  std::iota(signed_keys.begin(), signed_keys.end(), -1500);
  std::vector<std::uint32_t> unsigned_keys(3000);
  std::iota(unsigned_keys.begin(), unsigned_keys.end(), 0xFFFFFFFFu - 1500);
  const string_column lines(3000, 1, 9);
  const string_column column(3000, 0, 9);

  const auto check = [&](const auto& source, const key_batch& batch) {
    expect_insert_like_reference<layout<4, 1>>(1000, 8, seed, source, batch);
    filter f = make_filter(1000, 8, seed);
    f.insert(batch.slice(0, 1500));
    expect_contains_like_reference<layout<4, 2>>(f, source, batch);
    expect_contains_like_reference<layout<2, 4>>(f, source, batch);
  };
  const auto widened = [](const auto& keys) {
    std::vector<std::uint64_t> wide;
    for (const auto key : keys) wide.push_back(widen(key));
    return wide;
  };
  check(hash_source{hashes.data()}, key_batch::hashes(hashes));
  const auto wide_signed = widened(signed_keys);
  check(integer_source<std::int32_t>{signed_keys.data(), start}, key_batch::integers(wide_signed));
  const auto wide_unsigned = widened(unsigned_keys);
  check(integer_source<std::uint32_t>{unsigned_keys.data(), start},
        key_batch::integers(wide_unsigned));
  for (const string_column* strings : {&lines, &column}) {
    check(string_source{strings->bytes.data(), strings->offsets.data(), strings->separator, seed},
          key_batch::strings(strings->keys()));
  }
}

TEST(Blocks, OddAndExtremeCounts) {
  for (const std::uint32_t blocks : {1u, 2u, 3u, 7u, 96u, 1000u, 65537u}) {
    const auto keys = random_keys(3000, blocks);
    for (const std::uint32_t k : {3u, 8u, 13u, 24u}) {
      expect_insert_like_reference<layout<4, 1>>(blocks, k, 5, integers(keys, 5),
                                                 key_batch::integers(keys));
    }
  }
}

// Word addresses above 32 bits: a filter over 4 GiB, of which only a few pages are touched.
TEST(Blocks, BeyondFourGiB) {
  const filter_shape shape{(1u << 26) + 12345, 8};
  if (available_memory() < 3 * shape.bytes()) GTEST_SKIP() << "not enough memory for 4 GiB twice";
  std::vector<std::uint64_t> hashes = random_keys(30, 4);
  hashes.push_back(~std::uint64_t{0});  // the last block
  hashes.push_back(0);
  filter expected = make_filter(shape.blocks, shape.k);
  filter built = make_filter(shape.blocks, shape.k);
  expected.insert(key_batch::hashes(hashes));
  host_insert<layout<4, 1>>(gpu_view(built), hash_source{hashes.data()}, hashes.size());
  for (const std::uint64_t hash : hashes) {
    const std::size_t word = std::size_t{rot8::block_index(hash, shape.blocks)} * 8;
    ASSERT_TRUE(std::equal(expected.view().words() + word, expected.view().words() + word + 8,
                           built.view().words() + word));
  }
  expect_contains_like_reference<layout<4, 2>>(built, hash_source{hashes.data()},
                                               key_batch::hashes(hashes));
  EXPECT_EQ(rot8::block_index(~std::uint64_t{0}, shape.blocks), shape.blocks - 1);
}

TEST(Slices, EveryKAndNumberOfBits) {
  const auto keys = random_keys(4000, 8);
  for (std::uint32_t k = 1; k <= rot8::max_k; ++k) {
    for (const std::uint32_t blocks : {1u, 5u, 64u, 1000u}) {
      filter expected = make_filter(blocks, k);
      expected.insert(key_batch::hashes(keys));
      for (const unsigned bits : {1u, 2u, 5u, 9u}) {
        std::vector<std::uint64_t> sorted = keys;
        std::sort(sorted.begin(), sorted.end());
        std::vector<std::uint64_t> offsets;
        for (std::uint64_t part = 0; part <= std::uint64_t{1} << bits; ++part) {
          const auto at = std::partition_point(sorted.begin(), sorted.end(), [&](std::uint64_t h) {
            return h >> (64 - bits) < part;
          });
          offsets.push_back(static_cast<std::uint64_t>(at - sorted.begin()));
        }
        filter built = make_filter(blocks, k);
        // What was there before stays.
        built.insert_hash(keys[0]);
        host_insert_slices(gpu_view(built), sorted.data(), offsets.data(), bits);
        ASSERT_TRUE(same_words(expected, built))
            << "k " << k << ", blocks " << blocks << ", bits " << bits;
        comparisons += expected.view().shape().word_count();
      }
    }
  }
}

TEST(Slices, CoverTheFilterAndFitTheirMemory) {
  for (const std::uint32_t blocks : {1u, 2u, 1000u, 98765u, 3u << 26, 0xFFFFFFFFu}) {
    for (const unsigned bits : {1u, 4u, 11u}) {
      const std::uint64_t parts = std::uint64_t{1} << bits;
      std::uint64_t next = 0;
      for (std::uint64_t i = 0; i < parts; ++i) {
        const slice part = slice::of(i, bits, blocks);
        ASSERT_LE(part.blocks, slice::most_blocks(bits, blocks));
        // A slice begins where the one before ended, or shares that one's last block.
        ASSERT_TRUE(i == 0 ? part.first == 0 : part.first == next || part.first + 1u == next);
        next = std::uint64_t{part.first} + part.blocks;
      }
      ASSERT_EQ(next, blocks);
    }
  }
}

// Which keys the warps of a grid visit, without looking at any.
TEST(Grid, VisitsEveryKeyOnceBeyond32Bits) {
  for (const std::uint64_t keys :
       {(std::uint64_t{1} << 31) + 64, (std::uint64_t{1} << 32) + 255, std::uint64_t{1} << 33}) {
    std::uint64_t visited = 0;
    std::uint64_t last = 0;
    for_each_warp(8 * 132, [&](const position& at) {
      for_each_group(at, keys, [&](std::uint32_t turn, unsigned left, auto) {
        visited += left;
        last = std::max(last, std::uint64_t{turn} * block_threads + at.warp * warp_size + left);
      });
    });
    EXPECT_EQ(visited, keys);
    EXPECT_EQ(last, keys);
  }
}

// Keys that exist only as numbers, so that the tail of a batch of 2^33 can be inserted for real.
struct counted_source {
  std::uint64_t first;
  [[nodiscard]] std::uint64_t hash(std::uint64_t i) const { return hash_integer(first + i); }
  [[nodiscard]] counted_source from(std::uint64_t n) const { return {first + n}; }
};

TEST(Grid, InsertsTheLastKeysOfAHugeBatch) {
  constexpr std::uint64_t keys = (std::uint64_t{1} << 33) + 64 + 7;
  constexpr auto turns = static_cast<std::uint32_t>(keys / block_threads + 1);
  filter expected = make_filter(50, 8);
  filter built = make_filter(50, 8);
  for (std::uint64_t i = (keys / block_threads - 1) * block_threads; i < keys; ++i) {
    expected.insert_hash(hash_integer(i));
  }
  for (const std::uint32_t block : {turns - 2, turns - 1}) {
    for (unsigned warp = 0; warp < block_threads / warp_size; ++warp) {
      insert_body<layout<4, 1>, rounds::one>(host_tile<4>{}, position{block, turns, warp},
                                             built.view().words(), 50, 8, counted_source{0}, keys);
    }
  }
  EXPECT_TRUE(same_words(expected, built));
}

// A thread of a group whose members are asked one after another.
template <unsigned Size>
struct one_of {
  unsigned rank;
  static constexpr unsigned size() { return Size; }
  [[nodiscard]] unsigned thread_rank() const { return rank; }
  [[nodiscard]] static bool all(bool answer) { return answer; }
};

template <unsigned Size>
void expect_group_like_reference(std::uint32_t k) {
  filter expected = make_filter(50, k, 3);
  filter built = make_filter(50, k, 3);
  const gpu::filter_view view = gpu_view(built);
  const auto keys = random_keys(400, k);
  for (std::size_t i = 0; i < 200; ++i) {
    expected.insert(keys[i]);
    for (unsigned rank = 0; rank < Size; ++rank) view.insert(one_of<Size>{rank}, keys[i]);
  }
  ASSERT_TRUE(same_words(expected, built)) << "group of " << Size << ", k " << k;
  for (const std::uint64_t key : keys) {
    bool answer = true;
    for (unsigned rank = 0; rank < Size; ++rank) {
      answer &= view.may_contain(one_of<Size>{rank}, key);
    }
    ASSERT_EQ(answer, expected.may_contain(key)) << "group of " << Size << ", k " << k;
    ASSERT_EQ(view.may_contain(key), answer);
  }
  comparisons += keys.size() + expected.view().shape().word_count();
}

TEST(View, ThreadsAndGroupsAnswerLikeTheReference) {
  for (std::uint32_t k = 1; k <= rot8::max_k; ++k) {
    expect_group_like_reference<1>(k);
    expect_group_like_reference<2>(k);
    expect_group_like_reference<4>(k);
    expect_group_like_reference<8>(k);
  }
}

TEST(View, TakesEveryKeyThatCoreTakes) {
  filter f = make_filter(64, 8, 11);
  const gpu::filter_view view = gpu_view(f);
  view.insert(std::int32_t{-5});
  view.insert(2.5);
  view.insert("mail", 4);
  EXPECT_TRUE(f.may_contain(std::int64_t{-5}));
  EXPECT_TRUE(f.may_contain(2.5f));
  EXPECT_TRUE(f.may_contain("mail"));
  EXPECT_TRUE(view.may_contain(std::int8_t{-5}));
  EXPECT_TRUE(view.may_contain("mail", 4));
  EXPECT_FALSE(view.may_contain("mails", 5));
  static_assert(std::is_trivially_copyable_v<gpu::filter_view>);
}

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

// A filter built by the kernel bodies, saved: the golden file, byte for byte.
TEST(Files, AreTheGoldenOnes) {
  const std::filesystem::path golden = std::filesystem::path(OCTOBLOOM_TEST_DATA) / "golden";
  struct golden_case {
    const char* file;
    std::int64_t first, step;
    std::size_t count;
  };
  for (const auto& [file, first, step, count] :
       {golden_case{"ints-k8.octobloom", 0, 1, 1000},
        golden_case{"ints-k6-seed.octobloom", -200, 1, 400},
        golden_case{"ints-k13.octobloom", 0, 3, 1000}, golden_case{"ints-k24.octobloom", 0, 1, 500},
        golden_case{"one-block.octobloom", 0, 1, 3}, golden_case{"empty.octobloom", 0, 1, 0}}) {
    std::vector<std::uint64_t> keys(count);
    for (std::size_t i = 0; i < count; ++i) {
      keys[i] = widen(first + step * static_cast<std::int64_t>(i));
    }
    filter built = filter::load(golden / file);
    built.clear();
    host_insert<layout<4, 1>>(gpu_view(built), integers(keys, built.seed()), count);
    built.count_inserted(count, key_family::integers);
    const std::filesystem::path saved =
        std::filesystem::path(::testing::TempDir()) / ("octobloom-cuda-" + std::string(file));
    built.save(saved);
    EXPECT_EQ(read_file(saved), read_file(golden / file)) << file;
    std::filesystem::remove(saved);
  }
}

// One hash for each bit of a one-block filter with k = 1: every bit is written exactly once, so
// that nobody writes a lost one again.
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

/// What host_tile would be without its atomic. The two halves are atomic each, so that it is no
/// data race in the language's sense and a sanitizer lets it lose updates.
template <unsigned Lanes>
struct losing_tile : host_tile<Lanes> {
  static void or_word(std::uint64_t* word, std::uint64_t mask) {
    const std::atomic_ref shared(*word);
    const std::uint64_t before = shared.load(std::memory_order_relaxed);
    std::this_thread::yield();
    shared.store(before | mask, std::memory_order_relaxed);
  }
};

/// Inserts the hash of every bit from as many threads as there are cores, at least two, `rounds`
/// times or until `stop_at_loss`; returns how many bits were lost.
template <class Tile>
std::uint64_t lost_bits(unsigned repetitions, bool stop_at_loss) {
  const unsigned threads = std::max(2u, std::thread::hardware_concurrency());
  const auto hashes = hash_of_every_bit();
  filter f = make_filter(1, 1);
  std::uint64_t lost = 0;
  bool done = false;
  unsigned repetition = 0;
  const auto after_a_round = [&]() noexcept {
    lost += rot8::bits_per_block - popcount_of(f.view());
    f.clear();
    done = ++repetition == repetitions || (stop_at_loss && lost > 0);
  };
  std::barrier after(static_cast<std::ptrdiff_t>(threads), after_a_round);
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      // The bits of a word are spread over the threads: all of them write every word at a time.
      std::vector<std::uint64_t> mine;
      for (std::size_t i = t; i < hashes.size(); i += threads) mine.push_back(hashes[i]);
      while (!done) {
        for_each_warp(1, [&](const position& at) {
          insert_body<layout<4, 1>, rounds::partial>(Tile{}, at, f.view().words(), 1, 1,
                                                     hash_source{mine.data()}, mine.size());
        });
        after.arrive_and_wait();
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  return lost;
}

TEST(LostUpdates, NoneWithTheAtomic) {
  EXPECT_EQ(lost_bits<host_tile<4>>(20'000, false), 0u);
}

TEST(LostUpdates, TheTestSeesThemWithoutTheAtomic) {
  EXPECT_GT(lost_bits<losing_tile<4>>(2'000'000, true), 0u);
}

// Slices of two threads of blocks at once: neighbours share a block.
TEST(LostUpdates, NeighbouringSlices) {
  const auto keys = random_keys(3000, 21);
  filter expected = make_filter(3, 8);
  expected.insert(key_batch::hashes(keys));
  std::vector<std::uint64_t> sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  const auto middle = std::partition_point(sorted.begin(), sorted.end(),
                                           [](std::uint64_t h) { return h >> 63 == 0; });
  const auto half = static_cast<std::uint64_t>(middle - sorted.begin());
  for (unsigned repetition = 0; repetition < 200; ++repetition) {
    filter built = make_filter(3, 8);
    const std::uint64_t lower[] = {0, half, half};
    const std::uint64_t upper[] = {half, half, sorted.size()};
    std::thread other([&] { host_insert_slices(gpu_view(built), sorted.data(), upper, 1); });
    host_insert_slices(gpu_view(built), sorted.data(), lower, 1);
    other.join();
    ASSERT_TRUE(same_words(expected, built));
  }
}

// What others insert while a slice is built stays.
TEST(LostUpdates, InsertsBesideASlice) {
  constexpr std::uint32_t blocks = 9;
  const auto keys = random_keys(600, 22);
  filter expected = make_filter(blocks, 8);
  expected.insert(key_batch::hashes(keys));
  std::vector<std::uint64_t> sorted(keys.begin(), keys.begin() + 300);
  std::sort(sorted.begin(), sorted.end());
  filter built = make_filter(blocks, 8);
  const auto insert_others = [&](std::size_t first, std::size_t last) {
    host_insert<layout<4, 1>>(gpu_view(built), hash_source{keys.data() + first}, last - first);
  };
  std::size_t done = 0;
  for (std::uint64_t i = 0; i < 2; ++i) {
    const slice part = slice::of(i, 1, blocks);
    std::vector<std::uint64_t> local(part.words(), 0xCDCDCDCDCDCDCDCDu);
    const auto end = static_cast<std::size_t>(
        std::partition_point(sorted.begin(), sorted.end(),
                             [&](std::uint64_t h) { return h >> 63 <= i; }) -
        sorted.begin());
    clear_slice(part, local.data(), 0, 1);
    insert_others(300 + 150 * i, 375 + 150 * i);
    fill_slice<rounds::one>(part, blocks, 8, sorted.data() + done, sorted.data() + end,
                            local.data(), 0, 1);
    insert_others(375 + 150 * i, 450 + 150 * i);
    merge_slice<host_tile<1>>(part, local.data(), built.view().words(), 0, 1);
    done = end;
  }
  EXPECT_TRUE(same_words(expected, built));
}

// Words of a slice do not overlap, and threads at one word of random blocks use all banks.
TEST(Slice, PlacesWords) {
  std::vector<bool> taken(1024 * 8);
  for (std::uint32_t block = 0; block < 1024; ++block) {
    for (unsigned word = 0; word < 8; ++word) {
      const std::uint32_t at = slice::place(block, word);
      ASSERT_EQ(at / 8, block);
      ASSERT_FALSE(taken[at]);
      taken[at] = true;
    }
  }
  for (unsigned word = 0; word < 8; ++word) {
    std::vector<unsigned> uses(16);  // pairs of banks
    for (std::uint32_t block = 0; block < 1024; ++block) ++uses[slice::place(block, word) % 16];
    EXPECT_EQ(uses, std::vector<unsigned>(16, 64));
  }
}

}  // namespace
}  // namespace octobloom::test
