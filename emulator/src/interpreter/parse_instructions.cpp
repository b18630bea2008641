// Instructions and their operands.

#include "interpreter/parser.h"

#include <algorithm>
#include <sstream>

#include <octobloom/emulator/interpreter.h>

namespace octobloom::ptx {

ptx_operand parser::named(const std::string& name) {
  ptx_operand o;
  if (name == "_") {
    o.kind = ptx_operand::sink_operand;
    return o;
  }
  for (std::size_t s = scopes_.size(); s-- > 0;) {
    auto it = scopes_[s].names.find(name);
    if (it != scopes_[s].names.end()) return from_name(it->second, 0, name);
    std::size_t digits = name.size();
    while (digits > 0 && std::isdigit(u8(name[digits - 1]))) --digits;
    if (digits < name.size()) {
      auto r = scopes_[s].ranges.find(name.substr(0, digits));
      if (r != scopes_[s].ranges.end() && name.size() - digits < 9 &&
          std::stoul(name.substr(digits)) < r->second.count)
        return from_name(r->second, u32(std::stoul(name.substr(digits))), name);
    }
  }
  if (name[0] == '%' && special(name, o)) return o;
  if (name == "WARP_SZ") {
    o.kind = ptx_operand::immediate_operand;
    o.bits = 32;
    return o;
  }
  auto v = p_.variables.find(name);
  if (v != p_.variables.end()) {
    o.kind = ptx_operand::variable_operand;
    o.name = name;
    o.space = v->second.space;
    return o;
  }
  if (p_.function_ids.count(name)) {
    o.kind = ptx_operand::function_name_operand;
    o.name = name;
    return o;
  }
  o.kind = ptx_operand::label_name_operand;
  o.name = name;
  return o;
}

ptx_operand parser::from_name(const declared_name& n, u32 index, const std::string& name) {
  ptx_operand o;
  if (n.kind == declared_name::reg_name) {
    o.kind = ptx_operand::reg_operand;
    o.ref = n.first + index;
    o.bytes = n.bytes;
  } else if (n.kind == declared_name::pred_name) {
    o.kind = ptx_operand::predicate_operand;
    o.pred = n.first + index;
  } else {
    o.kind = ptx_operand::variable_operand;
    o.name = name;
    o.space = n.var.space;
    o.var_offset = n.var.offset;
    o.bytes = u32(n.var.size);
  }
  return o;
}

bool parser::special(const std::string& name, ptx_operand& o) {
  o.kind = ptx_operand::column_operand;
  static const std::unordered_map<std::string, u32> columns = {
      {"%tid.x", column_tid_x},       {"%tid.y", column_tid_y},      {"%tid.z", column_tid_z},
      {"%ctaid.x", column_cta_x},     {"%ctaid.y", column_cta_y},    {"%ctaid.z", column_cta_z},
      {"%warpid", column_warp_id},    {"%smid", column_sm_id},       {"%clusterid.x", column_cta_x},
      {"%clusterid.y", column_cta_y}, {"%clusterid.z", column_cta_z}};
  auto c = columns.find(name);
  if (c != columns.end()) {
    o.ref = ref_special | c->second;
    return true;
  }
  static const std::unordered_map<std::string, u64> fixed = {{"%nsmid", 132},
                                                             {"%gridid", 1},
                                                             {"%cluster_ctaid.x", 0},
                                                             {"%cluster_ctaid.y", 0},
                                                             {"%cluster_ctaid.z", 0},
                                                             {"%cluster_nctaid.x", 1},
                                                             {"%cluster_nctaid.y", 1},
                                                             {"%cluster_nctaid.z", 1},
                                                             {"%cluster_ctarank", 0},
                                                             {"%cluster_nctarank", 1},
                                                             {"%reserved_smem_offset_begin", 0}};
  auto f = fixed.find(name);
  if (f != fixed.end()) {
    o.ref = p_.constant(f->second);
    return true;
  }
  if (name == "%is_explicit_cluster") {
    o.kind = ptx_operand::predicate_operand;
    o.pred = predicate_false;
    return true;
  }
  if (name == "%laneid") {
    o.ref = p_.lane_constant(name, [](u32 l) { return u64(l); });
    return true;
  }
  if (name == "%lanemask_eq") {
    o.ref = p_.lane_constant(name, [](u32 l) { return u64(1u << l); });
    return true;
  }
  if (name == "%lanemask_lt") {
    o.ref = p_.lane_constant(name, [](u32 l) { return u64((1u << l) - 1); });
    return true;
  }
  if (name == "%lanemask_le") {
    o.ref = p_.lane_constant(name, [](u32 l) { return u64((2u << l) - 1); });
    return true;
  }
  if (name == "%lanemask_gt") {
    o.ref = p_.lane_constant(name, [](u32 l) { return u64(u32(~((2u << l) - 1))); });
    return true;
  }
  if (name == "%lanemask_ge") {
    o.ref = p_.lane_constant(name, [](u32 l) { return u64(u32(~((1u << l) - 1))); });
    return true;
  }
  static const std::unordered_set<std::string> late = {"%ntid.x",
                                                       "%ntid.y",
                                                       "%ntid.z",
                                                       "%nctaid.x",
                                                       "%nctaid.y",
                                                       "%nctaid.z",
                                                       "%nclusterid.x",
                                                       "%nclusterid.y",
                                                       "%nclusterid.z",
                                                       "%nwarpid",
                                                       "%envreg1",
                                                       "%envreg2",
                                                       "%dynamic_smem_size",
                                                       "%total_smem_size",
                                                       "%aggr_smem_size"};
  if (late.count(name)) {
    o.ref = p_.late_constant(name, 0);
    return true;
  }
  if (name.compare(0, 6, "%clock") == 0 || name.compare(0, 12, "%globaltimer") == 0) {
    o.kind = ptx_operand::dynamic_operand;
    o.name = name;
    return true;
  }
  return false;
}

ptx_operand parser::operand() {
  ptx_operand o;
  const token& t = cur();
  if (accept('[')) {
    o.kind = ptx_operand::mem_operand;
    o.parts.push_back(operand_atom());
    if (accept('+'))
      o.offset = integer();
    else if (cur().is('-'))
      o.offset = integer();
    if (!accept(']')) throw unsupported_instruction{"address with more than a base and an offset"};
  } else if (t.is('{') || t.is('(')) {
    const char close = t.is('{') ? '}' : ')';
    ++at_;
    o.kind = ptx_operand::vector_operand;
    while (!accept(close)) {
      o.parts.push_back(operand_atom());
      accept(',');
    }
  } else {
    o = operand_atom();
  }
  if (accept('|')) o.second.push_back(operand_atom());
  return o;
}

ptx_operand parser::operand_atom() {
  ptx_operand o;
  if (accept('!')) {
    o = operand_atom();
    if (o.kind != ptx_operand::predicate_operand) throw unsupported_instruction{"negated operand"};
    o.pred ^= predicate_negated;
    return o;
  }
  const bool neg = accept('-');
  if (cur().kind == token::number_token) {
    o.kind = ptx_operand::immediate_operand;
    o.bits = number(next(), o.literal);
    if (neg)
      o.bits = o.literal == 1   ? o.bits ^ 0x80000000u
               : o.literal == 2 ? o.bits ^ (u64{1} << 63)
                                : u64(-s64(o.bits));
    return o;
  }
  if (neg) throw unsupported_instruction{"negated operand"};
  const u32 line = cur().line;
  o = named(word());
  if (o.kind == ptx_operand::label_name_operand && o.name[0] == '%')
    throw unsupported_instruction{format("unknown register %s (line %u)", o.name.c_str(), line)};
  if (o.kind == ptx_operand::variable_operand && cur().is('+')) {
    ++at_;
    o.offset += integer();
  }
  return o;
}

void parser::parse_instruction() {
  const u32 line = cur().line;
  const std::size_t start = at_;
  predicate_ref guard = predicate_true;
  std::string op;
  try {
    if (accept('@')) {
      const bool neg = accept('!');
      ptx_operand g = named(word());
      if (g.kind != ptx_operand::predicate_operand) bad_ptx(line, "guard is no predicate");
      guard = g.pred ^ (neg ? predicate_negated : 0);
    }
    op = word();
    decoder d{p_, *fn_, fixups_, scopes_.back().id, "", {}, {}, {}, {}, instruction()};
    std::istringstream in(op);
    std::string part;
    std::getline(in, d.op, '.');
    while (std::getline(in, part, '.')) {
      const data_type t = type_of(part);
      if (t != no_type) d.types.push_back(t);
      d.mods.push_back(part);
      d.used.push_back(t != no_type);
    }
    while (!cur().is(';')) {
      if (cur().kind == token::end_token) bad_ptx(line, "instruction without ';'");
      d.ops.push_back(operand());
      if (!accept(',') && !cur().is(';') && !cur().is('(') && cur().kind != token::word_token)
        throw unsupported_instruction{"operand"};
    }
    expect(';');
    auto it = decode_table().find(d.op);
    if (it == decode_table().end()) throw unsupported_instruction{"opcode"};
    it->second(d);
    for (std::size_t k = 0; k < d.mods.size(); ++k)
      if (!d.used[k]) throw unsupported_instruction{"modifier ." + d.mods[k]};
    d.in.guard = guard;
    d.in.line = line;
    d.in.loc = u32(p_.locs.size() - 1);
    p_.code.push_back(d.in);
  } catch (const unsupported_instruction& u) {
    at_ = start;
    while (!cur().is(';') && cur().kind != token::end_token) ++at_;
    accept(';');
    while (!fixups_.empty() && fixups_.back().inst == p_.code.size()) fixups_.pop_back();
    instruction i;
    i.fn = h_unsupported;
    i.kind = runs_control;
    i.guard = guard;
    i.line = line;
    i.loc = u32(p_.locs.size() - 1);
    p_.code.push_back(i);
    fn_->unsupported.push_back("unsupported instruction (" + u.what + ") at " + p_.where(i));
  }
}

}  // namespace octobloom::ptx
