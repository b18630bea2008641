// Atomics.

#include "interpreter/decoder.h"
#include "interpreter/lanes.h"
#include "interpreter/operations.h"

namespace octobloom::ptx {

namespace {

struct at_add_op {
  template <class T>
  static T f(T old, T b) {
    return T(old + b);
  }
};
struct at_exch_op {
  template <class T>
  static T f(T, T b) {
    return b;
  }
};
struct at_inc_op {
  template <class T>
  static T f(T old, T b) {
    return old >= b ? T(0) : T(old + 1);
  }
};
struct at_dec_op {
  template <class T>
  static T f(T old, T b) {
    return old == 0 || old > b ? b : T(old - 1);
  }
};
template <class T, class F>
void atomic_lanes(machine& x, const instruction& i, u32 m, F f) {
  x.resolve(i, m);
  if (x.opt.racecheck)
    x.racecheck(i, m, x.src(i.a), u64(i.imm), i.size, i.space, access_atomic,
                [](u32) { return static_cast<const u8*>(nullptr); });
  const u32 start = x.random ? u32(x.rng.next()) & 31 : 0;
  u64* d = x.dst(i.d);
  for (u32 part = 0; part < 2; ++part) {
    for (u32 r = part == 0 ? m & (all_lanes << start) : m & ~(all_lanes << start); r; r &= r - 1) {
      const u32 l = u32(__builtin_ctz(r));
      T old;
      std::memcpy(&old, x.ptr[l], sizeof(T));
      const T now = f(old, l);
      std::memcpy(x.ptr[l], &now, sizeof(T));
      d[l] = bits_of(old) & i.dmask;
    }
  }
}
template <class Op, class T>
void h_atom(machine& x, const instruction& i, u32 m) {
  u64 b[warp_lanes];  // a copy: the destination may be the operand
  std::memcpy(b, x.src(i.b), sizeof b);
  atomic_lanes<T>(x, i, m, [&](T old, u32 l) { return Op::f(old, value_of<T>(b[l])); });
}
template <class T>
void h_cas(machine& x, const instruction& i, u32 m) {
  u64 b[warp_lanes], c[warp_lanes];
  std::memcpy(b, x.src(i.b), sizeof b);
  std::memcpy(c, x.src(i.c), sizeof c);
  atomic_lanes<T>(x, i, m,
                  [&](T old, u32 l) { return old == value_of<T>(b[l]) ? value_of<T>(c[l]) : old; });
}

template <bool reduction>
void decode_atom(decoder& d) {
  const data_type t = d.type();
  d.in.space = d.space_modifier();
  cache_modifiers(d);
  d.ignore({"noftz"});
  const std::size_t first = reduction ? 0 : 1;
  if (vector_modifier(d) != 1) throw unsupported_instruction{"vector atomic"};
  d.in.d = reduction ? register_sink : d.dest(0);
  d.in.dmask = ~u64{0};
  d.address(first);
  d.in.b = d.source(first + 1, t);
  d.in.size = u8(bytes_of(t));
  d.in.access = access_atomic;
  d.in.kind = runs_on_memory;
  d.in.cls = d.in.space == space_shared ? class_atom_shared : class_atom_global;
  if (d.has("cas")) {
    d.in.c = d.source(first + 2, t);
    d.need(d.in.size == 2   ? h_cas<u16>
           : d.in.size == 4 ? h_cas<u32>
           : d.in.size == 8 ? h_cas<u64>
                            : nullptr);
  } else if (d.has("add")) {
    d.need(t == F32   ? h_atom<at_add_op, float>
           : t == F64 ? h_atom<at_add_op, double>
                      : pick6(t, nullptr, nullptr, h_atom<at_add_op, u32>, h_atom<at_add_op, u32>,
                              h_atom<at_add_op, u64>, h_atom<at_add_op, u64>));
  } else if (d.has("min"))
    d.need(pick6(t, nullptr, nullptr, h_atom<min_op, u32>, h_atom<min_op, s32>, h_atom<min_op, u64>,
                 h_atom<min_op, s64>));
  else if (d.has("max"))
    d.need(pick6(t, nullptr, nullptr, h_atom<max_op, u32>, h_atom<max_op, s32>, h_atom<max_op, u64>,
                 h_atom<max_op, s64>));
  else if (d.has("and"))
    d.need(pick6(t, nullptr, nullptr, h_atom<and_op, u32>, h_atom<and_op, u32>, h_atom<and_op, u64>,
                 h_atom<and_op, u64>));
  else if (d.has("or"))
    d.need(pick6(t, nullptr, nullptr, h_atom<or_op, u32>, h_atom<or_op, u32>, h_atom<or_op, u64>,
                 h_atom<or_op, u64>));
  else if (d.has("xor"))
    d.need(pick6(t, nullptr, nullptr, h_atom<xor_op, u32>, h_atom<xor_op, u32>, h_atom<xor_op, u64>,
                 h_atom<xor_op, u64>));
  else if (d.has("exch"))
    d.need(pick6(t, nullptr, nullptr, h_atom<at_exch_op, u32>, h_atom<at_exch_op, u32>,
                 h_atom<at_exch_op, u64>, h_atom<at_exch_op, u64>));
  else if (d.has("inc"))
    d.need(t == U32 ? h_atom<at_inc_op, u32> : nullptr);
  else if (d.has("dec"))
    d.need(t == U32 ? h_atom<at_dec_op, u32> : nullptr);
  else
    throw unsupported_instruction{"atomic operation"};
}

}  // namespace

void add_atomics(decode_rows& rows) {
  rows.insert({
      {"atom", decode_atom<false>},
      {"red", decode_atom<true>},
  });
}

}  // namespace octobloom::ptx
