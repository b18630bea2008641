// Comparison and selection.

#include "interpreter/decoder.h"
#include "interpreter/lanes.h"
#include "interpreter/operations.h"

namespace octobloom::ptx {

// Predicates: opt selects and, or, xor, not, mov.
void h_pred(machine& x, const instruction& i, u32 m) {
  const u32 a = x.pred(i.pc), b = x.pred(i.pq);
  u32 r = a;
  switch (i.opt) {
    case 1:
      r = a & b;
      break;
    case 2:
      r = a | b;
      break;
    case 3:
      r = a ^ b;
      break;
    case 4:
      r = ~a;
      break;
    default:
      break;
  }
  x.set_pred(i.pd, r, m);
}

namespace {

enum comparison_kind : u8 {
  compare_eq,
  compare_ne,
  compare_lt,
  compare_le,
  compare_gt,
  compare_ge,
  compare_equ,
  compare_neu,
  compare_ltu,
  compare_leu,
  compare_gtu,
  compare_geu,
  compare_num,
  compare_nan,
  no_comparison
};
template <comparison_kind C, class T>
inline bool compare(T a, T b) {
  if constexpr (C == compare_eq)
    return a == b;
  else if constexpr (C == compare_ne)
    return std::is_floating_point<T>::value ? (a < b || a > b) : a != b;
  else if constexpr (C == compare_lt)
    return a < b;
  else if constexpr (C == compare_le)
    return a <= b;
  else if constexpr (C == compare_gt)
    return a > b;
  else if constexpr (C == compare_ge)
    return a >= b;
  else if constexpr (C == compare_equ)
    return !(a < b || a > b);
  else if constexpr (C == compare_neu)
    return !(a == b);
  else if constexpr (C == compare_ltu)
    return !(a >= b);
  else if constexpr (C == compare_leu)
    return !(a > b);
  else if constexpr (C == compare_gtu)
    return !(a <= b);
  else if constexpr (C == compare_geu)
    return !(a < b);
  else if constexpr (C == compare_num)
    return a == a && b == b;
  else
    return !(a == a && b == b);
}
inline u32 combine(u8 op, u32 a, u32 b) {
  return op == 1 ? a & b : op == 2 ? a | b : op == 3 ? a ^ b : a;
}
template <comparison_kind C, class T>
void h_setp(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b);
  const u32 r = mask_of([=](u32 l) { return compare<C, T>(value_of<T>(a[l]), value_of<T>(b[l])); });
  const u32 c = x.pred(i.pc);
  x.set_pred(i.pd, combine(i.opt, r, c), m);
  if (i.pq != predicate_sink) x.set_pred(i.pq, combine(i.opt, ~r, c), m);
}
template <comparison_kind C, class T>
void h_set(machine& x, const instruction& i, u32 m) {  // imm: the bits for true
  const u64 *a = x.src(i.a), *b = x.src(i.b);
  const u32 r = combine(
      i.opt, mask_of([=](u32 l) { return compare<C, T>(value_of<T>(a[l]), value_of<T>(b[l])); }),
      x.pred(i.pc));
  const u64 yes = u64(i.imm);
  for_lanes(m, x.dst(i.d), [=](u32 l) { return r >> l & 1 ? yes : 0; });
}
void h_selp(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b);
  const u32 p = x.pred(i.pc);
  for_lanes(m, x.dst(i.d), [=](u32 l) { return p >> l & 1 ? a[l] : b[l]; });
}
template <class T>
void h_slct(machine& x, const instruction& i, u32 m) {
  const u64 *a = x.src(i.a), *b = x.src(i.b), *c = x.src(i.c);
  for_lanes(m, x.dst(i.d), [=](u32 l) { return value_of<T>(c[l]) >= 0 ? a[l] : b[l]; });
}

template <comparison_kind C>
handler setp_handler(data_type t) {
  if (is_float(t)) return t == F32 ? h_setp<C, float> : h_setp<C, double>;
  if constexpr (C <= compare_ge)
    return pick6(t, h_setp<C, u16>, h_setp<C, s16>, h_setp<C, u32>, h_setp<C, s32>, h_setp<C, u64>,
                 h_setp<C, s64>);
  return nullptr;
}
template <comparison_kind C>
handler set_handler(data_type t) {
  if (is_float(t)) return t == F32 ? h_set<C, float> : h_set<C, double>;
  if constexpr (C <= compare_ge)
    return pick6(t, h_set<C, u16>, h_set<C, s16>, h_set<C, u32>, h_set<C, s32>, h_set<C, u64>,
                 h_set<C, s64>);
  return nullptr;
}
struct comparison_row {
  const char* name;
  comparison_kind cmp;
  handler (*setp)(data_type);
  handler (*set)(data_type);
};
#define CMP_ROW(name, c) \
  { name, c, setp_handler<c>, set_handler<c> }
const comparison_row comparisons[] = {
    CMP_ROW("eq", compare_eq),   CMP_ROW("ne", compare_ne),   CMP_ROW("lt", compare_lt),
    CMP_ROW("le", compare_le),   CMP_ROW("gt", compare_gt),   CMP_ROW("ge", compare_ge),
    CMP_ROW("lo", compare_lt),   CMP_ROW("ls", compare_le),   CMP_ROW("hi", compare_gt),
    CMP_ROW("hs", compare_ge),   CMP_ROW("equ", compare_equ), CMP_ROW("neu", compare_neu),
    CMP_ROW("ltu", compare_ltu), CMP_ROW("leu", compare_leu), CMP_ROW("gtu", compare_gtu),
    CMP_ROW("geu", compare_geu), CMP_ROW("num", compare_num), CMP_ROW("nan", compare_nan)};
const comparison_row& comparison(decoder& d) {
  for (const comparison_row& r : comparisons)
    if (d.has(r.name)) return r;
  throw unsupported_instruction{"comparison"};
}
void boolean_operator(decoder& d) {
  d.in.opt = d.has("and") ? 1 : d.has("or") ? 2 : d.has("xor") ? 3 : 0;
  if (d.in.opt) d.in.pc = d.psource(3);
}
void decode_setp(decoder& d) {
  const data_type t = d.type();
  ptx_operand& o = d.operand(0);
  d.in.pd = d.pdest(o);
  if (!o.second.empty()) d.in.pq = d.pdest(o.second[0]);
  d.in.a = d.source(1, t);
  d.in.b = d.source(2, t);
  d.in.cls = class_compare;
  d.ignore({"ftz"});
  const comparison_row& row = comparison(d);
  boolean_operator(d);
  d.need(row.setp(t));
}
void decode_set(decoder& d) {
  const data_type t = d.type(1);
  d.in.d = d.dest(0);
  d.in.a = d.source(1, t);
  d.in.b = d.source(2, t);
  d.in.cls = class_compare;
  d.in.imm = d.type(0) == F32 ? 0x3f800000 : 0xffffffff;
  d.ignore({"ftz"});
  const comparison_row& row = comparison(d);
  boolean_operator(d);
  d.need(row.set(t));
}
void decode_selp(decoder& d) {
  const data_type t = d.type();
  two_sources(d, t);
  d.in.pc = d.psource(3);
  d.in.cls = class_compare;
  d.need(h_selp);
}
void decode_slct(decoder& d) {
  two_sources(d, d.type(0));
  d.in.c = d.source(3, d.type(1));
  d.in.cls = class_compare;
  d.ignore({"ftz"});
  d.need(d.type(1) == S32 ? h_slct<s32> : d.type(1) == F32 ? h_slct<float> : nullptr);
}

}  // namespace

void add_comparisons(decode_rows& rows) {
  rows.insert({
      {"setp", decode_setp},
      {"set", decode_set},
      {"selp", decode_selp},
      {"slct", decode_slct},
  });
}

}  // namespace octobloom::ptx
