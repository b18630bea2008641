// Right kernels give right answers under every schedule, and no race is seen in them.

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

std::uint64_t fib(std::uint64_t n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

std::vector<std::uint64_t> reference_filter(const std::vector<std::uint64_t>& keys,
                                            std::uint64_t blocks) {
  std::vector<std::uint64_t> w(blocks * 8);
  for (std::uint64_t k : keys) {
    const std::uint64_t h = mix(k);
    for (unsigned i = 0; i < 8; ++i) w[block_of(h, blocks) * 8 + i] |= bit_of(h, i);
  }
  return w;
}

bool reference_contains(const std::vector<std::uint64_t>& w, std::uint64_t key) {
  const std::uint64_t h = mix(key), b = block_of(h, w.size() / 8);
  for (unsigned i = 0; i < 8; ++i)
    if (!(w[b * 8 + i] & bit_of(h, i))) return false;
  return true;
}

class Kernels : public interpreter_test {};

TEST_P(Kernels, Insert) {
  const auto keys = random_words(3001, 1);
  const std::uint64_t blocks = 97;
  const auto want = reference_filter(keys, blocks);
  schedules([&](const launch_options& o) {
    for (const char* k : {"insert_u64", "insert_u32", "insert_red"}) {
      std::vector<std::uint64_t> w(blocks * 8);
      right().launch(k, {5}, {96}, 0,
                     {argument::in(keys), argument::value(std::uint64_t(keys.size())),
                      argument::inout(w), argument::value(blocks)},
                     o);
      ASSERT_TRUE(w == want);
    }
  });
  std::vector<std::uint64_t> w(blocks * 8);
  no_races(right().launch("insert_u64", {5}, {96}, 0,
                          {argument::in(keys), argument::value(std::uint64_t(keys.size())),
                           argument::inout(w), argument::value(blocks)},
                          checked()));
}

TEST_P(Kernels, Contains) {
  const std::uint64_t blocks = 61;
  const auto keys = random_words(700, 2), probes_all = random_words(1500, 2);  // half present
  const auto words = reference_filter(keys, blocks);
  for (const std::uint64_t n :
       {std::uint64_t(0), std::uint64_t(1), std::uint64_t(31), std::uint64_t(32), std::uint64_t(33),
        std::uint64_t(257), std::uint64_t(1001), std::uint64_t(1500)}) {
    const std::vector<std::uint64_t> probes(probes_all.begin(), probes_all.begin() + long(n));
    std::vector<std::uint8_t> want(n);
    std::vector<std::uint32_t> want_bits((n + 31) / 32);
    for (std::uint64_t i = 0; i < n; ++i) {
      want[i] = reference_contains(words, probes[i]);
      want_bits[i / 32] |= std::uint32_t(want[i]) << (i % 32);
    }
    auto run = [&](const launch_options& o) {
      for (const char* l : {"1", "2", "4", "8"}) {
        std::vector<std::uint32_t> bits(want_bits.size() + 1, 0);
        launch_statistics s = right().launch(
            std::string("contains_shfl_") + l, {3}, {128}, 0,
            {argument::in(probes), argument::value(n), argument::in(words), argument::value(blocks),
             argument::inout(bits.data(), want_bits.size() * 4)},
            o);
        no_races(s);
        bits.resize(want_bits.size());
        ASSERT_TRUE(bits == want_bits);
        std::vector<std::uint8_t> bytes(n + 1, 9);
        s = right().launch(std::string("contains_tile_") + l, {3}, {128}, 0,
                           {argument::in(probes), argument::value(n), argument::in(words),
                            argument::value(blocks), argument::inout(bytes.data(), n)},
                           o);
        no_races(s);
        bytes.resize(n);
        ASSERT_TRUE(bytes == want);
      }
    };
    if (n == 257) schedules(run);
    run(checked());
  }
}

TEST_P(Kernels, SharedMemory) {
  const auto x = random_u32(5000, 3, 100000);
  std::vector<std::uint32_t> want(256);
  for (std::uint32_t v : x) want[v & 255]++;
  const auto big = random_words(1000, 4);
  std::vector<std::uint64_t> want_atomics(8);
  {
    std::uint64_t mx = 0, mn = ~0ull, ad = 0;
    for (std::uint64_t t = 0; t < 96; ++t) {
      const std::uint64_t v = mix(t + 1);
      want_atomics[0] |= 1ull << (t & 63);
      mx = std::max(mx, v);
      mn = std::min(mn, v);
      ad += v;
    }
    std::uint32_t x32 = 0, inc = 0, dec = 0;
    for (int t = 0; t < 96; ++t) {
      x32 ^= 1u << (t & 31);
      inc = inc >= 10 ? 0 : inc + 1;
      dec = dec == 0 || dec > 7 ? 7 : dec - 1;
    }
    want_atomics[1] = mx;
    want_atomics[2] = mn;
    want_atomics[3] = ad + 3 * 96;
    want_atomics[4] = x32;
    want_atomics[5] = inc;
    want_atomics[6] = dec;
    want_atomics[7] = 96;
  }
  auto run = [&](const launch_options& o) {
    std::vector<std::uint32_t> h(256);
    no_races(right().launch(
        "histogram", {4}, {160}, 0,
        {argument::in(x), argument::value(std::uint64_t(x.size())), argument::inout(h)}, o));
    ASSERT_TRUE(h == want);
    std::vector<std::uint64_t> out(1000);
    std::vector<std::uint32_t> starts(16);
    no_races(right().launch("partition16", {1}, {256}, 8000,
                            {argument::in(big), argument::value(std::uint32_t(1000)),
                             argument::inout(out), argument::inout(starts)},
                            o));
    auto a = out, b = big;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    ASSERT_TRUE(a == b);
    for (std::size_t k = 1; k < out.size(); ++k) ASSERT_TRUE(out[k] >> 60 >= out[k - 1] >> 60);
    std::vector<std::uint64_t> at(8);
    no_races(right().launch("shared_atomics", {1}, {96}, 0, {argument::inout(at)}, o));
    ASSERT_TRUE(at == want_atomics);
  };
  schedules(run);
  run(checked());
  // Dynamic shared memory that is too small is out of bounds.
  std::vector<std::uint64_t> out(1000);
  std::vector<std::uint32_t> starts(16);
  fault_of(fault_kind::out_of_bounds, [&] {
    right().launch("partition16", {1}, {256}, 7992,
                   {argument::in(big), argument::value(std::uint32_t(1000)), argument::inout(out),
                    argument::inout(starts)});
  });
}

TEST_P(Kernels, GlobalAtomics) {
  auto run = [&](const launch_options& o) {
    std::vector<std::uint32_t> u = {~0u, 0, ~0u, 1000};
    std::vector<std::int32_t> s = {5, -1000, 10};
    std::vector<std::uint64_t> l = {0, 1, ~0ull, 0};
    std::vector<float> f = {0};
    std::vector<double> d = {0};
    no_races(right().launch("global_atomics", {3}, {70}, 0,
                            {argument::inout(u), argument::inout(s), argument::inout(l),
                             argument::inout(f), argument::inout(d)},
                            o));
    const int n = 210;
    ASSERT_EQ(u[0], 1000u - (n - 1));
    ASSERT_EQ(u[1], std::uint32_t(n - 1));
    ASSERT_EQ(u[2], 0u);
    ASSERT_EQ(u[3], 1000u - 2 * n);
    ASSERT_EQ(s[0], -50);
    ASSERT_EQ(s[1], 0);
    ASSERT_EQ(s[2], 10 - n);
    std::uint64_t sum = 0, x = 0;
    for (int t = 0; t < n; ++t) {
      sum += std::uint64_t(t);
      x ^= 1ull << (t & 63);
    }
    ASSERT_EQ(l[0], sum);
    ASSERT_EQ(l[1], std::uint64_t(77));
    ASSERT_EQ(l[2], std::uint64_t(0));
    ASSERT_EQ(l[3], x);
    ASSERT_EQ(f[0], 105.0f);
    ASSERT_EQ(d[0], 52.5);
  };
  schedules(run);
  run(checked());
}

TEST_P(Kernels, Reductions) {
  const auto x = random_words(4321, 5);
  const unsigned B = 5, T = 192;
  auto run = [&](const launch_options& o) {
    std::vector<std::uint64_t> sum(B), least(B);
    std::vector<float> fs(B);
    std::vector<std::uint32_t> r(B);
    no_races(right().launch(
        "block_reduce", {B}, {T}, 0,
        {argument::in(x), argument::value(std::uint64_t(x.size())), argument::inout(sum),
         argument::inout(least), argument::inout(fs), argument::inout(r)},
        o));
    std::uint64_t s = 0, m = ~0ull, f = 0, rr = 0;
    for (std::uint64_t v : x) {
      s += v;
      m = std::min(m, v);
      f += v & 7;
      rr += v & 0xff;
    }
    ASSERT_EQ(std::accumulate(sum.begin(), sum.end(), std::uint64_t(0)), s);
    ASSERT_EQ(*std::min_element(least.begin(), least.end()), m);
    ASSERT_EQ(std::accumulate(fs.begin(), fs.end(), 0.0f), float(f));
    ASSERT_EQ(std::uint64_t(std::accumulate(r.begin(), r.end(), 0u)), rr);
  };
  schedules(run);
  run(checked());
}

TEST_P(Kernels, WarpWide) {
  const unsigned T = 64;
  const auto x = random_u32(T, 6, 1u << 30);
  std::vector<std::uint32_t> want(5 * T);
  for (unsigned w = 0; w < T / 32; ++w) {
    std::uint32_t s = 0, mx = 0, xr = 0;
    std::int32_t mn = INT32_MAX;
    for (unsigned l = 0; l < 32; ++l) {
      const unsigned t = w * 32 + l;
      s += x[t];
      want[t] = s;
      mx = std::max(mx, x[t]);
      mn = std::min(mn, std::int32_t(x[t]));
      xr ^= x[t];
      std::uint32_t match = 0;
      for (unsigned k = 0; k < 32; ++k)
        match |= std::uint32_t((x[w * 32 + k] & 3) == (x[t] & 3)) << k;
      want[T + t] = match;
      want[2 * T + t] = 0xffffffffu + 1;
      for (unsigned k = 0; k < 8; ++k) want[4 * T + t] += x[t / 8 * 8 + k];
    }
    for (unsigned l = 0; l < 32; ++l) want[3 * T + w * 32 + l] = mx ^ std::uint32_t(mn) ^ xr;
  }
  auto run = [&](const launch_options& o) {
    std::vector<std::uint32_t> out(5 * T);
    no_races(right().launch("warp_scan", {1}, {T}, 0, {argument::in(x), argument::inout(out)}, o));
    ASSERT_TRUE(out == want);
  };
  schedules(run);
  run(checked());
}

TEST_P(Kernels, LastBlock) {
  const auto x = random_u32(3000, 7, 1000);
  auto run = [&](const launch_options& o) {
    std::vector<std::uint64_t> partial(7), total(1);
    std::vector<std::uint32_t> ticket(1);
    no_races(
        right().launch("last_block", {7}, {64}, 0,
                       {argument::in(x), argument::value(std::uint64_t(x.size())),
                        argument::inout(partial), argument::inout(ticket), argument::inout(total)},
                       o));
    std::uint64_t s = 0;
    for (std::uint32_t v : x) s += v;
    ASSERT_EQ(total[0], s);
  };
  schedules(run);
  run(checked());
}

TEST_P(Kernels, VotesAndNamedBarriers) {
  const unsigned T = 160;
  auto x = random_u32(T, 8, 500);
  x[3] = 5;
  x[40] = 7;
  std::vector<std::uint32_t> want(4 * T);
  std::uint32_t odd = 0;
  for (std::uint32_t v : x) odd += v & 1;
  for (unsigned t = 0; t < T; ++t) {
    bool any7 = false, uni = true;
    for (unsigned k = t / 32 * 32; k < t / 32 * 32 + 32; ++k) {
      any7 = any7 || x[k] == 7;
      uni = uni && (x[k] & 1) == (x[t / 32 * 32] & 1);
    }
    want[t] = odd;
    want[T + t] = 3;
    want[2 * T + t] = std::uint32_t(any7 * 4 + !any7 * 2 + uni);
    want[3 * T + t] = t < 64 ? 11u : t < 128 ? 22u : 0u;
  }
  auto run = [&](const launch_options& o) {
    std::vector<std::uint32_t> out(4 * T);
    no_races(right().launch("votes", {2}, {T}, 0, {argument::in(x), argument::inout(out)}, o));
    ASSERT_TRUE(out == want);
  };
  launch_options o;
  o.serial = true;
  run(o);
}

TEST_P(Kernels, Divergence) {
  const auto x = random_words(1000, 9);
  auto run = [&](const launch_options& o) {
    std::vector<std::uint64_t> out(1000);
    const launch_statistics s = right().launch(
        "divergence", {4}, {256}, 0,
        {argument::in(x), argument::value(std::uint64_t(1000)), argument::inout(out)}, o);
    for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(out[i], tangle(x[i], std::uint32_t(i)));
    ASSERT_TRUE(s.divergent_branches > 100 && s.divergent_branches < s.branches);
  };
  schedules(run);
  run(checked());
}

TEST_P(Kernels, Regroup) {
  const unsigned T = 64;
  const auto x = random_words(T, 10);
  std::vector<std::uint32_t> want(T, 0);
  for (unsigned w = 0; w < T / 32; ++w) {
    for (int round = 0; round < 8; ++round) {
      std::uint64_t v[32];
      std::uint32_t ones = 0;
      for (unsigned l = 0; l < 32; ++l) {
        const unsigned t = w * 32 + l;
        v[l] = x[t] + unsigned(round);
        v[l] = v[l] & 1 ? tangle(v[l], t) : v[l] & 2 ? mix(v[l]) : 7;
        ones += v[l] & 1;
      }
      for (unsigned l = 0; l < 32; ++l) {
        std::uint32_t& r = want[w * 32 + l];
        r = r * 31 + ones;
        if (l & 1)
          r += std::uint32_t(v[l ^ 2]);
        else
          r ^= std::uint32_t(v[l ^ 4]);
      }
    }
  }
  auto run = [&](const launch_options& o) {
    std::vector<std::uint32_t> out(T);
    right().launch("regroup", {1}, {T}, 0, {argument::in(x), argument::inout(out)}, o);
    ASSERT_TRUE(out == want);
  };
  schedules(run);
  run(checked());
}

TEST_P(Kernels, Spinning) {
  auto run = [&](const launch_options& o) {
    for (const char* k : {"spin_lock", "hard_spin_lock"}) {
      std::vector<std::uint32_t> lock(1), counter(1);
      right().launch(k, {2}, {64}, 0, {argument::inout(lock), argument::inout(counter)}, o);
      ASSERT_EQ(counter[0], 128u);
    }
    const auto x = random_u32(20, 11, 100);
    std::vector<std::uint32_t> flag(20), prefix(20), out(20);
    right().launch(
        "lookback", {20}, {32}, 0,
        {argument::in(x), argument::inout(flag), argument::inout(prefix), argument::inout(out)}, o);
    std::uint32_t s = 0;
    for (int b = 0; b < 20; ++b) {
      ASSERT_EQ(out[std::size_t(b)], s);
      s += x[std::size_t(b)];
    }
  };
  schedules(run);
}

TEST_P(Kernels, CoalescedGroups) {
  const auto x = random_u32(256, 12, 1000);
  std::vector<std::uint32_t> want;
  for (std::uint32_t v : x)
    if (v % 3 == 0) want.push_back(v);
  std::sort(want.begin(), want.end());
  schedules([&](const launch_options& o) {
    std::vector<std::uint32_t> counter(1), out(256);
    right().launch("coalesced", {2}, {128}, 0,
                   {argument::in(x), argument::inout(counter), argument::inout(out)}, o);
    ASSERT_EQ(std::size_t(counter[0]), want.size());
    out.resize(want.size());
    std::sort(out.begin(), out.end());
    ASSERT_TRUE(out == want);
  });
}

TEST_P(Kernels, Calls) {
  std::uint32_t table[64] = {5, 4, 3, 2, 1};
  auto run = [&](const launch_options& o) {
    std::vector<std::uint64_t> out(48);
    std::uint64_t counter = 40;
    right().write_symbol("g_counter", &counter, 8);
    const launch_statistics s = right().launch(
        "calls", {1}, {48}, 0, {argument::inout(out), argument::value(std::uint32_t(5))}, o);
    for (std::uint32_t t = 0; t < 48; ++t) {
      std::uint64_t r = t & 1 ? fib(t / 2) : fib(3);
      if (t % 3 == 0) r += r * 2;
      r = (t >> 1) & 1 ? r + 3 : r * 2;
      r += (t + 1) * ((t * 7 + 5) % 24 + 1);
      ASSERT_EQ(out[t], (std::uint64_t(t) << 1) * 1000003 + std::uint32_t(std::uint32_t(r) + 1) +
                            table[(t + 5) & 63]);
    }
    right().read_symbol("g_counter", &counter, 8);
    ASSERT_EQ(counter, std::uint64_t(42));
    ASSERT_EQ(s.printf_calls, std::uint64_t(1));
    ASSERT_TRUE(s.local_loads > 0);
  };
  schedules(run);
}

TEST_P(Kernels, Arguments) {
  const auto x = random_words(64, 14);
  std::vector<std::uint64_t> out(64);
  right().launch(
      "by_value", {1}, {64}, 0,
      {argument::record({argument::in(x), argument::value(std::uint32_t(3)),
                         argument::value(std::uint32_t(5)), argument::value(std::uint32_t(9)),
                         argument::value(std::uint64_t(100))}),
       argument::value(std::uint32_t(1)), argument::inout(out)});
  const std::uint32_t shift[] = {3, 5, 9};
  for (std::uint32_t t = 0; t < 64; ++t) ASSERT_EQ(out[t], (x[t] >> 5) + 100 + shift[t % 3]);
  std::vector<std::uint32_t> d(2 * 3 * 2 * 4 * 3 * 2), want(d.size());
  right().launch("dimensions", {2, 3, 2}, {4, 3, 2}, 0, {argument::inout(d)});
  std::size_t at = 0;
  for (std::uint32_t bz = 0; bz < 2; ++bz)
    for (std::uint32_t by = 0; by < 3; ++by)
      for (std::uint32_t bx = 0; bx < 2; ++bx)
        for (std::uint32_t tz = 0; tz < 2; ++tz)
          for (std::uint32_t ty = 0; ty < 3; ++ty)
            for (std::uint32_t tx = 0; tx < 4; ++tx)
              want[at++] = (bx << 20 | by << 16 | bz << 12) + (tx | ty << 4 | tz << 8);
  ASSERT_TRUE(d == want);
  fault_of(fault_kind::usage, [&] { right().launch("dimensions", {1}, {4}, 0, {}); });
  fault_of(fault_kind::usage, [&] {
    right().launch("by_value", {1}, {64}, 0,
                   {argument::value(std::uint64_t(1)), argument::value(std::uint32_t(1)),
                    argument::inout(out)});
  });
  fault_of(fault_kind::usage, [&] { right().launch("no such kernel", {1}, {64}, 0, {}); });
  fault_of(fault_kind::usage, [&] { right().launch("contains", {1}, {64}, 0, {}); });
}

TEST_P(Kernels, CopiesAndHints) {
  const auto x = random_words(4 * 128, 15);
  auto run = [&](const launch_options& o) {
    std::vector<std::uint64_t> out(4 * 128);
    no_races(
        right().launch("async_copy", {2}, {128}, 0, {argument::in(x), argument::inout(out)}, o));
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t t = 0; t < 128; ++t)
        for (std::size_t w = 0; w < 2; ++w)
          ASSERT_EQ(out[(b * 128 + t) * 2 + w], x[(b * 128 + 127 - t) * 2 + w]);
    no_races(right().launch("hints", {1}, {128}, 0, {argument::in(x), argument::inout(out)}, o));
    for (std::size_t t = 0; t < 128; ++t) {
      ASSERT_EQ(out[t * 4], x[t * 4] ^ 1);
      ASSERT_EQ(out[t * 4 + 1], x[t * 4 + 1] ^ 2);
      ASSERT_EQ(out[t * 4 + 2], x[t * 4 + 2]);
      ASSERT_EQ(out[t * 4 + 3], x[t * 4 + 3] + 1);
    }
  };
  schedules(run);
  run(checked());
}

INSTANTIATE_TEST_SUITE_P(Compiled, Kernels, ::testing::ValuesIn(variants()), variant_name);

}  // namespace
}  // namespace octobloom::test
