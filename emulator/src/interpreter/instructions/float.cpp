// Floating point.

#include <cmath>

#include "interpreter/decoder.h"
#include "interpreter/lanes.h"
#include "interpreter/operations.h"
#include "interpreter/rounding.h"

namespace octobloom::ptx {

namespace {

// Floating point. opt: rounding mode 0 rn, 1 rz, 2 rm, 3 rp; opt2: saturate.
template <class T>
inline T saturate(T v) {
  return v != v ? T(0) : v < T(0) ? T(0) : v > T(1) ? T(1) : v;
}
template <float_operation O, class T>
void h_float2(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b);
  u64* d = x.dst(i.d);
  rounding_scope mode(i.opt);
  for_each_lane(m, [&](u32 l) {
    volatile T p = value_of<T>(a[l]),
               q = value_of<T>(b[l]);  // volatile: no folding under another rounding mode
    T r;
    if constexpr (O == float_add)
      r = p + q;
    else if constexpr (O == float_sub)
      r = p - q;
    else if constexpr (O == float_mul)
      r = p * q;
    else if constexpr (O == float_div)
      r = p / q;
    else if constexpr (O == float_min)
      r = std::signbit(T(p)) && p == q ? T(p) : std::fmin(T(p), T(q));
    else if constexpr (O == float_max)
      r = std::signbit(T(q)) && p == q ? T(p) : std::fmax(T(p), T(q));
    else
      r = std::copysign(T(q), T(p));
    d[l] = bits_of<T>(i.opt2 ? saturate(r) : r);
  });
}
template <class T>
void h_fma(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b), *c = x.src(i.c);
  u64* d = x.dst(i.d);
  rounding_scope mode(i.opt);
  for_each_lane(m, [&](u32 l) {
    volatile T p = value_of<T>(a[l]);
    const T r = std::fma(T(p), value_of<T>(b[l]), value_of<T>(c[l]));
    d[l] = bits_of<T>(i.opt2 ? saturate(r) : r);
  });
}
template <float_function O, class T>
void h_float1(machine& x, const instruction& i, u32 m) {
  const u64* a = x.src(i.a);
  u64* d = x.dst(i.d);
  rounding_scope mode(i.opt);
  for_each_lane(m, [&](u32 l) {
    volatile T p = value_of<T>(a[l]);
    T r;
    if constexpr (O == float_neg) {
      d[l] = a[l] ^ (u64{1} << (sizeof(T) * 8 - 1));
      return;
    } else if constexpr (O == float_abs) {
      d[l] = a[l] & ~(u64{1} << (sizeof(T) * 8 - 1));
      return;
    } else if constexpr (O == float_sqrt)
      r = std::sqrt(T(p));
    else if constexpr (O == float_rsqrt)
      r = T(1) / std::sqrt(T(p));
    else if constexpr (O == float_rcp)
      r = T(1) / T(p);
    else if constexpr (O == float_ex2)
      r = std::exp2(T(p));
    else if constexpr (O == float_lg2)
      r = std::log2(T(p));
    else if constexpr (O == float_sin)
      r = std::sin(T(p));
    else if constexpr (O == float_cos)
      r = std::cos(T(p));
    else
      r = std::tanh(T(p));
    d[l] = bits_of<T>(i.opt2 ? saturate(r) : r);
  });
}
template <class T>
void h_testp(machine& x, const instruction& i, u32 m) {
  const u64* a = x.src(i.a);
  const u8 what = i.opt;
  x.set_pred(i.pd, mask_of([=](u32 l) {
               const T v = value_of<T>(a[l]);
               switch (what) {
                 case 0:
                   return bool(std::isfinite(v));
                 case 1:
                   return bool(std::isinf(v));
                 case 2:
                   return !std::isnan(v);
                 case 3:
                   return bool(std::isnan(v));
                 case 4:
                   return bool(std::isnormal(v));
                 default:
                   return std::fpclassify(v) == FP_SUBNORMAL;
               }
             }),
             m);
}

void decode_fma(decoder& d) {
  const data_type t = d.type();
  three_sources(d, t);
  if (!is_float(t)) throw unsupported_instruction{"type"};
  float_modifiers(d);
  if (d.has("relu")) throw unsupported_instruction{"relu"};
  d.need(fma_handler(t));
}
// Floating point functions
template <float_function F>
void decode_float1(decoder& d) {
  const data_type t = d.type();
  d.in.d = d.dest(0);
  d.in.a = d.source(1, t);
  float_modifiers(d);
  d.need(float1_handler(F, t));
}
void decode_copysign(decoder& d) {
  two_sources(d, d.type());
  d.in.cls = class_float;
  d.need(float2_handler(float_copysign, d.type()));
}
void decode_testp(decoder& d) {
  const char* tests[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  for (u8 k = 0; k < 6; ++k)
    if (d.has(tests[k])) d.in.opt = k;
  d.in.pd = d.pdest(d.operand(0));
  d.in.a = d.source(1, d.type());
  d.in.cls = class_float;
  d.need(d.type() == F32 ? h_testp<float> : d.type() == F64 ? h_testp<double> : nullptr);
}

template <class T>
handler float1_of(float_function f) {
  switch (f) {
    case float_neg:
      return h_float1<float_neg, T>;
    case float_abs:
      return h_float1<float_abs, T>;
    case float_sqrt:
      return h_float1<float_sqrt, T>;
    case float_rsqrt:
      return h_float1<float_rsqrt, T>;
    case float_rcp:
      return h_float1<float_rcp, T>;
    case float_ex2:
      return h_float1<float_ex2, T>;
    case float_lg2:
      return h_float1<float_lg2, T>;
    case float_sin:
      return h_float1<float_sin, T>;
    case float_cos:
      return h_float1<float_cos, T>;
    case float_tanh:
      return h_float1<float_tanh, T>;
  }
  return nullptr;
}
template <class T>
handler float2_of(float_operation o) {
  switch (o) {
    case float_add:
      return h_float2<float_add, T>;
    case float_sub:
      return h_float2<float_sub, T>;
    case float_mul:
      return h_float2<float_mul, T>;
    case float_div:
      return h_float2<float_div, T>;
    case float_min:
      return h_float2<float_min, T>;
    case float_max:
      return h_float2<float_max, T>;
    case float_copysign:
      return h_float2<float_copysign, T>;
  }
  return nullptr;
}

}  // namespace

handler float1_handler(float_function f, data_type t) {
  return t == F32 ? float1_of<float>(f) : t == F64 ? float1_of<double>(f) : nullptr;
}
handler float2_handler(float_operation o, data_type t) {
  return t == F32 ? float2_of<float>(o) : t == F64 ? float2_of<double>(o) : nullptr;
}
handler fma_handler(data_type t) {
  return t == F32 ? h_fma<float> : t == F64 ? h_fma<double> : nullptr;
}

void add_float_instructions(decode_rows& rows) {
  rows.insert({
      {"fma", decode_fma},
      {"sqrt", decode_float1<float_sqrt>},
      {"rsqrt", decode_float1<float_rsqrt>},
      {"rcp", decode_float1<float_rcp>},
      {"ex2", decode_float1<float_ex2>},
      {"lg2", decode_float1<float_lg2>},
      {"sin", decode_float1<float_sin>},
      {"cos", decode_float1<float_cos>},
      {"tanh", decode_float1<float_tanh>},
      {"copysign", decode_copysign},
      {"testp", decode_testp},
  });
}

}  // namespace octobloom::ptx
