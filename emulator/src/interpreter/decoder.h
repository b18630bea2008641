#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "interpreter/machine.h"
#include "interpreter/program.h"

namespace octobloom::ptx {

struct ptx_operand {
  enum kind_type : u8 {
    none_operand,
    reg_operand,
    predicate_operand,
    immediate_operand,
    column_operand,
    dynamic_operand,
    variable_operand,
    function_name_operand,
    label_name_operand,
    mem_operand,
    vector_operand,
    sink_operand
  } kind = none_operand;
  operand_ref ref = 0;  // reg, column
  u32 bytes = 0;        // width of a register
  predicate_ref pred = 0;
  u64 bits = 0;                  // immediate
  u8 literal = 0;                // immediate: 0 integer, 1 f32 bits, 2 f64 bits
  std::string name;              // dynamic, variable, function name, label name
  s64 offset = 0;                // of a variable or address
  state_space space = no_space;  // variable
  u64 var_offset = 0;
  std::vector<ptx_operand> parts;   // vector; mem: one, the base
  std::vector<ptx_operand> second;  // after '|'
};

struct unsupported_instruction {
  std::string what;
};

struct label_use {
  u32 inst;
  u32 scope;
  std::string name;
  int table = -1;
};

// What a decode function sees: the opcode split at the dots, the operands, the instruction to fill.
struct decoder {
  program& prog;
  ptx_function& fn;
  std::vector<label_use>& fixups;
  u32 scope;
  std::string op;
  std::vector<std::string> mods;
  std::vector<bool> used;
  std::vector<data_type> types;
  std::vector<ptx_operand> ops;
  instruction in;

  bool has(std::string_view m) {
    bool found = false;
    for (std::size_t k = 0; k < mods.size(); ++k)
      if (mods[k] == m) {
        used[k] = true;
        found = true;
      }
    return found;
  }
  void ignore(std::initializer_list<std::string_view> list) {
    for (std::string_view m : list) has(m);
  }
  void ignore_prefix(std::string_view p) {
    for (std::size_t k = 0; k < mods.size(); ++k)
      if (mods[k].compare(0, p.size(), p) == 0) used[k] = true;
  }
  data_type type(std::size_t k = 0) const {
    if (k >= types.size()) throw unsupported_instruction{"missing type"};
    return types[k];
  }
  ptx_operand& operand(std::size_t k) {
    if (k >= ops.size()) throw unsupported_instruction{"too few operands"};
    return ops[k];
  }

  operand_ref source(ptx_operand& o, data_type t) {
    switch (o.kind) {
      case ptx_operand::reg_operand:
      case ptx_operand::column_operand:
        return o.ref;
      case ptx_operand::immediate_operand: {
        u64 v = o.bits;
        if (o.literal == 2 && t == F32) v = bits_of(float(value_of<double>(v)));
        if (o.literal == 1 && t == F64) v = bits_of(double(value_of<float>(v)));
        if (o.literal == 0 && t == F32) v = bits_of(float(s64(v)));
        if (o.literal == 0 && t == F64) v = bits_of(double(s64(v)));
        return prog.constant(v & width_mask(bytes_of(t)));
      }
      case ptx_operand::variable_operand:
        if (o.space == space_global || o.space == space_const || o.space == space_shared ||
            o.space == space_param_entry)
          return variable(o);
        throw unsupported_instruction{"address of " + o.name + " as an operand"};
      case ptx_operand::function_name_operand:
        fn.callees.insert(prog.function_ids.at(o.name));
        return prog.constant(region_base(function_region) + prog.function_ids.at(o.name));
      default:
        throw unsupported_instruction{"operand kind"};
    }
  }
  operand_ref variable(const ptx_operand& o) {
    if (o.space == space_param_entry)
      return prog.constant(region_base(param_region) + o.var_offset + u64(o.offset));
    if (o.space == space_shared) fn.shared.insert(o.name);
    return prog.late_constant(o.name, o.offset);
  }
  operand_ref source(std::size_t k, data_type t) { return source(operand(k), t); }
  operand_ref dest(ptx_operand& o) {
    if (o.kind == ptx_operand::sink_operand) return register_sink;
    if (o.kind != ptx_operand::reg_operand) throw unsupported_instruction{"destination"};
    in.dmask = width_mask(o.bytes);
    return o.ref;
  }
  operand_ref dest(std::size_t k) { return dest(operand(k)); }
  predicate_ref pdest(ptx_operand& o) {
    if (o.kind == ptx_operand::sink_operand) return predicate_sink;
    if (o.kind != ptx_operand::predicate_operand || (o.pred & predicate_negated))
      throw unsupported_instruction{"predicate destination"};
    return o.pred;
  }
  predicate_ref psource(std::size_t k) {
    ptx_operand& o = operand(k);
    if (o.kind == ptx_operand::immediate_operand) return o.bits ? predicate_true : predicate_false;
    if (o.kind != ptx_operand::predicate_operand)
      throw unsupported_instruction{"predicate operand"};
    return o.pred;
  }
  // A memory operand: sets a, imm, and the space a symbol implies.
  void address(std::size_t k) {
    ptx_operand& o = operand(k);
    if (o.kind != ptx_operand::mem_operand) throw unsupported_instruction{"address operand"};
    ptx_operand& b = o.parts[0];
    in.imm = o.offset;
    switch (b.kind) {
      case ptx_operand::reg_operand:
      case ptx_operand::column_operand:
        in.a = b.ref;
        break;
      case ptx_operand::immediate_operand:
        in.a = prog.constant(b.bits);
        break;
      case ptx_operand::variable_operand:
        if (b.space == space_local) {
          in.a = register_frame;
          in.imm += s64(b.var_offset) + b.offset;
          in.space = space_local;
        } else if (b.space == space_param_entry || b.space == space_param_lane) {
          in.space = b.space;
          in.imm += s64(b.var_offset) + b.offset;
          in.a = ~0u;
        } else
          in.a = variable(b);
        break;
      default:
        throw unsupported_instruction{"address base"};
    }
  }
  state_space space_modifier() {
    if (has("global")) return space_global;
    if (has("shared") || has("shared::cta") || has("shared::cluster")) return space_shared;
    if (has("local")) return space_local;
    if (has("const")) return space_const;
    if (has("param") || has("param::entry") || has("param::func")) return space_param_entry;
    return space_generic;
  }
  u8 float_rounding() {
    if (has("rz")) return 1;
    if (has("rm")) return 2;
    if (has("rp")) return 3;
    has("rn");
    return 0;
  }
  void need(handler h) {
    if (!h) throw unsupported_instruction{"type"};
    in.fn = h;
  }
};

using decode_function = void (*)(decoder&);

inline handler pick6(data_type t, handler u16h, handler s16h, handler u32h, handler s32h,
                     handler u64h, handler s64h) {
  switch (t) {
    case B16:
    case U16:
      return u16h;
    case S16:
      return s16h;
    case B32:
    case U32:
      return u32h;
    case S32:
      return s32h;
    case B64:
    case U64:
      return u64h;
    case S64:
      return s64h;
    default:
      return nullptr;
  }
}
#define PICK_SIGNED(t, H, OP) \
  pick6(t, H<OP, u16>, H<OP, s16>, H<OP, u32>, H<OP, s32>, H<OP, u64>, H<OP, s64>)
#define PICK_BITS(t, H, OP) \
  pick6(t, H<OP, u16>, H<OP, u16>, H<OP, u32>, H<OP, u32>, H<OP, u64>, H<OP, u64>)

inline void two_sources(decoder& d, data_type t) {
  d.in.d = d.dest(0);
  d.in.a = d.source(1, t);
  d.in.b = d.source(2, t);
}
inline void three_sources(decoder& d, data_type t) {
  two_sources(d, t);
  d.in.c = d.source(3, t);
}
inline bool is_float(data_type t) {
  return t == F32 || t == F64;
}
inline void float_modifiers(decoder& d) {  // .ftz is accepted and ignored (see README)
  d.in.cls = class_float;
  d.in.opt = d.float_rounding();
  d.in.opt2 = d.has("sat");
  d.ignore({"ftz", "approx", "full"});
}
// Memory
inline void cache_modifiers(decoder& d) {
  if (d.has("volatile") || d.has("relaxed") || d.has("acquire") || d.has("release") ||
      d.has("acq_rel") || d.has("mmio"))
    d.in.strong = true;
  d.ignore({"weak", "cta", "gpu", "sys", "cluster", "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt",
            "unified"});
  d.ignore_prefix("L1::");
  d.ignore_prefix("L2::");
}
inline u32 vector_modifier(decoder& d) {
  return d.has("v2") ? 2 : d.has("v4") ? 4 : d.has("v8") ? 8 : 1;
}

enum float_operation : u8 {
  float_add,
  float_sub,
  float_mul,
  float_div,
  float_min,
  float_max,
  float_copysign
};
enum float_function : u8 {
  float_neg,
  float_abs,
  float_sqrt,
  float_rsqrt,
  float_rcp,
  float_ex2,
  float_lg2,
  float_sin,
  float_cos,
  float_tanh
};

/// From opcodes to what decodes them: the rows of all files in instructions/.
using decode_rows = std::unordered_map<std::string, decode_function>;
const decode_rows& decode_table();

void add_integer_instructions(decode_rows& rows);
void add_bit_instructions(decode_rows& rows);
void add_comparisons(decode_rows& rows);
void add_moves(decode_rows& rows);
void add_conversions(decode_rows& rows);
void add_float_instructions(decode_rows& rows);
void add_loads_and_stores(decode_rows& rows);
void add_atomics(decode_rows& rows);
void add_copies(decode_rows& rows);
void add_warp_instructions(decode_rows& rows);
void add_control_flow(decode_rows& rows);

// Handlers that more than one file decodes to.
void h_pred(machine& x, const instruction& i, u32 m);
void h_mov(machine& x, const instruction& i, u32 m);
void h_nop(machine&, const instruction&, u32);
void h_bra(machine& x, const instruction& i, u32 m);
void h_brx(machine& x, const instruction& i, u32 m);
void h_exit(machine& x, const instruction&, u32 m);
void h_ret(machine& x, const instruction& i, u32 m);
void h_trap(machine& x, const instruction& i, u32 m);
void h_unsupported(machine& x, const instruction& i, u32 m);
u8* lane_param(machine& x, u32 lane, u64 off);
handler float1_handler(float_function f, data_type t);
handler float2_handler(float_operation o, data_type t);
handler fma_handler(data_type t);

}  // namespace octobloom::ptx
