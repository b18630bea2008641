// Directives, variables and their initial values.

#include "interpreter/parser.h"

#include <algorithm>
#include <sstream>

#include <octobloom/emulator/interpreter.h>

namespace octobloom::ptx {

void parser::run() {
  declare_functions();
  while (cur().kind != token::end_token) top_level();
  p_.fn_of.resize(p_.code.size());
  p_.order.resize(p_.code.size());
  for (u32 f = 0; f < p_.functions.size(); ++f)
    if (p_.functions[f].has_body) order_function(p_, f);
}

void parser::skip_parentheses() {  // from '(' to its ')'
  int depth = 0;
  do {
    if (cur().is('(')) ++depth;
    if (cur().is(')')) --depth;
    skip();
  } while (depth > 0);
}

s64 parser::integer() {
  const bool neg = accept('-');
  if (cur().kind != token::number_token) bad_ptx(cur().line, "expected a number");
  u8 literal;
  const u64 v = number(next(), literal);
  return neg ? -s64(v) : s64(v);
}

u64 parser::number(const token& t, u8& literal) {
  std::string s(t.text);
  literal = 0;
  if (s.size() == 10 && (s[1] == 'f' || s[1] == 'F') && s[0] == '0') {
    literal = 1;
    return std::strtoull(s.c_str() + 2, nullptr, 16);
  }
  if (s.size() == 18 && (s[1] == 'd' || s[1] == 'D') && s[0] == '0') {
    literal = 2;
    return std::strtoull(s.c_str() + 2, nullptr, 16);
  }
  if (s.size() > 1 && s[0] == '0' && (s[1] == 'b' || s[1] == 'B'))
    return std::strtoull(s.c_str() + 2, nullptr, 2);
  const bool hex_literal = s.size() > 1 && (s[1] == 'x' || s[1] == 'X');
  if (!hex_literal && s.find_first_of(".eE") != std::string::npos) {
    literal = 2;
    return bits_of(std::strtod(s.c_str(), nullptr));
  }
  return std::strtoull(s.c_str(), nullptr, 0);
}

void parser::line_directive() {
  const std::string s(next().text);
  std::istringstream in(s);
  std::string w;
  in >> w;
  if (w == ".file") {
    u32 id;
    in >> id;
    const std::size_t a = s.find('"'), b = s.rfind('"');
    if (a != std::string::npos && b > a) {
      std::string path = s.substr(a + 1, b - a - 1);
      const std::size_t slash = path.rfind('/');
      p_.files[id] = slash == std::string::npos ? path : path.substr(slash + 1);
    }
  } else if (w == ".loc") {
    source_place l;
    in >> l.file >> l.line;
    const std::size_t at = s.rfind("inlined_at");
    if (at != std::string::npos) {
      std::istringstream r(s.substr(at + 10));
      r >> l.at_file >> l.at_line;
    }
    if (l.line == 0) return;  // compiler-made code: keep the last place
    const source_place& last = p_.locs.back();
    if (last.file != l.file || last.line != l.line || last.at_line != l.at_line)
      p_.locs.push_back(l);
  }
}

void parser::skip_balanced() {
  int depth = 0;
  do {
    if (cur().is('{')) ++depth;
    if (cur().is('}')) --depth;
    skip();
  } while (depth > 0);
}

void parser::declare_functions() {
  for (std::size_t k = 0; k + 1 < toks_.size(); ++k) {
    if (!toks_[k].is(".func") && !toks_[k].is(".entry")) continue;
    std::size_t j = k + 1;
    while (toks_[j].kind == token::word_token && toks_[j].text[0] == '.') ++j;  // .noreturn
    if (toks_[j].is('(')) {
      while (j + 1 < toks_.size() && !toks_[j].is(')')) ++j;
      ++j;
    }
    if (j >= toks_.size() || toks_[j].kind != token::word_token)
      bad_ptx(toks_[k].line, "function without a name");
    const std::string name(toks_[j].text);
    if (p_.function_ids.count(name)) continue;
    p_.function_ids[name] = u32(p_.functions.size());
    ptx_function f;
    f.name = name;
    f.demangled = demangle(name);
    p_.functions.push_back(std::move(f));
  }
}

void parser::top_level() {
  const token& t = cur();
  if (t.kind == token::line_token) {
    line_directive();
    return;
  }
  if (t.is(';')) {
    ++at_;
    return;
  }
  if (t.is(".visible") || t.is(".weak") || t.is(".common") || t.is(".internal")) {
    ++at_;
    return;
  }
  if (t.is(".extern")) {
    ++at_;
    extern_ = true;
    return;
  }
  if (t.is(".entry")) {
    ++at_;
    function(true);
    extern_ = false;
    return;
  }
  if (t.is(".func")) {
    ++at_;
    function(false);
    extern_ = false;
    return;
  }
  if (t.is(".global") || t.is(".const") || t.is(".shared")) {
    variables();
    extern_ = false;
    return;
  }
  if (t.is(".section")) {
    skip_to('{');
    skip_balanced();
    return;
  }
  if (t.is(".alias")) {
    bad_ptx(t.line, ".alias is not supported");
  }
  if (t.kind == token::word_token &&
      (t.text == ".pragma" || t.text == ".tex" || t.text == ".samplerref" || t.text == ".texref" ||
       t.text == ".surfref")) {
    skip_to(';');
    return;
  }
  bad_ptx(t.line, "unknown directive " + std::string(t.text));
}

void parser::variables() {
  const std::string space_name = word();
  const state_space space = space_name == ".global"  ? space_global
                            : space_name == ".const" ? space_const
                                                     : space_shared;
  ptx_variable v;
  v.space = space;
  const data_type t = variable_head(v);
  do {
    ptx_variable one = v;
    variable_name(one, t);
    if (accept('=')) initialiser(one, t);
    one.external = extern_ && space == space_shared;
    if (extern_ && space != space_shared) {
      auto it = p_.variables.find(one.name);
      if (it != p_.variables.end()) continue;
    }
    p_.variables[one.name] = std::move(one);
  } while (accept(','));
  expect(';');
}

data_type parser::variable_head(ptx_variable& v) {
  u32 vec = 1;
  data_type t = no_type;
  bool ptr = false;
  while (cur().kind == token::word_token && cur().text[0] == '.') {
    const std::string w = word();
    if (w == ".align") {
      const u32 n = u32(integer());
      if (!ptr) v.align = n;
    } else if (w == ".ptr")
      ptr = true;
    else if (w == ".v2")
      vec = 2;
    else if (w == ".v4")
      vec = 4;
    else if (w == ".attribute" || w == ".managed") {
      if (cur().is('(')) skip_parentheses();
    } else if (t == no_type || type_of(w.substr(1)) != no_type) {
      const data_type u = type_of(w.substr(1));
      if (u != no_type) t = u;
    }
  }
  if (t == no_type) bad_ptx(cur().line, "variable without a type");
  v.align = std::max(v.align, bytes_of(t) * vec);
  v.size = bytes_of(t) * vec;
  return t;
}

void parser::variable_name(ptx_variable& v, data_type) {
  v.name = word();
  while (accept('[')) {
    if (accept(']')) {
      v.size = 0;
      continue;
    }
    v.size *= u64(integer());
    expect(']');
  }
}

void parser::initialiser(ptx_variable& v, data_type t) {
  v.init.assign(v.size, 0);
  u64 at = 0;
  const u32 width = bytes_of(t);
  std::function<void()> item = [&] {
    if (accept('{')) {
      while (!accept('}')) {
        item();
        accept(',');
      }
      return;
    }
    if (at + width > v.size) {
      v.size = at + width;
      v.init.resize(v.size);
    }
    if (cur().kind == token::word_token) {  // an address: name, generic(name), with +n; 0xFF(name)
                                            // byte slices are not handled
      std::string n = word();
      s64 add = 0;
      if (n == "generic") {
        expect('(');
        n = word();
        if (accept('+')) add = integer();
        expect(')');
      }
      if (accept('+')) add += integer();
      v.patches.push_back({at, n, add});
      at += width;
      return;
    }
    const bool neg = accept('-');
    if (cur().kind != token::number_token) bad_ptx(cur().line, "initialiser");
    u8 literal;
    u64 x = number(next(), literal);
    if (cur().is('('))
      bad_ptx(cur().line, "initialiser with a byte of an address is not supported");
    if (literal == 2 && t == F32) x = bits_of(float(value_of<double>(x)));
    if (neg) x = u64(-s64(x));
    std::memcpy(&v.init[at], &x, width);
    at += width;
  };
  item();
}

u32 parser::function_id(const std::string& name) {
  auto it = p_.function_ids.find(name);
  if (it == p_.function_ids.end()) bad_ptx(cur().line, "unknown function " + name);
  return it->second;
}

std::vector<ptx_variable> parser::parameter_list() {
  std::vector<ptx_variable> out;
  expect('(');
  while (!accept(')')) {
    if (cur().kind == token::line_token) {
      line_directive();
      continue;
    }
    if (accept(".reg"))
      throw kernel_fault(fault_kind::unsupported,
                         format("PTX line %u: .reg parameters are not supported", cur().line));
    if (!accept(".param")) bad_ptx(cur().line, "expected .param");
    ptx_variable v;
    v.space = space_param_lane;
    const data_type t = variable_head(v);
    variable_name(v, t);
    out.push_back(std::move(v));
    accept(',');
  }
  return out;
}

}  // namespace octobloom::ptx
