// What arithmetic instructions do with the values of one lane.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "interpreter/lanes.h"

namespace octobloom::ptx {

struct add_op {
  template <class T>
  static T f(T a, T b) {
    return T(a + b);
  }
};
struct sub_op {
  template <class T>
  static T f(T a, T b) {
    return T(a - b);
  }
};
struct mul_lo_op {
  template <class T>
  static T f(T a, T b) {
    return T(a * b);
  }
};
template <>
inline u16 mul_lo_op::f(u16 a, u16 b) {
  return u16(u32(a) * b);
}
struct mul_hi_op {
  static u16 f(u16 a, u16 b) { return u16((u32(a) * b) >> 16); }
  static s16 f(s16 a, s16 b) { return s16((s32(a) * b) >> 16); }
  static u32 f(u32 a, u32 b) { return u32((u64(a) * b) >> 32); }
  static s32 f(s32 a, s32 b) { return s32((s64(a) * b) >> 32); }
  static u64 f(u64 a, u64 b) { return u64((u128(a) * b) >> 64); }
  static s64 f(s64 a, s64 b) { return s64((s128(a) * b) >> 64); }
};
struct mul_wide_op {
  static u32 wide(u16 a, u16 b) { return u32(a) * b; }
  static s32 wide(s16 a, s16 b) { return s32(a) * b; }
  static u64 wide(u32 a, u32 b) { return u64(a) * b; }
  static s64 wide(s32 a, s32 b) { return s64(a) * b; }
};
struct mad_lo_op {
  template <class T>
  static T f(T a, T b, T c) {
    return T(a * b + c);
  }
};
template <>
inline u16 mad_lo_op::f(u16 a, u16 b, u16 c) {
  return u16(u32(a) * b + c);
}
struct mad_hi_op {
  template <class T>
  static T f(T a, T b, T c) {
    return T(unsigned_of<T>(mul_hi_op::f(a, b)) + unsigned_of<T>(c));
  }
};
struct mul24_lo_op {
  static u32 f(u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }
  static s32 f(s32 a, s32 b) {
    return s32(u32(s64(s32(u32(a) << 8) >> 8) * (s32(u32(b) << 8) >> 8)));
  }
  template <class T>
  static T f(T a, T b, T c) {
    return T(u32(f(a, b)) + u32(c));
  }
};
struct mul24_hi_op {
  static u32 f(u32 a, u32 b) { return u32((u64(a & 0xffffff) * (b & 0xffffff)) >> 16); }
  static s32 f(s32 a, s32 b) {
    return s32((s64(s32(u32(a) << 8) >> 8) * (s32(u32(b) << 8) >> 8)) >> 16);
  }
  template <class T>
  static T f(T a, T b, T c) {
    return T(u32(f(a, b)) + u32(c));
  }
};
struct div_op {  // by zero: the result is unspecified; here all ones
  template <class T>
  static T f(T a, T b) {
    if (b == 0) return T(~T(0));
    if (std::is_signed<T>::value && b == T(-1)) return T(unsigned_of<T>(0) - unsigned_of<T>(a));
    return T(a / b);
  }
};
struct rem_op {
  template <class T>
  static T f(T a, T b) {
    if (b == 0) return a;
    if (std::is_signed<T>::value && b == T(-1)) return 0;
    return T(a % b);
  }
};
struct min_op {
  template <class T>
  static T f(T a, T b) {
    return b < a ? b : a;
  }
};
struct max_op {
  template <class T>
  static T f(T a, T b) {
    return a < b ? b : a;
  }
};
struct and_op {
  template <class T>
  static T f(T a, T b) {
    return a & b;
  }
};
struct or_op {
  template <class T>
  static T f(T a, T b) {
    return a | b;
  }
};
struct xor_op {
  template <class T>
  static T f(T a, T b) {
    return a ^ b;
  }
};
struct not_op {
  template <class T>
  static T f(T a) {
    return T(~a);
  }
};
struct c_not_op {
  template <class T>
  static T f(T a) {
    return T(a == 0);
  }
};
struct neg_op {
  template <class T>
  static T f(T a) {
    return T(unsigned_of<T>(0) - unsigned_of<T>(a));
  }
};
struct abs_op {
  template <class T>
  static T f(T a) {
    return a < 0 ? T(unsigned_of<T>(0) - unsigned_of<T>(a)) : a;
  }
};
struct sad_op {
  template <class T>
  static T f(T a, T b, T c) {
    return T(unsigned_of<T>(c) + unsigned_of<T>(a < b ? unsigned_of<T>(b) - unsigned_of<T>(a)
                                                      : unsigned_of<T>(a) - unsigned_of<T>(b)));
  }
};
struct add_sat_op {
  static s32 f(s32 a, s32 b) {
    return s32(std::max<s64>(INT32_MIN, std::min<s64>(INT32_MAX, s64(a) + b)));
  }
};
struct sub_sat_op {
  static s32 f(s32 a, s32 b) {
    return s32(std::max<s64>(INT32_MIN, std::min<s64>(INT32_MAX, s64(a) - b)));
  }
};
struct shl_op {
  template <class T>
  static T f(T a, u32 b) {
    return b >= sizeof(T) * 8 ? T(0) : T(unsigned_of<T>(a) << b);
  }
};
struct shr_op {
  template <class T>
  static T f(T a, u32 b) {
    const u32 top = sizeof(T) * 8 - 1;
    if (std::is_signed<T>::value) return T(a >> std::min(b, top));
    return b > top ? T(0) : T(a >> b);
  }
};
struct popc_op {
  template <class T>
  static u32 f(T a) {
    return u32(__builtin_popcountll(a));
  }
};
struct clz_op {
  static u32 f(u32 a) { return a ? u32(__builtin_clz(a)) : 32; }
  static u32 f(u64 a) { return a ? u32(__builtin_clzll(a)) : 64; }
};
struct bfind_op {
  template <class T>
  static u32 f(T a) {
    unsigned_of<T> v = unsigned_of<T>(a);
    if (std::is_signed<T>::value && a < 0) v = unsigned_of<T>(~v);
    return v ? 63 - u32(__builtin_clzll(u64(v))) : 0xffffffffu;
  }
};
struct bfind_shift_op {
  template <class T>
  static u32 f(T a) {
    const u32 p = bfind_op::f(a);
    return p == 0xffffffffu ? p : u32(sizeof(T) * 8 - 1) - p;
  }
};
struct brev_op {
  static u32 f(u32 v) {
    v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
    v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
    v = ((v >> 4) & 0x0f0f0f0fu) | ((v & 0x0f0f0f0fu) << 4);
    return __builtin_bswap32(v);
  }
  static u64 f(u64 v) { return u64(f(u32(v))) << 32 | f(u32(v >> 32)); }
};

}  // namespace octobloom::ptx
