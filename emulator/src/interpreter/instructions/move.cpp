// Moves, addresses, hints.

#include <algorithm>

#include "interpreter/decoder.h"
#include "interpreter/lanes.h"
#include "interpreter/operations.h"

namespace octobloom::ptx {

// Moves
void h_mov(machine& x, const instruction& i, u32 m) {
  const u64* a = x.src(i.a);
  for_lanes(m, x.dst(i.d), [=](u32 l) { return a[l]; });
}
void h_nop(machine&, const instruction&, u32) {}

namespace {

void h_mov_add(machine& x, const instruction& i, u32 m) {  // an address plus a constant, cvta
  const u64* a = x.src(i.a);
  const u64 k = u64(i.imm);
  for_lanes(m, x.dst(i.d), [=](u32 l) { return a[l] + k; });
}
void h_pack(machine& x, const instruction& i, u32 m) {  // size: bytes of an element
  u64 t[warp_lanes] = {};
  const u64 em = width_mask(i.size);
  for (u32 k = 0; k < i.n; ++k) {
    const u64* a = x.src(i.v[k]);
    for (u32 l = 0; l < warp_lanes; ++l) t[l] |= (a[l] & em) << (8 * i.size * k);
  }
  const u64* r = t;
  for_lanes(m, x.dst(i.d), [=](u32 l) { return r[l]; });
}
void h_unpack(machine& x, const instruction& i, u32 m) {
  u64 t[warp_lanes];
  std::memcpy(t, x.src(i.a), sizeof t);
  const u64* r = t;
  const u64 em = width_mask(i.size);
  for (u32 k = 0; k < i.n; ++k) {
    const u32 shift = 8 * i.size * k;
    for_lanes(m, x.dst(i.v[k]), [=](u32 l) { return r[l] >> shift & em; });
  }
}
void h_clock(machine& x, const instruction& i, u32 m) {
  const u64 now = i.opt == 2 ? (x.executed >> 32) : x.executed;
  const u64 dm = i.dmask;
  for_lanes(m, x.dst(i.d), [=](u32) { return now & dm; });
}
void h_activemask(machine& x, const instruction& i, u32 m) {
  for_lanes(m, x.dst(i.d), [=](u32) { return u64(m); });
}
void h_isspacep(machine& x, const instruction& i, u32 m) {
  const u64* a = x.src(i.a);
  const state_space s = i.space;
  const u32 r = mask_of([=](u32 l) {
    const u64 id = a[l] >> region_shift;
    switch (s) {
      case space_shared:
        return id == shared_region;
      case space_local:
        return id == local_region;
      case space_param_entry:
        return id == param_region;
      case space_global:
        return id >= first_region || id == null_region;
      default:
        return false;
    }
  });
  x.set_pred(i.pd, r, m);
}

// Moves and conversions
void decode_mov(decoder& d) {
  const data_type t = d.type();
  d.in.cls = class_move;
  ptx_operand &to = d.operand(0), &from = d.operand(1);
  if (t == PRED) {
    d.in.pd = d.pdest(to);
    d.in.pc = d.psource(1);
    d.need(h_pred);
    return;
  }
  if (t == B128) throw unsupported_instruction{"128-bit registers"};
  if (from.kind == ptx_operand::vector_operand) {
    d.in.d = d.dest(to);
    d.in.n = u8(from.parts.size());
    d.in.size = u8(bytes_of(t) / d.in.n);
    for (u32 k = 0; k < d.in.n; ++k)
      d.in.v[k] = d.source(from.parts[k], d.in.size == 4 ? B32 : d.in.size == 2 ? B16 : B8);
    d.need(h_pack);
    return;
  }
  if (to.kind == ptx_operand::vector_operand) {
    d.in.a = d.source(from, t);
    d.in.n = u8(to.parts.size());
    d.in.size = u8(bytes_of(t) / d.in.n);
    for (u32 k = 0; k < d.in.n; ++k) d.in.v[k] = d.dest(to.parts[k]);
    d.need(h_unpack);
    return;
  }
  d.in.d = d.dest(to);
  if (from.kind == ptx_operand::dynamic_operand) {
    if (from.name == "%clock64" || from.name == "%globaltimer" || from.name == "%clock" ||
        from.name == "%globaltimer_lo")
      d.in.opt = 1;
    else if (from.name == "%clock_hi" || from.name == "%globaltimer_hi")
      d.in.opt = 2;
    else
      throw unsupported_instruction{"special register " + from.name};
    d.need(h_clock);
    return;
  }
  if (from.kind == ptx_operand::variable_operand && from.space == space_local) {
    d.in.a = register_frame;
    d.in.imm = s64(from.var_offset) + from.offset;
    d.need(h_mov_add);
    return;
  }
  if (from.kind == ptx_operand::variable_operand && from.space == space_param_lane)
    throw unsupported_instruction{"address of a device function's parameter"};
  d.in.a = d.source(from, t);
  d.need(h_mov);
}
void decode_cvta(decoder& d) {
  d.in.cls = class_move;
  const bool to = d.has("to");
  const state_space s = d.space_modifier();
  ptx_operand& from = d.operand(1);
  d.in.d = d.dest(0);
  if (from.kind == ptx_operand::variable_operand && from.space == space_local) {
    d.in.a = register_frame;
    d.in.imm = s64(from.var_offset) + from.offset;
  } else
    d.in.a = d.source(from, d.type());
  const s64 window = s == space_shared  ? s64(region_base(shared_region))
                     : s == space_local ? s64(region_base(local_region))
                                        : 0;
  d.in.imm += to ? -window : window;
  d.need(h_mov_add);
}
void decode_isspacep(decoder& d) {
  d.in.pd = d.pdest(d.operand(0));
  d.in.a = d.source(1, B64);
  d.in.space = d.space_modifier();
  d.in.cls = class_compare;
  d.need(h_isspacep);
}
void decode_hint(decoder& d) {  // prefetch, fences, sleeps: nothing to do
  std::fill(d.used.begin(), d.used.end(), true);
  d.in.cls = class_fence;
  d.need(h_nop);
}
void decode_createpolicy(decoder& d) {
  std::fill(d.used.begin(), d.used.end(), true);
  d.in.d = d.dest(0);
  d.in.a = d.prog.constant(0);
  d.in.cls = class_fence;
  d.need(h_mov);
}
void decode_activemask(decoder& d) {
  d.in.d = d.dest(0);
  d.in.cls = class_warp_op;
  d.need(h_activemask);
}

}  // namespace

void add_moves(decode_rows& rows) {
  rows.insert({
      {"mov", decode_mov},
      {"cvta", decode_cvta},
      {"isspacep", decode_isspacep},
      {"activemask", decode_activemask},
      {"createpolicy", decode_createpolicy},
      {"prefetch", decode_hint},
      {"prefetchu", decode_hint},
      {"membar", decode_hint},
      {"fence", decode_hint},
      {"griddepcontrol", decode_hint},
      {"nanosleep", decode_hint},
      {"discard", decode_hint},
      {"applypriority", decode_hint},
      {"pmevent", decode_hint},
      {"brkpt", decode_hint},
      {"setmaxnreg", decode_hint},
  });
}

}  // namespace octobloom::ptx
