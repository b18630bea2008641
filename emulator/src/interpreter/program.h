#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "interpreter/integers.h"

namespace octobloom::ptx {

enum data_type : u8 {
  B8,
  U8,
  S8,
  B16,
  U16,
  S16,
  B32,
  U32,
  S32,
  F32,
  B64,
  U64,
  S64,
  F64,
  PRED,
  F16,
  BF16,
  F16X2,
  BF16X2,
  B128,
  no_type
};
struct data_type_facts {
  const char* name;
  u8 bytes;
};
constexpr data_type_facts data_types[] = {
    {"b8", 1},   {"u8", 1},  {"s8", 1},   {"b16", 2},   {"u16", 2},    {"s16", 2},   {"b32", 4},
    {"u32", 4},  {"s32", 4}, {"f32", 4},  {"b64", 8},   {"u64", 8},    {"s64", 8},   {"f64", 8},
    {"pred", 1}, {"f16", 2}, {"bf16", 2}, {"f16x2", 4}, {"bf16x2", 4}, {"b128", 16}, {"?", 0}};
inline data_type type_of(std::string_view s) {
  for (int t = 0; t < no_type; ++t)
    if (s == data_types[t].name) return data_type(t);
  return no_type;
}
inline u32 bytes_of(data_type t) {
  return data_types[t].bytes;
}
inline u64 width_mask(u32 bytes) {
  return bytes >= 8 ? ~u64{0} : (u64{1} << (8 * bytes)) - 1;
}

enum state_space : u8 {
  space_generic,
  space_global,
  space_shared,
  space_local,
  space_const,
  space_param_entry,
  space_param_lane,
  no_space
};
enum access_kind : u8 { access_read, access_write, access_atomic };

// How the execution loop treats an instruction.
enum execution_kind : u8 {
  runs_plain,      // a function of registers
  runs_on_memory,  // touches memory: the scheduler may switch before, in the middle or after
  runs_control,    // sets the pc itself
};

// Classes for the statistics.
enum instruction_class : u8 {
  class_int_alu,
  class_int_mul,
  class_logic,
  class_float,
  class_compare,
  class_move,
  class_convert,
  class_branch,
  class_warp_op,
  class_barrier,
  class_ld_global,
  class_st_global,
  class_atom_global,
  class_ld_shared,
  class_st_shared,
  class_atom_shared,
  class_ld_local,
  class_st_local,
  class_ld_param,
  class_ld_const,
  class_fence,
  class_other,
  class_count
};
constexpr const char* class_names[class_count] = {
    "int",         "int_mul",     "logic_shift", "float",       "compare_select", "move",
    "convert",     "branch_call", "warp_op",     "barrier",     "ld_global",      "st_global",
    "atom_global", "ld_shared",   "st_shared",   "atom_shared", "ld_local",       "st_local",
    "ld_param",    "ld_const",    "fence_hint",  "other"};

// An operand: the top two bits say which array, the rest which column of 32 lanes.
using operand_ref = u32;
constexpr operand_ref ref_register = 0u << 30, ref_constant = 1u << 30, ref_special = 2u << 30,
                      ref_index = (1u << 30) - 1;
// A predicate: a 32-lane mask; bit 31 of the reference negates.
using predicate_ref = u32;
constexpr predicate_ref predicate_false = 0, predicate_true = 1, predicate_sink = 2,
                        predicate_first = 3, predicate_negated = 1u << 31;
// Registers 0 (sink) and 1 (base of the function's .local frame) belong to every function.
constexpr u32 register_sink = 0, register_frame = 1, register_first = 2;
enum special_column : u32 {
  column_tid_x,
  column_tid_y,
  column_tid_z,
  column_cta_x,
  column_cta_y,
  column_cta_z,
  column_warp_id,
  column_sm_id,
  column_count
};

struct machine;
struct instruction;
using handler = void (*)(machine&, const instruction&, u32 mask);

struct instruction {
  handler fn = nullptr;
  predicate_ref guard = predicate_true;
  execution_kind kind = runs_plain;
  instruction_class cls = class_other;
  state_space space = no_space;
  access_kind access = access_read;
  u8 size = 0;           // bytes a lane accesses
  u8 n = 1;              // vector elements
  bool strong = false;   // volatile, relaxed, acquire...: atomic for racecheck
  u8 opt = 0, opt2 = 0;  // handler's own: boolean operator, rounding, shuffle mode...
  operand_ref d = register_sink, a = 0, b = 0, c = 0, e = 0;
  predicate_ref pd = predicate_sink, pq = predicate_sink, pc = predicate_true;
  u64 dmask = ~u64{0};    // width of the destination register
  s64 imm = 0;            // address offset, LUT...
  u32 target = 0;         // branch target, or index into a side table
  operand_ref v[8] = {};  // vector operands
  u32 line = 0;           // PTX line
  u32 loc = 0;            // index into Program::locs
};

struct source_place {
  u32 file = 0, line = 0, at_file = 0, at_line = 0;
};

struct ptx_variable {
  std::string name;
  state_space space = space_global;
  u32 align = 1;
  u64 size = 0;
  bool external = false;  // extern .shared x[]: the dynamic part
  std::vector<u8> init;
  struct address_patch {
    u64 at;
    std::string symbol;
    s64 add;
  };
  std::vector<address_patch> patches;  // addresses of other variables in the initialiser
  u64 address = 0;                     // global, const: flat address
  u64 offset = 0;                      // local: in the frame; param: in the area
};

struct call_site {
  bool indirect = false;
  std::string name;
  u32 callee = 0;
  operand_ref fn_ref = 0;
  struct parameter_bytes {
    u32 at, size;
  };
  std::vector<parameter_bytes> args, rets;  // in the caller's parameter area
};

struct ptx_function {
  std::string name, demangled;
  bool is_entry = false, has_body = false;
  std::vector<ptx_variable> params, rets;
  u32 first = 0, end = 0;  // instructions
  u32 regs = register_first, preds = predicate_first;
  u64 declared32 = 0;   // 32-bit registers' worth of .reg declarations
  u32 frame = 0;        // bytes of .local
  u32 param_area = 0;   // bytes of formal and call-site .param per lane
  u32 param_bytes = 0;  // entries: size of the parameter buffer
  u32 reqntid[3] = {0, 0, 0}, maxntid[3] = {0, 0, 0};
  std::set<u32> callees;
  std::set<std::string> shared;  // names of shared variables used
  bool recursive = false;
  bool indirect_calls = false;
  std::vector<std::string> unsupported;
  // Set for each launch:
  bool reachable = false;
  u32 reg_base = 0, pred_base = 0, param_base = 0;
};

// A constant column whose value is known only at launch.
struct launch_constant {
  u32 column;
  std::string name;
  s64 add;
};

struct program {
  std::string name;
  std::string text;
  std::vector<std::string_view> lines;
  std::vector<instruction> code;
  std::vector<u32> order;  // per instruction: its place in the reconvergence order
  std::vector<u32> fn_of;  // per instruction: its function
  std::vector<ptx_function> functions;
  std::unordered_map<std::string, u32> function_ids;
  std::unordered_map<std::string, ptx_variable> variables;  // global, const, shared
  std::vector<u64> consts;                                  // columns of 32
  std::unordered_map<u64, u32> const_ids;
  std::unordered_map<std::string, u32> late_ids;
  std::vector<launch_constant> late;
  std::vector<call_site> calls;
  std::set<u32> address_taken;  // functions in initialisers: an indirect call may reach them
  std::vector<std::vector<u32>> tables;  // brx.idx targets
  std::vector<source_place> locs{source_place{}};
  std::unordered_map<u32, std::string> files;

  u32 new_column() {
    consts.resize(consts.size() + warp_lanes);
    return u32(consts.size() / warp_lanes - 1);
  }
  operand_ref constant(u64 v) {
    auto [it, fresh] = const_ids.try_emplace(v, 0);
    if (fresh) {
      it->second = new_column();
      std::fill_n(&consts[it->second * warp_lanes], warp_lanes, v);
    }
    return ref_constant | it->second;
  }
  template <class F>
  operand_ref lane_constant(const std::string& key, F f) {
    auto [it, fresh] = late_ids.try_emplace(key, 0);
    if (fresh) {
      it->second = new_column();
      for (u32 l = 0; l < warp_lanes; ++l) consts[it->second * warp_lanes + l] = f(l);
    }
    return ref_constant | it->second;
  }
  operand_ref late_constant(const std::string& symbol, s64 add) {
    auto [it, fresh] = late_ids.try_emplace(symbol + "+" + std::to_string(add), 0);
    if (fresh) {
      it->second = new_column();
      late.push_back({it->second, symbol, add});
    }
    return ref_constant | it->second;
  }
  std::string source_line(u32 line) const;
  /// For messages.
  [[nodiscard]] std::string where(const instruction& i) const;
};

}  // namespace octobloom::ptx
