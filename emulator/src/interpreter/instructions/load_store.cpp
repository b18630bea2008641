// Loads and stores, and the parameters of kernels and functions.

#include "interpreter/decoder.h"
#include "interpreter/lanes.h"
#include "interpreter/operations.h"

namespace octobloom::ptx {

// Call parameters: a small area per lane.
u8* lane_param(machine& x, u32 lane, u64 off) {
  return x.w->params.data() + std::size_t(lane) * x.param_area + x.prog.functions[x.fn].param_base +
         off;
}

namespace {

template <class T>
void h_ld(machine& x, const instruction& i, u32 m) {
  x.resolve(i, m);
  if (x.opt.racecheck)
    x.racecheck(i, m, x.src(i.a), u64(i.imm), i.size, i.space, access_read,
                [](u32) { return static_cast<const u8*>(nullptr); });
  const u64 dm = i.dmask;
  for (u32 k = 0; k < i.n; ++k) {
    u64* d = x.dst(i.v[k]);
    for (u32 r = m; r; r &= r - 1) {
      const u32 l = u32(__builtin_ctz(r));
      T v;
      std::memcpy(&v, x.ptr[l] + k * sizeof(T), sizeof(T));
      d[l] = (std::is_signed<T>::value ? u64(s64(v)) : u64(v)) & dm;
    }
  }
}
template <class T>
void h_st(machine& x, const instruction& i, u32 m) {
  x.resolve(i, m);
  if (x.opt.racecheck) {
    T vals[8];
    x.racecheck(i, m, x.src(i.a), u64(i.imm), i.size, i.space, access_write, [&](u32 l) {
      for (u32 k = 0; k < i.n; ++k) vals[k] = T(x.src(i.v[k])[l]);
      return reinterpret_cast<const u8*>(vals);
    });
  }
  // Which lane wins when several write one place is not defined: with a random scheduler, any.
  const u32 start = x.random ? u32(x.rng.next()) & 31 : 0;
  for (u32 part = 0; part < 2; ++part) {
    for (u32 r = part == 0 ? m & (all_lanes << start) : m & ~(all_lanes << start); r; r &= r - 1) {
      const u32 l = u32(__builtin_ctz(r));
      for (u32 k = 0; k < i.n; ++k) {
        const T v = T(x.src(i.v[k])[l]);
        std::memcpy(x.ptr[l] + k * sizeof(T), &v, sizeof(T));
      }
    }
  }
}
// Kernel parameters at a constant offset (imm): the same for all lanes.
template <class T>
void h_ld_param(machine& x, const instruction& i, u32 m) {
  for (u32 k = 0; k < i.n; ++k) {
    T v;
    std::memcpy(&v, x.param_buffer.data() + i.imm + k * sizeof(T), sizeof(T));
    const u64 bits = (std::is_signed<T>::value ? u64(s64(v)) : u64(v)) & i.dmask;
    for_lanes(m, x.dst(i.v[k]), [=](u32) { return bits; });
  }
}
template <class T>
void h_ld_lane_param(machine& x, const instruction& i, u32 m) {
  for (u32 k = 0; k < i.n; ++k) {
    u64* d = x.dst(i.v[k]);
    for_each_lane(m, [&](u32 l) {
      T v;
      std::memcpy(&v, lane_param(x, l, u64(i.imm)) + k * sizeof(T), sizeof(T));
      d[l] = (std::is_signed<T>::value ? u64(s64(v)) : u64(v)) & i.dmask;
    });
  }
}
template <class T>
void h_st_lane_param(machine& x, const instruction& i, u32 m) {
  for (u32 k = 0; k < i.n; ++k) {
    const u64* a = x.src(i.v[k]);
    for_each_lane(m, [&](u32 l) {
      const T v = T(a[l]);
      std::memcpy(lane_param(x, l, u64(i.imm)) + k * sizeof(T), &v, sizeof(T));
    });
  }
}

#define PICK_MEMORY_SIGNED(t, H)   \
  ((t) == U8 || (t) == B8 ? H<u8>  \
   : (t) == S8            ? H<s8>  \
   : (t) == S16           ? H<s16> \
   : bytes_of(t) == 2     ? H<u16> \
   : (t) == S32           ? H<s32> \
   : bytes_of(t) == 4     ? H<u32> \
   : bytes_of(t) == 8     ? H<u64> \
                          : nullptr)
#define PICK_MEMORY(t, H)      \
  (bytes_of(t) == 1   ? H<u8>  \
   : bytes_of(t) == 2 ? H<u16> \
   : bytes_of(t) == 4 ? H<u32> \
   : bytes_of(t) == 8 ? H<u64> \
                      : nullptr)
void vector_operands(decoder& d, ptx_operand& o, data_type t, bool to) {
  const u32 n = vector_modifier(d);
  d.in.n = u8(n);
  d.in.size = u8(n * bytes_of(t));
  if (n == 1 && o.kind != ptx_operand::vector_operand) {
    d.in.v[0] = to ? d.dest(o) : d.source(o, t);
    return;
  }
  if (o.kind != ptx_operand::vector_operand || o.parts.size() != n)
    throw unsupported_instruction{"vector operand"};
  for (u32 k = 0; k < n; ++k) d.in.v[k] = to ? d.dest(o.parts[k]) : d.source(o.parts[k], t);
}
void decode_ld(decoder& d) {
  const data_type t = d.type();
  if (t == B128) throw unsupported_instruction{"128-bit registers"};
  d.in.space = d.space_modifier();
  cache_modifiers(d);
  d.address(1);
  vector_operands(d, d.operand(0), t, true);
  d.in.access = access_read;
  if (d.in.a == ~0u) {  // a parameter by name
    d.in.a = 0;
    d.in.cls = class_ld_param;
    d.need(d.in.space == space_param_entry ? PICK_MEMORY_SIGNED(t, h_ld_param)
                                           : PICK_MEMORY_SIGNED(t, h_ld_lane_param));
    if (d.in.space == space_param_entry && u64(d.in.imm) + d.in.size > d.fn.param_bytes)
      throw unsupported_instruction{"ld.param past the end of the parameters"};
    d.in.space = no_space;
    return;
  }
  d.in.kind = runs_on_memory;
  d.in.cls = d.in.space == space_shared        ? class_ld_shared
             : d.in.space == space_local       ? class_ld_local
             : d.in.space == space_const       ? class_ld_const
             : d.in.space == space_param_entry ? class_ld_param
                                               : class_ld_global;
  if (d.in.space == space_param_entry) d.in.space = space_const;
  d.need(PICK_MEMORY_SIGNED(t, h_ld));
}
void decode_st(decoder& d) {
  const data_type t = d.type();
  if (t == B128) throw unsupported_instruction{"128-bit registers"};
  d.in.space = d.space_modifier();
  cache_modifiers(d);
  d.address(0);
  vector_operands(d, d.operand(1), t, false);
  d.in.access = access_write;
  if (d.in.a == ~0u) {
    if (d.in.space != space_param_lane)
      throw unsupported_instruction{"store to a kernel parameter"};
    d.in.a = 0;
    d.in.space = no_space;
    d.in.cls = class_ld_param;
    d.need(PICK_MEMORY(t, h_st_lane_param));
    return;
  }
  d.in.kind = runs_on_memory;
  d.in.cls = d.in.space == space_shared  ? class_st_shared
             : d.in.space == space_local ? class_st_local
                                         : class_st_global;
  d.need(PICK_MEMORY(t, h_st));
}

}  // namespace

void add_loads_and_stores(decode_rows& rows) {
  rows.insert({
      {"ld", decode_ld},
      {"ldu", decode_ld},
      {"st", decode_st},
  });
}

}  // namespace octobloom::ptx
