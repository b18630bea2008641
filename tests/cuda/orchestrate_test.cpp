// The Thrust orchestration over the host bodies, on the CPP or the OMP system of Thrust: which one
// is a matter of THRUST_DEVICE_SYSTEM.

#include <gtest/gtest.h>
#include <thrust/execution_policy.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <unordered_set>
#include <vector>

#include <octobloom/engine.h>
#include <octobloom/filter.h>
#include <octobloom/gpu/detail/sources.h>
#include <octobloom/statistics.h>
#include <octobloom/gpu/detail/orchestrate.cuh>

#include "cuda/cuda_test_data.h"
#include "cuda/host_backend.h"

namespace octobloom::test {
namespace {

using gpu::detail::block_sum;

std::uint64_t comparisons = 0;

class report_comparisons : public ::testing::Environment {
 public:
  void TearDown() override {
    std::printf("Thrust's device system: %s; comparisons with the reference: %llu\n",
                OCTOBLOOM_THRUST_SYSTEM, static_cast<unsigned long long>(comparisons));
  }
};
const auto* const registered = ::testing::AddGlobalTestEnvironment(new report_comparisons);

template <class T>
class host_values {
 public:
  explicit host_values(std::uint64_t count) : values_(new T[count]()) {}
  [[nodiscard]] T* data() const { return values_.get(); }

 private:
  std::unique_ptr<T[]> values_;
};

struct host_backend {
  static auto policy() { return thrust::device; }
  template <class T>
  static host_values<T> temporary(std::uint64_t count) {
    return host_values<T>(count);
  }
  template <class Source>
  static void hash(const Source& source, std::uint64_t keys, std::uint64_t* hashes) {
    for (std::uint64_t i = 0; i < keys; ++i) hashes[i] = source.hash(i);
  }
  static void contains(const gpu::filter_view& view, const std::uint64_t* hashes,
                       std::uint64_t keys, std::uint8_t* bitmap) {
    host_contains<layout<4, 2>>(view, hash_source{hashes}, keys, bitmap);
  }
  static void insert_sorted(const gpu::filter_view& view, const std::uint64_t* hashes,
                            std::uint64_t keys) {
    EXPECT_TRUE(std::is_sorted(hashes, hashes + keys, [&](std::uint64_t a, std::uint64_t b) {
      return a >> sorted_from < b >> sorted_from;
    }));
    host_insert<layout<4, 1>>(view, hash_source{hashes}, keys);
  }
  static void insert_slices(const gpu::filter_view& view, const std::uint64_t* hashes,
                            const std::uint64_t* offsets, unsigned bits) {
    host_insert_slices(view, hashes, offsets, bits);
  }
  static std::uint64_t* sort_by_top_bits(std::uint64_t* hashes, std::uint64_t* other,
                                         std::uint64_t keys, unsigned bits) {
    thrust::stable_sort(policy(), hashes, hashes + keys, [bits](std::uint64_t a, std::uint64_t b) {
      return a >> (64 - bits) < b >> (64 - bits);
    });
    sorted_from = 64 - bits;
    if (bits % 2 == 0) return hashes;
    std::copy_n(hashes, keys, other);
    std::fill_n(hashes, keys, 0);
    return other;
  }
  static inline unsigned sorted_from = 0;  ///< the bit
};

/// Keys with repeats near and far.
std::vector<std::uint64_t> repeating_keys(std::size_t count, std::uint64_t seed) {
  auto keys = random_keys(count, seed);
  for (std::size_t i = 0; i < count; ++i) {
    if (keys[i] % 3 == 0) keys[i] = keys[keys[i] / 3 % (i + 1)];
  }
  return keys;
}

TEST(Orchestration, RunsOnTheSystemUnderTest) {
  EXPECT_STREQ(OCTOBLOOM_THRUST_SYSTEM, THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_OMP ? "OMP"
                                        : THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CPP
                                            ? "CPP"
                                            : "another");
}

TEST(Orchestration, InsertByRange) {
  host_backend backend;
  const auto keys = repeating_keys(3000, 5);
  for (const std::uint32_t k : {7u, 8u, 9u, 24u}) {
    for (const std::uint32_t blocks : {1u, 77u, 5000u}) {
      filter expected = make_filter(blocks, k, 9);
      expected.insert(keys);
      for (const auto method : {gpu::insert_method::l2_slices, gpu::insert_method::shared_slices}) {
        for (const unsigned bits : {1u, 8u, 11u}) {
          for (const std::uint64_t group : {std::uint64_t{1} << 26, std::uint64_t{1024}}) {
            filter built = make_filter(blocks, k, 9);
            gpu::detail::insert_by_range(
                backend, gpu_view(built),
                integer_source<std::uint64_t>{keys.data(), octobloom::detail::integer_start(9)},
                keys.size(), {method, bits}, group);
            ASSERT_TRUE(same_words(expected, built)) << "k " << k << ", bits " << bits;
            comparisons += expected.view().shape().word_count();
          }
        }
      }
    }
  }
}

/// What insert_new promises, the obvious way.
std::vector<bool> promised(filter& f, const std::vector<std::uint64_t>& hashes, std::size_t group) {
  std::vector<bool> fresh(hashes.size());
  for (std::size_t first = 0; first < hashes.size(); first += group) {
    const std::size_t last = std::min(hashes.size(), first + group);
    std::unordered_set<std::uint64_t> seen;
    for (std::size_t i = first; i < last; ++i) {
      fresh[i] = !f.may_contain_hash(hashes[i]) && seen.insert(hashes[i]).second;
    }
    for (std::size_t i = first; i < last; ++i) f.insert_hash(hashes[i]);
  }
  return fresh;
}

TEST(Orchestration, InsertNew) {
  host_backend backend;
  const auto known = random_keys(100, 77);
  for (const std::uint32_t k : {1u, 5u, 8u, 13u, 24u}) {
    // Small filters, so that false positives happen.
    for (const std::uint32_t blocks : {4u, 60u, 2000u}) {
      for (const std::size_t count :
           {std::size_t{0}, std::size_t{1}, std::size_t{33}, std::size_t{2500}}) {
        auto hashes = repeating_keys(count, k + blocks);
        for (std::size_t i = 0; i < hashes.size(); i += 7) hashes[i] = known[i % known.size()];
        for (const std::uint64_t group : {std::uint64_t{1} << 24, std::uint64_t{512}}) {
          filter expected = make_filter(blocks, k);
          filter built = make_filter(blocks, k);
          for (const std::uint64_t hash : known) {
            expected.insert_hash(hash);
            built.insert_hash(hash);
          }
          const auto answers = promised(expected, hashes, group);
          std::vector<std::uint8_t> bitmap(bitmap_bytes(count) + 1, 0xEE);
          const std::uint64_t fresh = gpu::detail::insert_new_all(
              backend, gpu_view(built), hash_source{hashes.data()}, count, bitmap.data(), group);
          ASSERT_TRUE(same_words(expected, built));
          for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(bitmap_get(bitmap.data(), i), answers[i]) << "key " << i << ", k " << k;
          }
          ASSERT_EQ(count % 8 == 0 ? 0 : bitmap[count / 8] >> (count % 8), 0);
          ASSERT_EQ(bitmap.back(), 0xEE);
          ASSERT_EQ(fresh,
                    static_cast<std::uint64_t>(std::count(answers.begin(), answers.end(), true)));
          comparisons += count + expected.view().shape().word_count();
        }
      }
    }
  }
}

// The same body and the same or more keys than the order-by-order answer, and equal where a false
// positive is out of the question.
TEST(Orchestration, InsertNewAgainstTheReference) {
  host_backend backend;
  const auto keys = repeating_keys(4000, 3);
  filter expected = make_filter(4000, 8);
  filter built = make_filter(4000, 8);
  std::vector<std::uint8_t> expected_bits(bitmap_bytes(keys.size()));
  std::vector<std::uint8_t> bits(expected_bits.size());
  const std::uint64_t expected_fresh = reference_engine().insert_new(
      expected.view(), key_batch::hashes(keys), expected_bits.data(), {});
  EXPECT_EQ(gpu::detail::insert_new_all(backend, gpu_view(built), hash_source{keys.data()},
                                        keys.size(), bits.data()),
            expected_fresh);
  EXPECT_EQ(bits, expected_bits);
  EXPECT_TRUE(same_words(expected, built));

  filter crowded_expected = make_filter(6, 8);
  filter crowded = make_filter(6, 8);
  const std::uint64_t in_order =
      reference_engine().insert_new(crowded_expected.view(), key_batch::hashes(keys), nullptr, {});
  EXPECT_GE(gpu::detail::insert_new_all(backend, gpu_view(crowded), hash_source{keys.data()},
                                        keys.size(), nullptr),
            in_order);
  EXPECT_TRUE(same_words(crowded_expected, crowded));
  comparisons += keys.size();
}

TEST(Orchestration, Results) {
  host_backend backend;
  const auto keys = random_keys(3001, 6);
  for (const std::size_t count : {0u, 1u, 8u, 31u, 64u, 65u, 3001u}) {
    std::vector<std::uint8_t> bitmap(bitmap_bytes(count));
    std::vector<std::uint64_t> expected;
    std::vector<std::uint64_t> expected_positions;
    for (std::size_t i = 0; i < count; ++i) {
      if (keys[i] % 5 != 0) continue;
      bitmap[i / 8] = static_cast<std::uint8_t>(bitmap[i / 8] | 1u << (i % 8));
      expected.push_back(keys[i]);
      expected_positions.push_back(i);
    }
    EXPECT_EQ(gpu::detail::count_bits(backend, bitmap.data(), bitmap.size()), expected.size());
    std::vector<std::uint64_t> selected(count);
    selected.resize(
        gpu::detail::select(backend, keys.data(), count, bitmap.data(), selected.data()));
    EXPECT_EQ(selected, expected);
    std::vector<std::uint64_t> positions(count);
    positions.resize(gpu::detail::select(backend, gpu::detail::counting(0), count, bitmap.data(),
                                         positions.data()));
    EXPECT_EQ(positions, expected_positions);
    std::vector<std::uint8_t> bytes(count, 7);
    gpu::detail::bitmap_to_bytes(backend, bitmap.data(), count, bytes.data());
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(bytes[i], keys[i] % 5 == 0 ? 1 : 0);
    comparisons += 3 * count;
  }
}

TEST(Orchestration, MergeAndStatistics) {
  host_backend backend;
  for (const std::uint32_t k : {4u, 8u, 20u}) {
    filter a = make_filter(700, k);
    filter b = make_filter(700, k);
    a.insert(random_keys(9000, 1));
    b.insert(random_keys(5000, 2));
    filter expected = a.copy();
    expected.merge(b);
    gpu::detail::merge_words(backend, a.view().words(), b.view().words(), 700 * 8);
    ASSERT_TRUE(same_words(expected, a));
    const block_sum sum = gpu::detail::sum_blocks(backend, gpu_view(a));
    const filter_statistics exact = expected.statistics();
    EXPECT_EQ(sum.bits, popcount_of(expected.view()));
    EXPECT_NEAR(sum.fpr / 700, exact.current_fpr, exact.current_fpr * 1e-12);
    comparisons += 700 * 8;
  }
}

}  // namespace
}  // namespace octobloom::test
