// Bits: logic, shifts, fields, permutations.

#include "interpreter/decoder.h"
#include "interpreter/lanes.h"
#include "interpreter/operations.h"

namespace octobloom::ptx {

namespace {

template <class T>
T bit_extract(T a, u32 pos, u32 len) {
  constexpr u32 msb = sizeof(T) * 8 - 1;
  using U = unsigned_of<T>;
  if (len == 0) return 0;
  const U v = pos > msb ? U(0) : U(U(a) >> pos);
  const bool sign = std::is_signed<T>::value && (U(a) >> std::min(pos + len - 1, msb) & 1);
  const u32 have = pos > msb ? 0 : std::min(len, msb - pos + 1);  // bits taken from a
  if (have > msb) return T(v);
  const U low = U((U(1) << have) - 1);
  return T((v & low) | (sign ? U(~low) : U(0)));
}
template <class T>
T bit_insert(T a, T b, u32 pos, u32 len) {
  constexpr u32 msb = sizeof(T) * 8 - 1;
  if (pos > msb || len == 0) return b;
  const u32 n = std::min(len, msb - pos + 1);
  const T field = n > msb ? T(~T(0)) : T(((T(1) << n) - 1) << pos);
  return T((b & ~field) | (T(a << pos) & field));
}
template <class T>
void h_bfe(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b), *c = x.src(i.c);
  u64* d = x.dst(i.d);
  for_each_lane(m, [=](u32 l) {
    d[l] = bits_of(bit_extract(value_of<T>(a[l]), u32(b[l]) & 0xff, u32(c[l]) & 0xff));
  });
}
template <class T>
void h_bfi(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b), *c = x.src(i.c), *e = x.src(i.e);
  u64* d = x.dst(i.d);
  for_each_lane(m, [=](u32 l) {
    d[l] = bits_of(bit_insert(T(a[l]), T(b[l]), u32(c[l]) & 0xff, u32(e[l]) & 0xff));
  });
}
void h_bmsk(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b);
  u64* d = x.dst(i.d);
  for_each_lane(m, [=](u32 l) {
    u32 p = u32(a[l]), n = u32(b[l]);
    if (i.opt) {
      p &= 31;
      n &= 31;
    }  // .wrap
    const u64 field = n >= 32 ? 0xffffffffu : (u64{1} << n) - 1;
    d[l] = p >= 32 ? 0 : u32(field << p);
  });
}
template <class T>
void h_szext(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b);
  u64* d = x.dst(i.d);
  for_each_lane(m, [=](u32 l) {
    u32 n = u32(b[l]);
    if (i.opt) n &= 31;
    if (n >= 32) {
      d[l] = u32(a[l]);
      return;
    }
    if (n == 0) {
      d[l] = 0;
      return;
    }
    const u32 low = (1u << n) - 1, v = u32(a[l]) & low;
    d[l] = std::is_signed<T>::value && (v >> (n - 1) & 1) ? u32(v | ~low) : v;
  });
}
void h_shf(machine& x, const instruction& i, u32 m) {  // opt: 1 = left; opt2: 1 = wrap
  const u64 *a = x.src(i.a), *b = x.src(i.b), *c = x.src(i.c);
  const bool left = i.opt, wrap = i.opt2;
  for_lanes(m, x.dst(i.d), [=](u32 l) {
    const u64 v = u64(u32(b[l])) << 32 | u32(a[l]);
    const u32 n = wrap ? u32(c[l]) & 31 : std::min(u32(c[l]), 32u);
    return u64(u32(left ? (v << n) >> 32 : v >> n));
  });
}
void h_lop3(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b), *c = x.src(i.c);
  u64 t[warp_lanes] = {};
  for (u32 k = 0; k < 8; ++k) {
    if (!(i.imm >> k & 1)) continue;
    const u64 na = k & 4 ? 0 : ~u64{0}, nb = k & 2 ? 0 : ~u64{0}, nc = k & 1 ? 0 : ~u64{0};
    for (u32 l = 0; l < warp_lanes; ++l) t[l] |= (a[l] ^ na) & (b[l] ^ nb) & (c[l] ^ nc);
  }
  const u64* r = t;
  for_lanes(m, x.dst(i.d), [=](u32 l) { return u64(u32(r[l])); });
  if (i.opt) {  // lop3.or / lop3.and with a predicate result
    const u32 nz = mask_of([=](u32 l) { return u32(r[l]) != 0; }), q = x.pred(i.pc);
    x.set_pred(i.pd, i.opt == 1 ? nz | q : nz & q, m);
  }
}
void h_prmt(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b), *c = x.src(i.c);
  u64* d = x.dst(i.d);
  for_each_lane(m, [=](u32 l) {
    const u64 v = u64(u32(b[l])) << 32 | u32(a[l]);
    const u32 sel = u32(c[l]);
    u32 r = 0;
    for (u32 k = 0; k < 4; ++k) {
      const u32 s = sel & 3;
      u32 pick;
      bool sign = false;
      switch (i.opt) {
        case 0:
          pick = sel >> (4 * k) & 7;
          sign = sel >> (4 * k) & 8;
          break;
        case 1:
          pick = (s + k) & 7;
          break;  // f4e
        case 2:
          pick = (s - k) & 7;
          break;  // b4e
        case 3:
          pick = s;
          break;  // rc8
        case 4:
          pick = std::max(s, k);
          break;  // ecl
        case 5:
          pick = std::min(s, k);
          break;  // ecr
        default:
          pick = (s & 1) * 2 + (k & 1);
          break;  // rc16
      }
      u32 byte = u32(v >> (8 * pick)) & 0xff;
      if (sign) byte = byte & 0x80 ? 0xff : 0;
      r |= byte << (8 * k);
    }
    d[l] = r;
  });
}

template <class Op>
void decode_logic(decoder& d) {
  const data_type t = d.type();
  if (t == PRED) {
    d.in.pd = d.pdest(d.operand(0));
    d.in.pc = d.psource(1);
    d.in.pq = d.psource(2);
    d.in.opt = std::is_same<Op, and_op>::value ? 1 : std::is_same<Op, or_op>::value ? 2 : 3;
    d.in.cls = class_compare;
    d.need(h_pred);
    return;
  }
  two_sources(d, t);
  d.in.cls = class_logic;
  d.need(PICK_BITS(t, h2, Op));
}
void decode_not(decoder& d) {
  const data_type t = d.type();
  if (t == PRED) {
    d.in.pd = d.pdest(d.operand(0));
    d.in.pc = d.psource(1);
    d.in.opt = 4;
    d.in.cls = class_compare;
    d.need(h_pred);
    return;
  }
  d.in.d = d.dest(0);
  d.in.a = d.source(1, t);
  d.in.cls = class_logic;
  d.need(PICK_BITS(t, h1, not_op));
}
void decode_cnot(decoder& d) {
  const data_type t = d.type();
  d.in.d = d.dest(0);
  d.in.a = d.source(1, t);
  d.in.cls = class_logic;
  d.need(PICK_BITS(t, h1, c_not_op));
}
template <bool left>
void decode_shift(decoder& d) {
  const data_type t = d.type();
  d.in.d = d.dest(0);
  d.in.a = d.source(1, t);
  d.in.b = d.source(2, U32);
  d.in.cls = class_logic;
  if (left)
    d.need(PICK_BITS(t, h_shift, shl_op));
  else
    d.need(PICK_SIGNED(t, h_shift, shr_op));
}
void decode_shf(decoder& d) {
  d.in.d = d.dest(0);
  d.in.a = d.source(1, B32);
  d.in.b = d.source(2, B32);
  d.in.c = d.source(3, B32);
  d.in.cls = class_logic;
  d.in.opt = d.has("l");
  d.has("r");
  d.in.opt2 = d.has("wrap");
  d.has("clamp");
  d.need(h_shf);
}
void decode_brev(decoder& d) {
  const data_type t = d.type();
  d.in.d = d.dest(0);
  d.in.a = d.source(1, t);
  d.in.cls = class_logic;
  d.need(pick6(t, nullptr, nullptr, h1<brev_op, u32>, nullptr, h1<brev_op, u64>, nullptr));
}
void decode_bfe(decoder& d) {
  const data_type t = d.type();
  d.in.d = d.dest(0);
  d.in.a = d.source(1, t);
  d.in.b = d.source(2, U32);
  d.in.c = d.source(3, U32);
  d.in.cls = class_logic;
  d.need(pick6(t, nullptr, nullptr, h_bfe<u32>, h_bfe<s32>, h_bfe<u64>, h_bfe<s64>));
}
void decode_bfi(decoder& d) {
  const data_type t = d.type();
  d.in.d = d.dest(0);
  d.in.a = d.source(1, t);
  d.in.b = d.source(2, t);
  d.in.c = d.source(3, U32);
  d.in.e = d.source(4, U32);
  d.in.cls = class_logic;
  d.need(pick6(t, nullptr, nullptr, h_bfi<u32>, nullptr, h_bfi<u64>, nullptr));
}
void decode_bmsk(decoder& d) {
  two_sources(d, U32);
  d.in.cls = class_logic;
  d.in.opt = d.has("wrap");
  d.has("clamp");
  d.need(h_bmsk);
}
void decode_szext(decoder& d) {
  two_sources(d, U32);
  d.in.cls = class_logic;
  d.in.opt = d.has("wrap");
  d.has("clamp");
  d.need(d.type() == S32 ? h_szext<s32> : h_szext<u32>);
}
void decode_lop3(decoder& d) {
  d.in.cls = class_logic;
  if (d.has("or") || d.has("and")) {
    ptx_operand& o = d.operand(0);
    d.in.opt = d.has("or") ? 1 : 2;
    d.in.d = d.dest(o);
    if (o.second.empty()) throw unsupported_instruction{"lop3 predicate"};
    d.in.pd = d.pdest(o.second[0]);
    d.in.pc = d.psource(5);
  } else {
    d.in.d = d.dest(0);
  }
  d.in.a = d.source(1, B32);
  d.in.b = d.source(2, B32);
  d.in.c = d.source(3, B32);
  if (d.operand(4).kind != ptx_operand::immediate_operand)
    throw unsupported_instruction{"lop3 table"};
  d.in.imm = s64(d.operand(4).bits);
  d.need(h_lop3);
}
void decode_prmt(decoder& d) {
  three_sources(d, B32);
  d.in.cls = class_logic;
  const char* modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  for (u8 k = 0; k < 6; ++k)
    if (d.has(modes[k])) d.in.opt = u8(k + 1);
  d.need(h_prmt);
}

}  // namespace

void add_bit_instructions(decode_rows& rows) {
  rows.insert({
      {"and", decode_logic<and_op>},
      {"or", decode_logic<or_op>},
      {"xor", decode_logic<xor_op>},
      {"not", decode_not},
      {"cnot", decode_cnot},
      {"shl", decode_shift<true>},
      {"shr", decode_shift<false>},
      {"shf", decode_shf},
      {"brev", decode_brev},
      {"bfe", decode_bfe},
      {"bfi", decode_bfi},
      {"bmsk", decode_bmsk},
      {"szext", decode_szext},
      {"lop3", decode_lop3},
      {"prmt", decode_prmt},
  });
}

}  // namespace octobloom::ptx
