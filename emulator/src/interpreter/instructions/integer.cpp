// Integer arithmetic: sums, products, quotients, carries, counts.

#include "interpreter/decoder.h"
#include "interpreter/lanes.h"
#include "interpreter/operations.h"

namespace octobloom::ptx {

namespace {

// add.cc, addc, sub.cc, subc, mad.cc, madc. opt: 1 = uses the carry, 2 = sets it.
template <class T>
void h_addc(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b);
  u64* d = x.dst(i.d);
  u32 carry = x.w->carry;
  for_each_lane(m, [&](u32 l) {
    const u128 s = u128(T(a[l])) + T(b[l]) + (i.opt & 1 ? carry >> l & 1 : 0);
    d[l] = T(s);
    if (i.opt & 2) carry = (carry & ~(1u << l)) | u32(s >> (sizeof(T) * 8) & 1) << l;
  });
  x.w->carry = carry;
}
// The flag after a subtraction is the carry of a + ~b + 1, so it is set when nothing was borrowed:
// the PTX manual calls it a borrow, but nvcc's own 128-bit division reads it with addc.
template <class T>
void h_subc(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b);
  u64* d = x.dst(i.d);
  u32 carry = x.w->carry;
  for_each_lane(m, [&](u32 l) {
    const u128 s = u128(T(a[l])) + T(~T(b[l])) + (i.opt & 1 ? carry >> l & 1 : 1);
    d[l] = T(s);
    if (i.opt & 2) carry = (carry & ~(1u << l)) | u32(s >> (sizeof(T) * 8) & 1) << l;
  });
  x.w->carry = carry;
}
template <class T, bool high>
void h_madc(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b), *c = x.src(i.c);
  u64* d = x.dst(i.d);
  u32 carry = x.w->carry;
  using U = unsigned_of<T>;
  for_each_lane(m, [&](u32 l) {
    const U p = high ? U(mul_hi_op::f(value_of<T>(a[l]), value_of<T>(b[l]))) : U(U(a[l]) * U(b[l]));
    const u128 s = u128(p) + U(c[l]) + (i.opt & 1 ? carry >> l & 1 : 0);
    d[l] = U(s);
    if (i.opt & 2) carry = (carry & ~(1u << l)) | u32(s >> (sizeof(T) * 8) & 1) << l;
  });
  x.w->carry = carry;
}
template <class A, class B>
void h_dp4a(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b), *c = x.src(i.c);
  for_lanes(m, x.dst(i.d), [=](u32 l) {
    u32 r = u32(c[l]);
    for (u32 k = 0; k < 4; ++k) r += u32(s32(A(a[l] >> (8 * k))) * s32(B(b[l] >> (8 * k))));
    return u64(r);
  });
}
void h_fns(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b), *c = x.src(i.c);
  u64* d = x.dst(i.d);
  for_each_lane(m, [=](u32 l) {
    const u32 bits = u32(a[l]), at = u32(b[l]) & 31;
    const s32 n = s32(c[l]);
    u32 r = 0xffffffffu;
    if (n == 0) {
      if (bits >> at & 1) r = at;
    } else if (n > 0) {
      s32 k = n;
      for (u32 p = at; p < 32 && r == 0xffffffffu; ++p)
        if ((bits >> p & 1) && --k == 0) r = p;
    } else {
      s32 k = -n;
      for (int p = int(at); p >= 0 && r == 0xffffffffu; --p)
        if ((bits >> p & 1) && --k == 0) r = u32(p);
    }
    d[l] = r;
  });
}

template <bool subtract>
void decode_add(decoder& d) {
  const data_type t = d.type();
  two_sources(d, t);
  d.in.cls = class_int_alu;
  if (is_float(t)) {
    float_modifiers(d);
    d.need(subtract ? float2_handler(float_sub, t) : float2_handler(float_add, t));
    return;
  }
  if (d.has("sat")) {
    if (t != S32) throw unsupported_instruction{"saturation"};
    d.need(subtract ? h2<sub_sat_op, s32> : h2<add_sat_op, s32>);
    return;
  }
  if (d.has("cc")) {
    d.in.opt = 2;
    const bool w = bytes_of(t) == 8;
    d.need(subtract ? (w ? h_subc<u64> : h_subc<u32>) : (w ? h_addc<u64> : h_addc<u32>));
    return;
  }
  d.need(subtract ? PICK_BITS(t, h2, sub_op) : PICK_BITS(t, h2, add_op));
}
template <bool subtract>
void decode_addc(decoder& d) {
  const data_type t = d.type();
  two_sources(d, t);
  d.in.cls = class_int_alu;
  d.in.opt = u8(1 | (d.has("cc") ? 2 : 0));
  const bool w = bytes_of(t) == 8;
  d.need(subtract ? (w ? h_subc<u64> : h_subc<u32>) : (w ? h_addc<u64> : h_addc<u32>));
}
void decode_mul(decoder& d) {
  const data_type t = d.type();
  two_sources(d, t);
  d.in.cls = class_int_mul;
  if (is_float(t)) {
    float_modifiers(d);
    d.need(float2_handler(float_mul, t));
  } else if (d.has("wide"))
    d.need(pick6(t, h2w<mul_wide_op, u16>, h2w<mul_wide_op, s16>, h2w<mul_wide_op, u32>,
                 h2w<mul_wide_op, s32>, nullptr, nullptr));
  else if (d.has("hi"))
    d.need(PICK_SIGNED(t, h2, mul_hi_op));
  else {
    d.has("lo");
    d.need(PICK_BITS(t, h2, mul_lo_op));
  }
}
template <bool use_carry>
void decode_mad_any(decoder& d) {
  const data_type t = d.type();
  three_sources(d, t);
  d.in.cls = class_int_mul;
  if (is_float(t)) {
    float_modifiers(d);
    d.need(fma_handler(t));
    return;
  }
  const bool hi = d.has("hi"), wide = d.has("wide"), cc = d.has("cc");
  d.has("lo");
  if (use_carry || cc) {
    d.in.opt = u8((use_carry ? 1 : 0) | (cc ? 2 : 0));
    if (wide) throw unsupported_instruction{"wide with carry"};
    if (hi)
      d.need(pick6(t, nullptr, nullptr, h_madc<u32, true>, h_madc<s32, true>, h_madc<u64, true>,
                   h_madc<s64, true>));
    else
      d.need(pick6(t, nullptr, nullptr, h_madc<u32, false>, h_madc<u32, false>, h_madc<u64, false>,
                   h_madc<u64, false>));
    return;
  }
  if (wide) {
    d.in.c = d.source(3, bytes_of(t) == 2 ? B32 : B64);
    d.need(pick6(t, h3w<mul_wide_op, u16>, h3w<mul_wide_op, s16>, h3w<mul_wide_op, u32>,
                 h3w<mul_wide_op, s32>, nullptr, nullptr));
  } else if (hi) {
    if (d.has("sat")) throw unsupported_instruction{"saturation"};
    d.need(PICK_SIGNED(t, h3, mad_hi_op));
  } else {
    d.need(PICK_BITS(t, h3, mad_lo_op));
  }
}
template <bool add_product>
void decode_mul24(decoder& d) {
  const data_type t = d.type();
  if (add_product)
    three_sources(d, t);
  else
    two_sources(d, t);
  d.in.cls = class_int_mul;
  const bool hi = d.has("hi");
  d.has("lo");
  if (t != U32 && t != S32) throw unsupported_instruction{"type"};
  if (add_product)
    d.need(hi ? (t == U32 ? h3<mul24_hi_op, u32> : h3<mul24_hi_op, s32>)
              : (t == U32 ? h3<mul24_lo_op, u32> : h3<mul24_lo_op, s32>));
  else
    d.need(hi ? (t == U32 ? h2<mul24_hi_op, u32> : h2<mul24_hi_op, s32>)
              : (t == U32 ? h2<mul24_lo_op, u32> : h2<mul24_lo_op, s32>));
}
void decode_dp4a(decoder& d) {
  three_sources(d, B32);
  d.in.cls = class_int_mul;
  const bool sa = d.type(0) == S32, sb = d.type(1) == S32;
  d.need(sa ? (sb ? h_dp4a<s8, s8> : h_dp4a<s8, u8>) : (sb ? h_dp4a<u8, s8> : h_dp4a<u8, u8>));
}
void decode_div(decoder& d) {
  const data_type t = d.type();
  two_sources(d, t);
  d.in.cls = class_int_mul;
  if (is_float(t)) {
    float_modifiers(d);
    d.need(float2_handler(float_div, t));
  } else
    d.need(PICK_SIGNED(t, h2, div_op));
}
void decode_rem(decoder& d) {
  two_sources(d, d.type());
  d.in.cls = class_int_mul;
  d.need(PICK_SIGNED(d.type(), h2, rem_op));
}
template <bool maximum>
void decode_minmax(decoder& d) {
  const data_type t = d.type();
  two_sources(d, t);
  d.in.cls = class_int_alu;
  if (is_float(t)) {
    if (d.ops.size() > 3) throw unsupported_instruction{"three-input min/max"};
    d.in.cls = class_float;
    d.ignore({"ftz"});
    d.need(maximum ? float2_handler(float_max, t) : float2_handler(float_min, t));
  } else {
    d.need(maximum ? PICK_SIGNED(t, h2, max_op) : PICK_SIGNED(t, h2, min_op));
  }
}
template <class Op, float_function F>
void decode_neg_abs(decoder& d) {
  const data_type t = d.type();
  d.in.d = d.dest(0);
  d.in.a = d.source(1, t);
  d.in.cls = class_int_alu;
  if (is_float(t)) {
    d.in.cls = class_float;
    d.ignore({"ftz"});
    d.need(float1_handler(F, t));
    return;
  }
  d.need(pick6(t, nullptr, h1<Op, s16>, nullptr, h1<Op, s32>, nullptr, h1<Op, s64>));
}
void decode_sad(decoder& d) {
  three_sources(d, d.type());
  d.in.cls = class_int_alu;
  d.need(PICK_SIGNED(d.type(), h3, sad_op));
}
template <class Op>
void decode_count(decoder& d) {
  const data_type t = d.type();
  d.in.d = d.dest(0);
  d.in.a = d.source(1, t);
  d.in.cls = class_int_alu;
  if (bytes_of(t) == 4)
    d.need(h1_u32<Op, u32>);
  else if (bytes_of(t) == 8)
    d.need(h1_u32<Op, u64>);
  else
    throw unsupported_instruction{"type"};
}
void decode_bfind(decoder& d) {
  const data_type t = d.type();
  d.in.d = d.dest(0);
  d.in.a = d.source(1, t);
  d.in.cls = class_int_alu;
  if (d.has("shiftamt"))
    d.need(pick6(t, nullptr, nullptr, h1_u32<bfind_shift_op, u32>, h1_u32<bfind_shift_op, s32>,
                 h1_u32<bfind_shift_op, u64>, h1_u32<bfind_shift_op, s64>));
  else
    d.need(pick6(t, nullptr, nullptr, h1_u32<bfind_op, u32>, h1_u32<bfind_op, s32>,
                 h1_u32<bfind_op, u64>, h1_u32<bfind_op, s64>));
}
void decode_fns(decoder& d) {
  three_sources(d, U32);
  d.in.cls = class_int_alu;
  d.need(h_fns);
}

}  // namespace

void add_integer_instructions(decode_rows& rows) {
  rows.insert({
      {"add", decode_add<false>},
      {"sub", decode_add<true>},
      {"addc", decode_addc<false>},
      {"subc", decode_addc<true>},
      {"mul", decode_mul},
      {"mad", decode_mad_any<false>},
      {"madc", decode_mad_any<true>},
      {"mul24", decode_mul24<false>},
      {"mad24", decode_mul24<true>},
      {"dp4a", decode_dp4a},
      {"div", decode_div},
      {"rem", decode_rem},
      {"min", decode_minmax<false>},
      {"max", decode_minmax<true>},
      {"sad", decode_sad},
      {"neg", decode_neg_abs<neg_op, float_neg>},
      {"abs", decode_neg_abs<abs_op, float_abs>},
      {"popc", decode_count<popc_op>},
      {"clz", decode_count<clz_op>},
      {"bfind", decode_bfind},
      {"fns", decode_fns},
  });
}

}  // namespace octobloom::ptx
