// Bodies of functions: registers, labels, scopes.

#include "interpreter/parser.h"

#include <algorithm>
#include <sstream>

#include <octobloom/emulator/interpreter.h>

namespace octobloom::ptx {

void parser::function(bool is_entry) {
  std::vector<ptx_variable> rets, params;
  while (accept(".noreturn") || accept(".attribute"))
    if (cur().is('(') && toks_[at_ - 1].is(".attribute")) skip_parentheses();
  if (cur().is('(')) rets = parameter_list();
  const std::string name = word();
  if (cur().is('(')) params = parameter_list();
  fn_id_ = function_id(name);
  fn_ = &p_.functions[fn_id_];
  ptx_function& f = *fn_;
  f.is_entry = is_entry;
  while (!cur().is('{') && !cur().is(';')) {
    if (cur().kind == token::line_token) {
      line_directive();
      continue;
    }
    const std::string w = word();
    u32* into = w == ".reqntid" ? f.reqntid : w == ".maxntid" ? f.maxntid : nullptr;
    for (u32 k = 0; cur().kind == token::number_token; ++k) {
      const u32 n = u32(integer());
      if (into) {
        if (k == 0) into[1] = into[2] = 1;
        if (k < 3) into[k] = n;
      }
      if (!accept(',')) break;
    }
    if (cur().is('(')) skip_parentheses();
    if (cur().kind == token::string_token) ++at_;
  }
  if (f.has_body) bad_ptx(cur().line, "function defined twice: " + name);
  f.params = std::move(params);
  f.rets = std::move(rets);
  u64 at = 0;
  for (ptx_variable& v : f.params) {
    at = (at + v.align - 1) / v.align * v.align;
    v.offset = at;
    at += v.size;
    if (is_entry) v.space = space_param_entry;
  }
  if (is_entry) {
    f.param_bytes = u32(at);
    at = 0;
  }
  for (ptx_variable& v : f.rets) {
    at = (at + v.align - 1) / v.align * v.align;
    v.offset = at;
    at += v.size;
  }
  f.param_area = u32(at);
  if (accept(';')) return;
  f.has_body = true;
  f.first = u32(p_.code.size());
  labels_.clear();
  label_lists_.clear();
  fixups_.clear();
  expect('{');
  open_scope();
  for (const auto* list : {&f.params, &f.rets})
    for (const ptx_variable& v : *list) {
      declared_name n;
      n.kind = declared_name::var_name;
      n.var = v;
      scopes_.back().names[v.name] = n;
    }
  while (!scopes_.empty()) statement();
  if (p_.code.size() == f.first || !ends_control(p_.code.back())) emit_exit();
  f.end = u32(p_.code.size());
  f.frame = (f.frame + 15) / 16 * 16;
  f.param_area = (f.param_area + 15) / 16 * 16;
  resolve_labels();
  fn_ = nullptr;
}

void parser::emit_exit() {
  instruction i;
  i.fn = h_ret;
  i.kind = runs_control;
  i.cls = class_branch;
  i.line = cur().line;
  p_.code.push_back(i);
}

void parser::open_scope() {
  name_scope s;
  s.id = ++scope_ids_;
  s.parent = scopes_.empty() ? 0 : scopes_.back().id;
  scope_parent_[s.id] = s.parent;
  scopes_.push_back(std::move(s));
}

void parser::statement() {
  const token& t = cur();
  if (t.kind == token::end_token) bad_ptx(t.line, "function without an end");
  if (t.kind == token::line_token) {
    line_directive();
    return;
  }
  if (t.is(';')) {
    ++at_;
    return;
  }
  if (t.is('{')) {
    ++at_;
    open_scope();
    return;
  }
  if (t.is('}')) {
    ++at_;
    scopes_.pop_back();
    return;
  }
  if (t.is(".reg")) {
    ++at_;
    registers();
    return;
  }
  if (t.is(".local") || t.is(".param")) {
    ++at_;
    local_variables(t.text == ".local" ? space_local : space_param_lane);
    return;
  }
  if (t.is(".shared") || t.is(".global") || t.is(".const")) {
    variables();
    return;
  }
  if (t.is(".pragma")) {
    skip_to(';');
    return;
  }
  if (t.kind == token::word_token && toks_[at_ + 1].is(':')) {
    const std::string name = word();
    ++at_;
    labels_[{scopes_.back().id, name}] = u32(p_.code.size());
    if (cur().is(".branchtargets")) {
      ++at_;
      std::vector<std::string> list;
      do list.push_back(word());
      while (accept(','));
      label_lists_[{scopes_.back().id, name}] = std::move(list);
      expect(';');
    } else if (cur().is(".callprototype") || cur().is(".calltargets")) {
      skip_to(';');
    }
    return;
  }
  parse_instruction();
}

void parser::registers() {
  const std::string tw = word();
  const data_type t = type_of(std::string_view(tw).substr(1));
  if (t == no_type) bad_ptx(cur().line, "register type " + tw);
  do {
    const std::string name = word();
    u32 count = 1;
    bool range = false;
    if (accept('<')) {
      count = u32(integer());
      expect('>');
      range = true;
    }
    declared_name n;
    n.bytes = bytes_of(t);
    n.count = count;
    if (count > 1'000'000) bad_ptx(cur().line, "too many registers");
    if (t == PRED) {
      n.kind = declared_name::pred_name;
      n.first = fn_->preds;
      fn_->preds += count;
    } else {
      n.kind = declared_name::reg_name;
      n.first = fn_->regs;
      fn_->regs += count;
      fn_->declared32 += u64(count) * (n.bytes == 8 ? 2 : n.bytes == 16 ? 4 : 1);
    }
    (range ? scopes_.back().ranges : scopes_.back().names)[name] = n;
  } while (accept(','));
  expect(';');
}

void parser::local_variables(state_space space) {
  ptx_variable v;
  v.space = space;
  const data_type t = variable_head(v);
  do {
    declared_name n;
    n.kind = declared_name::var_name;
    n.var = v;
    variable_name(n.var, t);
    u32& top = space == space_local ? fn_->frame : fn_->param_area;
    top = (top + n.var.align - 1) / n.var.align * n.var.align;
    n.var.offset = top;
    top += u32(n.var.size);
    scopes_.back().names[n.var.name] = n;
  } while (accept(','));
  expect(';');
}

void parser::resolve_labels() {
  for (const label_use& f : fixups_) {
    instruction& i = p_.code[f.inst];
    if (f.table < 0) {
      auto it = scoped(labels_, f.scope, f.name);
      if (it == labels_.end()) bad_ptx(i.line, "unknown label " + f.name);
      i.target = it->second;
      continue;
    }
    auto list = scoped(label_lists_, f.scope, f.name);
    if (list == label_lists_.end()) bad_ptx(i.line, "unknown branch targets " + f.name);
    std::vector<u32> table;
    for (const std::string& n : list->second) {
      auto it = scoped(labels_, f.scope, n);
      if (it == labels_.end()) bad_ptx(i.line, "unknown label " + n);
      table.push_back(it->second);
    }
    i.target = u32(p_.tables.size());
    p_.tables.push_back(std::move(table));
  }
  // A label at the very end of a function.
  for (auto& l : labels_)
    if (l.second == p_.code.size()) {
      emit_exit();
      fn_->end = u32(p_.code.size());
      break;
    }
}

}  // namespace octobloom::ptx
