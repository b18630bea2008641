// CUB, libcu++ and cooperative groups, interpreted.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "emulator/interpreter_test.h"

namespace octobloom::test {
namespace {

class Libraries : public interpreter_test {};

TEST_P(Libraries, CubScans) {
  const auto x = random_u32(3 * 512, 30, 1000);
  auto run = [&](const launch_options& o) {
    for (const char* k : {"cub_scan", "cub_scan_warps"}) {
      std::vector<std::uint32_t> out(x.size()), total(3);
      no_races(libraries().launch(
          k, {3}, {128}, 0, {argument::in(x), argument::inout(out), argument::inout(total)}, o));
      for (std::size_t b = 0; b < 3; ++b) {
        std::uint32_t s = 0;
        for (std::size_t t = 0; t < 512; ++t) {
          ASSERT_EQ(out[b * 512 + t], s);
          s += x[b * 512 + t];
        }
        ASSERT_EQ(total[b], s);
      }
    }
    std::vector<std::uint32_t> out(128);
    no_races(libraries().launch("cub_warp_scan", {1}, {128}, 0,
                                {argument::in(x), argument::inout(out)}, o));
    std::uint32_t s = 0;
    for (std::size_t t = 0; t < 128; ++t) {
      s = (t % 32 ? s : 0) + x[t];
      ASSERT_EQ(out[t], s);
    }
    std::vector<std::uint32_t> moved(512);
    no_races(libraries().launch("cub_exchange", {1}, {128}, 0,
                                {argument::in(x), argument::inout(moved)}, o));
    for (std::uint32_t t = 0; t < 512; ++t) ASSERT_EQ(moved[t], x[t] * 4 + t % 4);
  };
  schedules(run);
  run(checked());
}

TEST_P(Libraries, CubReductions) {
  const auto x = random_words(1024, 31);
  auto run = [&](const launch_options& o) {
    std::vector<std::uint64_t> out(4);
    no_races(libraries().launch("cub_reduce", {4}, {256}, 0,
                                {argument::in(x), argument::inout(out)}, o));
    for (std::size_t b = 0; b < 4; ++b)
      ASSERT_EQ(out[b], std::accumulate(x.begin() + long(b * 256), x.begin() + long(b * 256 + 256),
                                        std::uint64_t(0)));
  };
  schedules(run);
  run(checked());
}

TEST_P(Libraries, CubSorts) {
  auto x = random_words(512, 32);
  for (std::size_t k = 0; k < 100; ++k) x[k] &= 0xff;
  std::vector<std::uint32_t> order(512);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return x[a] < x[b]; });
  const auto y = random_u32(512, 33, 1u << 31);
  auto sorted = y;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::uint8_t> bytes(512);
  std::vector<std::uint32_t> histogram(256);
  for (std::size_t k = 0; k < 512; ++k) {
    bytes[k] = std::uint8_t(mix(k) % 50);
    histogram[bytes[k]]++;
  }
  auto run = [&](const launch_options& o) {
    std::vector<std::uint64_t> keys(512);
    std::vector<std::uint32_t> values(512), out(512), h(256);
    no_races(libraries().launch("cub_sort_pairs", {1}, {128}, 0,
                                {argument::in(x), argument::inout(keys), argument::inout(values)},
                                o));
    ASSERT_TRUE(values == order);
    for (std::size_t k = 0; k < 512; ++k) ASSERT_EQ(keys[k], x[order[k]]);
    launch_options merge = o;
    merge.check_init =
        false;  // it reads one key past the end, into padding made for that, and ignores it
    no_races(libraries().launch("cub_merge_sort", {1}, {128}, 0,
                                {argument::in(y), argument::inout(out)}, merge));
    ASSERT_TRUE(out == sorted);
    no_races(libraries().launch("cub_histogram", {1}, {128}, 0,
                                {argument::in(bytes), argument::inout(h)}, o));
    ASSERT_TRUE(h == histogram);
  };
  schedules(run);
  run(checked());
}

TEST_P(Libraries, LibcuAndGroups) {
  const auto k = random_words(500, 40);
  const auto x = random_u32(256, 41, 1000);
  auto run = [&](const launch_options& given) {
    launch_options o = given;
    std::vector<std::uint64_t> w(16), want(16);
    for (std::uint64_t v : k) want[v & 15] |= 1ull << (v >> 58);
    std::vector<std::uint32_t> count(1);
    no_races(libraries().launch("atomic_refs", {4}, {128}, 0,
                                {argument::in(k), argument::value(std::uint32_t(500)),
                                 argument::inout(w), argument::inout(count)},
                                o));
    ASSERT_TRUE(w == want);
    ASSERT_EQ(count[0], 1000u);
    std::vector<std::uint32_t> out(3 * 128);
    no_races(libraries().launch("block_barrier", {1}, {128}, 0,
                                {argument::in(x), argument::inout(out)}, o));
    for (std::uint32_t r = 0; r < 3; ++r)
      for (std::uint32_t t = 0; t < 128; ++t) ASSERT_EQ(out[r * 128 + t], x[127 - t] + r);
    std::vector<std::uint32_t> copied(256);
    for (const char* name : {"group_copy", "bulk_copy"}) {
      no_races(
          libraries().launch(name, {1}, {256}, 0, {argument::in(x), argument::inout(copied)}, o));
      for (std::uint32_t t = 0; t < 256; ++t)
        ASSERT_EQ(copied[t], x[255 - t] + (name[0] == 'g' ? x[t] : 0));
    }
    std::vector<std::uint32_t> scanned(64);
    no_races(libraries().launch("group_scan", {1}, {64}, 0,
                                {argument::in(x), argument::inout(scanned)}, o));
    for (std::uint32_t t = 0; t < 64; ++t) {
      std::uint32_t sum = 0, same = 0, rank = 0;
      for (std::uint32_t q = t / 32 * 32; q < t / 32 * 32 + 32; ++q) {
        if (q <= t) sum += x[q];
        same += (x[q] & 3) == (x[t] & 3);
        rank += q < t && (x[q] & 1) == (x[t] & 1);
      }
      ASSERT_EQ(scanned[t], sum * 10000 + same * 100 + rank);
    }
    o.cooperative = true;
    o.racecheck = false;  // it does not know grid-wide barriers
    std::vector<std::uint32_t> g(2 * 6 * 64);
    libraries().launch("grid_sync", {6}, {64}, 0, {argument::inout(g)}, o);
    for (std::uint32_t b = 0; b < 6; ++b)
      for (std::uint32_t t = 0; t < 64; ++t) ASSERT_EQ(g[(6 + b) * 64 + t], (b + 1) % 6 + 1);
  };
  schedules(run);
  run(checked());
  std::vector<std::uint64_t> a(34);
  std::vector<std::int32_t> d(18);
  for (std::size_t q = 0; q < 34; ++q) a[q] = mix(q + 99);
  for (std::size_t q = 0; q < 18; ++q) d[q] = std::int32_t(mix(q));
  auto wide = [&](std::size_t q) { return u128(a[2 * q + 1]) << 64 | a[2 * q]; };
  std::vector<std::uint64_t> want(a);
  std::vector<std::int32_t> want_d(d);
  for (std::size_t t = 0; t < 8; ++t) {
    const u128 r = wide(t) * wide(t + 1) + wide(t) / (wide(t + 1) >> 70 | 1);
    want[2 * t + 16] = std::uint64_t(r);
    want[2 * t + 17] = std::uint64_t(r >> 64);
    std::uint32_t s = std::uint32_t(d[t + 2]);
    for (int b = 0; b < 4; ++b)
      s += std::uint32_t(std::int8_t(d[t] >> (8 * b)) * std::int8_t(d[t + 1] >> (8 * b)));
    want_d[t + 8] = std::int32_t(s);
  }
  libraries().launch(
      "wide_arithmetic", {1}, {6}, 0,
      {argument::inout(a), argument::inout(d)});  // 6 threads: none reads what another writes
  for (std::size_t t = 0; t < 6; ++t) {
    ASSERT_EQ(a[2 * t + 16], want[2 * t + 16]);
    ASSERT_EQ(a[2 * t + 17], want[2 * t + 17]);
    ASSERT_EQ(d[t + 8], want_d[t + 8]);
  }
}

INSTANTIATE_TEST_SUITE_P(Compiled, Libraries, ::testing::ValuesIn(variants()), variant_name);

}  // namespace
}  // namespace octobloom::test
