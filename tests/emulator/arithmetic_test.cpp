// Arithmetic against the host's.

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

std::uint64_t bfe(std::uint64_t a, std::uint32_t pos, std::uint32_t len, int bits,
                  bool sign) {  // bit by bit, as the PTX manual has it
  const std::uint32_t msb = std::uint32_t(bits - 1);
  const std::uint64_t sbit = !sign || len == 0 ? 0 : a >> std::min(pos + len - 1, msb) & 1;
  std::uint64_t d = 0;
  for (std::uint32_t i = 0; i <= msb; ++i)
    d |= (i < len && pos + i <= msb ? a >> (pos + i) & 1 : sbit) << i;
  return d;
}

std::uint64_t bfi(std::uint64_t a, std::uint64_t b, std::uint32_t pos, std::uint32_t len,
                  int bits) {
  std::uint64_t f = b;
  for (std::uint32_t i = 0; i < len && pos + i < std::uint32_t(bits); ++i)
    f = (f & ~(1ull << (pos + i))) | (a >> i & 1) << (pos + i);
  return f;
}

class Arithmetic : public interpreter_test {};

TEST_P(Arithmetic, Arithmetic) {
  auto x = random_words(1026, 13);
  const std::uint64_t corners[] = {
      0,  1,  ~0ull, 1ull << 63, (1ull << 63) - 1, 0xffffffff, 0x100000000, 0x80000000, 0x7fffffff,
      63, 64, 32,    31};
  for (std::size_t k = 0; k < 400; ++k) x[k] = mix(k) % 3 == 0 ? x[k] : corners[mix(k) % 13];
  for (std::size_t k = 400; k < 700; ++k) x[k] >>= mix(k) & 63;
  const std::uint32_t n = std::uint32_t(x.size());
  std::vector<std::uint64_t> out(std::size_t(n) * 48);
  right().launch("arithmetic", {(n + 127) / 128}, {128}, 0,
                 {argument::in(x), argument::value(n), argument::inout(out)});
  for (std::uint32_t i = 0; i + 2 < n; ++i) {
    const std::uint64_t a = x[i], b = x[i + 1], c = x[i + 2];
    const std::int64_t sa = std::int64_t(a), sb = std::int64_t(b);
    const std::uint32_t a32 = std::uint32_t(a), b32 = std::uint32_t(b >> 7), c32 = std::uint32_t(c);
    const std::int32_t sa32 = std::int32_t(a), sb32 = std::int32_t(b >> 3);
    const std::uint64_t* o = &out[std::size_t(i) * 48];
    int k = 0;
    auto is = [&](std::uint64_t want) {
      if (o[k] != want)
        throw std::runtime_error("arithmetic result " + std::to_string(k) + " of thread " +
                                 std::to_string(i) + ": " + std::to_string(o[k]) + ", expected " +
                                 std::to_string(want));
      ++k;
    };
    auto sdiv = [](std::int64_t p, std::int64_t q) {
      return q == -1 ? std::int64_t(0 - std::uint64_t(p)) : p / q;
    };
    auto srem = [](std::int64_t p, std::int64_t q) { return q == -1 ? 0 : p % q; };
    is(mulhi(a, b));
    is(std::uint64_t(s128(sa) * sb >> 64));
    is(std::uint64_t(a32) * b32 >> 32);
    is(std::uint32_t((std::int64_t(sa32) * sb32) >> 32));
    is(b ? a / b : 1);
    is(b ? a % b : 2);
    is(sb ? std::uint64_t(sdiv(sa, sb)) : 3);
    is(sb ? std::uint64_t(srem(sa, sb)) : 4);
    is(a / 10);
    is(a % 1000003);
    is(std::uint64_t(sa / -7));
    is(b32 ? a32 / b32 : 5);
    is(b32 ? a32 % b32 : 6);
    is(sb32 ? std::uint32_t(sdiv(sa32, sb32)) : 7);
    is(a << (c & 63));
    is(a >> (c & 63));
    is(std::uint64_t(sa >> (c & 63)));
    is(rotl(a, c & 63));
    is(std::uint32_t(a32 << (c & 31)) | (a32 >> (-c & 31)));
    is(std::uint64_t(__builtin_popcountll(a)));
    is(std::uint64_t(__builtin_popcount(a32)));
    const std::uint64_t as = a >> (c & 63);
    const std::uint32_t as32 = a32 >> (c & 31);
    is(as ? std::uint64_t(__builtin_clzll(as)) : 64);
    is(as32 ? std::uint64_t(__builtin_clz(as32)) : 32);
    is(std::uint64_t(__builtin_ffsll(std::int64_t(a << (c & 63)))));
    std::uint64_t rev = 0;
    for (int q = 0; q < 64; ++q) rev |= (a >> q & 1) << (63 - q);
    is(rev);
    is(std::uint32_t(rev >> 32) == 0 && false ? 0 : [&] {
      std::uint32_t r = 0;
      for (int q = 0; q < 32; ++q) r |= (a32 >> q & 1) << (31 - q);
      return std::uint64_t(r);
    }());
    const std::uint64_t pair = std::uint64_t(b32) << 32 | a32;
    is(std::uint32_t((pair << (c32 & 31)) >> 32));
    is(std::uint32_t(pair >> (c32 & 31)));
    const std::uint32_t cl = std::min(c32 & 63, 32u);
    is(std::uint32_t((pair << cl) >> 32));
    is(std::uint32_t(pair >> cl));
    auto perm = [&](std::uint32_t sel, bool signs) {
      std::uint32_t r = 0;
      for (int q = 0; q < 4; ++q) {
        std::uint32_t s = sel >> (4 * q) & 15, byte = std::uint32_t(pair >> (8 * (s & 7))) & 255;
        if (signs && (s & 8)) byte = byte & 128 ? 255 : 0;
        r |= byte << (8 * q);
      }
      return std::uint64_t(r);
    };
    is(perm(c32 & 0x7777, false));
    is(perm(c32 & 0xffff, true));
    {
      const u128 s = u128(a) + b;
      is(std::uint64_t(s) ^ (c + 5 + std::uint64_t(s >> 64)) * 3);
    }
    is((a - b) ^ (c - 5 - (a < b)) * 3);
    {
      const std::uint64_t p = std::uint64_t(a32) * b32, lo = std::uint64_t(std::uint32_t(p)) + c32;
      is(std::uint32_t(lo) |
         std::uint64_t(std::uint32_t(std::uint32_t(p >> 32) + 9 + std::uint32_t(lo >> 32))) << 32);
    }
    is(std::uint64_t(a32) * b32 + c);
    is(std::uint64_t(std::int64_t(sa32) * sb32));
    is(std::uint32_t((a32 & 0xffffff) * (b32 & 0xffffff)));
    is(std::uint32_t(std::uint64_t(std::int64_t(std::int32_t(std::uint32_t(sa32) << 8) >> 8) *
                                   (std::int32_t(std::uint32_t(sb32) << 8) >> 8))));
    is(bfe(a32, b32 & 63, c32 & 63, 32, false));
    is(bfe(a32, b32 & 63, c32 & 63, 32, true));
    is(bfe(a, b32 & 127, c32 & 127, 64, true));
    is(bfi(a, b, b32 & 127, c32 & 127, 64));
    {
      std::uint32_t r = 0;
      for (int q = 0; q < 32; ++q)
        r |= (0xE4u >> ((a32 >> q & 1) * 4 + (b32 >> q & 1) * 2 + (c32 >> q & 1)) & 1) << q;
      is(r);
    }
    is(as ? std::uint64_t(63 - __builtin_clzll(as)) : std::uint64_t{0xffffffff});
    {
      std::int32_t v = sa32 >> (c & 31);
      const std::uint32_t u = std::uint32_t(v < 0 ? ~v : v);
      is(u ? std::uint64_t(__builtin_clz(u)) : std::uint64_t{0xffffffff});
    }
    is(std::uint64_t(std::int64_t(std::int8_t(a))) + std::uint16_t(b) +
       std::uint64_t(std::int64_t(std::int16_t(c))) + std::uint8_t(a >> 9));
    is(std::uint64_t(std::min(sa, sb)) ^ std::max(a, b) ^
       std::uint64_t(std::int64_t(std::min(sa32, sb32))) ^ std::uint64_t(std::abs(sa >> 1)));
  }
}

TEST_P(Arithmetic, Floats) {
  const std::uint32_t n = 500;
  std::vector<float> x(n);
  std::vector<double> y(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    x[i] = float(std::int64_t(mix(i)) >> 36) / 777.0f;
    y[i] = double(std::int64_t(mix(i + 9000)) >> 20) / 3.0;
  }
  std::vector<float> fo(4 * n);
  std::vector<double> dout(3 * n);
  std::vector<std::int64_t> io(6 * n);
  right().launch("floats", {4}, {128}, 0,
                 {argument::in(x), argument::in(y), argument::value(n), argument::inout(fo),
                  argument::inout(dout), argument::inout(io)});
  for (std::uint32_t i = 0; i + 1 < n; ++i) {
    const float a = x[i], b = x[i + 1];
    const double c = y[i], d = y[i + 1];
    ASSERT_EQ(fo[4 * i], std::fma(a, b, a));
    ASSERT_EQ(fo[4 * i + 1], a / b);
    ASSERT_EQ(fo[4 * i + 2], std::sqrt(std::fabs(a)));
    ASSERT_EQ(fo[4 * i + 3], std::fmin(a, b) - std::fmax(a, -b));
    ASSERT_EQ(dout[3 * i], std::fma(c, d, -c));
    ASSERT_EQ(dout[3 * i + 1], c / d);
    ASSERT_EQ(dout[3 * i + 2], std::sqrt(std::fabs(d)) + double(a));
    ASSERT_EQ(io[6 * i], std::int64_t(c));
    ASSERT_EQ(io[6 * i + 1], std::int64_t(std::int32_t(a)));
    ASSERT_EQ(io[6 * i + 2], std::int64_t(std::uint32_t(std::fabs(b))));
    ASSERT_EQ(io[6 * i + 3], std::int64_t(std::nearbyint(a)));
    ASSERT_EQ(io[6 * i + 4], std::int64_t(std::ceil(c)));
    ASSERT_EQ(io[6 * i + 5], std::int64_t(float(std::uint64_t(i) * 0x123456789abull)) +
                                 std::int64_t(std::floor(b)));
  }
}

INSTANTIATE_TEST_SUITE_P(Compiled, Arithmetic, ::testing::ValuesIn(variants()), variant_name);

}  // namespace
}  // namespace octobloom::test
