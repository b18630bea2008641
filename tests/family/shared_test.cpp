#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <octobloom/octobloom.h>

#include "helpers.h"

namespace {

using namespace octobloom;
using family::numbers;

/// Runs `work(number)` in threads that begin together.
void race(unsigned threads, const std::function<void(unsigned)>& work) {
  std::atomic<unsigned> waiting{threads};
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < threads; ++t) {
    pool.emplace_back([&, t] {
      for (--waiting; waiting > 0;) std::this_thread::yield();
      work(t);
    });
  }
  for (auto& thread : pool) thread.join();
}

bool same_bits(const filter& a, const filter& b) {
  return a.view().shape() == b.view().shape() &&
         std::equal(a.view().words(), a.view().words() + a.view().shape().word_count(),
                    b.view().words());
}

constexpr unsigned threads = 8;

TEST(shared, eight_threads_racing_on_10000_keys_are_told_10000_new) {
  constexpr std::uint64_t count = 10'000;
  const plan roomy = plan_with_blocks(1 << 16, 16);  // no false positive among these keys
  ASSERT_LT(expected_fpr(count, roomy.blocks, roomy.k) * count, 1e-6);
  for (int round = 0; round < 20; ++round) {
    shared_filter shared(roomy, {.seed = static_cast<std::uint64_t>(round)});
    std::vector<std::atomic<unsigned>> winners(count);
    std::atomic<std::uint64_t> fresh{0};
    race(threads, [&](unsigned t) {
      // Half of them key by key, half in batches; all meet at the same keys.
      if (t % 2 == 0) {
        for (std::uint64_t key = 0; key < count; ++key) {
          if (!shared.insert_new(key)) continue;
          ++winners[key];
          ++fresh;
        }
        return;
      }
      const auto keys = numbers(0, count);
      std::vector<std::uint8_t> answers(bitmap_bytes(count));
      fresh += shared.insert_new(keys, answers);
      for (std::size_t i = 0; i < count; ++i) winners[i] += bitmap_get(answers.data(), i) ? 1u : 0u;
    });
    EXPECT_EQ(fresh, count);
    EXPECT_TRUE(std::all_of(winners.begin(), winners.end(), [](auto& w) { return w == 1; }));
    EXPECT_EQ(shared.inserted_keys(), count);
  }
}

TEST(shared, one_key_raced_for_has_one_winner) {
  // Every key in the same few blocks, and every thread at the same key.
  constexpr std::uint64_t count = 2000;
  shared_filter shared(plan_with_blocks(2000, 24));
  std::vector<std::atomic<unsigned>> winners(count);
  std::atomic<std::uint64_t> turn{0};
  std::atomic<unsigned> arrived{0};
  race(4, [&](unsigned) {
    for (std::uint64_t key = 0; key < count; ++key) {
      if (arrived.fetch_add(1) + 1 == 4 * (key + 1)) ++turn;
      while (turn <= key) std::this_thread::yield();
      winners[key] += shared.insert_new(key) ? 1u : 0u;
    }
  });
  EXPECT_TRUE(std::all_of(winners.begin(), winners.end(), [](auto& w) { return w == 1; }));
}

TEST(shared, threads_build_the_filter_that_one_builds) {
  // A word takes bits from all threads at once: an update that is lost is seen.
  const std::uint64_t each = 200'000 / family::slowdown;
  const plan plan = plan_with_blocks(64, 8);
  filter alone(plan_with_blocks(64 * 400, 8));
  shared_filter together(plan_with_blocks(64 * 400, 8));
  alone.insert(numbers(0, each * threads));
  race(threads, [&](unsigned t) {
    const auto keys = numbers(each * t, each);
    if (t % 2 == 0) {
      together.insert(keys);
    } else {
      for (const std::uint64_t key : keys) together.insert(key);
    }
  });
  EXPECT_EQ(together.inserted_keys(), each * threads);
  EXPECT_TRUE(same_bits(together.snapshot(), alone));
  EXPECT_EQ(together.snapshot().inserted_keys(), each * threads);
  const filter taken = std::move(together).take_filter();
  EXPECT_TRUE(same_bits(taken, alone));
  EXPECT_EQ(taken.inserted_keys(), each * threads);

  // Each bit of a small filter is set once: nothing else could set it again.
  for (int round = 0; round < 50; ++round) {
    filter one(plan);
    shared_filter many(plan);
    one.insert(numbers(0, 400));
    race(threads, [&](unsigned t) {
      for (std::uint64_t key = t; key < 400; key += threads) many.insert(key);
    });
    ASSERT_TRUE(same_bits(many.snapshot(), one));
  }
}

TEST(shared, readers_never_miss_a_finished_insert) {
  const std::uint64_t count = 300'000 / family::slowdown;
  shared_filter shared(plan_for(count, 0.001));
  std::atomic<std::uint64_t> finished{0};
  std::atomic<std::uint64_t> missed{0};
  race(4, [&](unsigned t) {
    if (t == 0) {
      for (std::uint64_t key = 0; key < count; ++key) {
        shared.insert(key);
        finished.store(key + 1, std::memory_order_release);
      }
      return;
    }
    std::uint64_t random = t;
    for (std::uint64_t seen = 0; seen < count;) {
      seen = finished.load(std::memory_order_acquire);
      if (seen == 0) continue;
      random = random * 6364136223846793005u + 1442695040888963407u;
      if (!shared.may_contain((random >> 33) % seen)) ++missed;
      if (!shared.may_contain(seen - 1)) ++missed;
    }
  });
  EXPECT_EQ(missed, 0u);
  EXPECT_EQ(shared.count_contained(numbers(0, count)), count);
}

TEST(shared, answers_as_a_plain_filter) {
  for (const std::uint32_t k : {1u, 7u, 8u, 20u}) {
    const plan plan = plan_with_blocks(150, k);
    filter plain(plan, {.seed = 11});
    shared_filter shared(plan, {.seed = 11});
    std::vector<std::string> words;
    for (int i = 0; i < 3000; ++i) words.push_back("word " + std::to_string(i % 2000));
    std::vector<std::uint8_t> a(bitmap_bytes(words.size()), 0xFF);
    std::vector<std::uint8_t> b(bitmap_bytes(words.size()), 0xEE);
    EXPECT_EQ(shared.insert_new(words, a), plain.insert_new(words, b));
    EXPECT_EQ(a, b);
    EXPECT_EQ(shared.may_contain(numbers(0, 3000), a, {.any_family = true}),
              plain.may_contain(numbers(0, 3000), b, {.any_family = true}));
    EXPECT_EQ(a, b);
    EXPECT_EQ(shared.inserted_keys(), plain.inserted_keys());
    EXPECT_TRUE(same_bits(shared.snapshot(), plain));
  }
}

TEST(shared, goes_on_from_a_plain_filter) {
  filter plain = filter::with_fpr(1000, 0.01);
  plain.insert(numbers(0, 500));
  shared_filter shared(std::move(plain));
  shared.insert(numbers(500, 500));
  EXPECT_EQ(shared.count_contained(numbers(0, 1000)), 1000u);
  EXPECT_EQ(shared.inserted_keys(), 1000u);
  EXPECT_EQ(shared.planned_keys(), 1000u);
  shared.clear();
  EXPECT_EQ(shared.inserted_keys(), 0u);
  EXPECT_EQ(shared.count_contained(numbers(0, 1000)), 0u);
  family::expect_error(error_code::wrong_key, "hashes", [] {
    shared_filter(plan_for(10, 0.1), {.hashing = key_hashing::caller}).insert(1);
  });
}

}  // namespace
