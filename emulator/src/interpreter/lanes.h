#pragma once

#include <type_traits>

#include "interpreter/machine.h"

#if defined(__clang__)
#define OCTOBLOOM_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define OCTOBLOOM_IVDEP _Pragma("GCC ivdep")
#endif

namespace octobloom::ptx {

// d[l] = f(l) for the lanes of m. Columns are either the same or disjoint, so the loop vectorises.
template <class F>
inline void for_lanes(u32 m, u64* d, F f) {
  if (m == all_lanes) {
    OCTOBLOOM_IVDEP
    for (u32 l = 0; l < warp_lanes; ++l) d[l] = f(l);
  } else {
    OCTOBLOOM_IVDEP
    for (u32 l = 0; l < warp_lanes; ++l) {
      const u64 r = f(l);
      d[l] = (m >> l & 1) ? r : d[l];
    }
  }
}
// For functions that are slow or must not see the garbage of idle lanes.
template <class F>
inline void for_each_lane(u32 m, F f) {
  for (u32 r = m; r; r &= r - 1) f(u32(__builtin_ctz(r)));
}
// A mask from 32 booleans.
template <class F>
inline u32 mask_of(F f) {
  alignas(32) u8 t[warp_lanes];
  for (u32 l = 0; l < warp_lanes; ++l) t[l] = f(l);
  u32 r = 0;
  for (u32 k = 0; k < 4; ++k) {
    u64 x;
    std::memcpy(&x, t + 8 * k, 8);
    r |= u32((x * 0x0102040810204080ull) >> 56) << (8 * k);
  }
  return r;
}

// Generic shapes: `Op` has a static template f<T>.
template <class Op, class T>
void h1(machine& x, const instruction& i, u32 m) {
  const u64* a = x.src(i.a);
  for_lanes(m, x.dst(i.d), [=](u32 l) { return bits_of(Op::f(value_of<T>(a[l]))); });
}
template <class Op, class T>
void h2(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b);
  for_lanes(m, x.dst(i.d),
            [=](u32 l) { return bits_of(Op::f(value_of<T>(a[l]), value_of<T>(b[l]))); });
}
template <class Op, class T>
void h3(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b), *c = x.src(i.c);
  for_lanes(m, x.dst(i.d), [=](u32 l) {
    return bits_of(Op::f(value_of<T>(a[l]), value_of<T>(b[l]), value_of<T>(c[l])));
  });
}
// Shifts: the count is always u32.
template <class Op, class T>
void h_shift(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b);
  for_lanes(m, x.dst(i.d), [=](u32 l) { return bits_of(Op::f(value_of<T>(a[l]), u32(b[l]))); });
}
// Result type differs from the operands'.
template <class Op, class T>
void h2w(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b);
  for_lanes(m, x.dst(i.d),
            [=](u32 l) { return bits_of(Op::wide(value_of<T>(a[l]), value_of<T>(b[l]))); });
}
template <class Op, class T>
void h3w(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b), *c = x.src(i.c);
  using R = decltype(Op::wide(T{}, T{}));
  for_lanes(m, x.dst(i.d), [=](u32 l) {
    return bits_of(R(Op::wide(value_of<T>(a[l]), value_of<T>(b[l])) + value_of<R>(c[l])));
  });
}
template <class Op, class T>
void h1_u32(machine& x, const instruction& i, u32 m) {
  const u64* a = x.src(i.a);
  for_lanes(m, x.dst(i.d), [=](u32 l) { return u64(u32(Op::f(value_of<T>(a[l])))); });
}

template <class T>
using unsigned_of = typename std::make_unsigned<T>::type;

}  // namespace octobloom::ptx
