#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "interpreter/decoder.h"
#include "interpreter/lexer.h"
#include "interpreter/program.h"
#include "interpreter/text.h"

namespace octobloom::ptx {

/// Reads PTX into a program.
class parser {
 public:
  explicit parser(program& p) : p_(p) {
    toks_ = tokenize(p.text);
    std::size_t at = 0;
    while (at <= p.text.size()) {
      std::size_t e = p.text.find('\n', at);
      if (e == std::string::npos) e = p.text.size();
      p.lines.push_back(std::string_view(p.text).substr(at, e - at));
      at = e + 1;
    }
  }
  void run();

 private:
  struct declared_name {
    enum kind_type : u8 { reg_name, pred_name, var_name } kind;
    u32 first = 0;
    u32 bytes = 0;
    u32 count = 1;
    ptx_variable var;
  };
  struct name_scope {
    u32 id, parent;
    std::unordered_map<std::string, declared_name> names;
    std::unordered_map<std::string, declared_name> ranges;  // %r<100>: prefix
  };

  program& p_;
  std::vector<token> toks_;
  std::size_t at_ = 0;
  std::vector<name_scope> scopes_;
  u32 scope_ids_ = 0;
  std::unordered_map<u32, u32> scope_parent_;
  std::map<std::pair<u32, std::string>, u32> labels_;
  std::map<std::pair<u32, std::string>, std::vector<std::string>> label_lists_;
  std::vector<label_use> fixups_;
  source_place loc_;

  const token& cur() const { return toks_[at_]; }
  const token& next() { return toks_[at_++]; }
  void skip() {
    if (cur().kind == token::end_token) bad_ptx(cur().line, "unexpected end");
    ++at_;
  }
  void skip_to(char c) {
    while (!cur().is(c)) skip();
  }
  void skip_parentheses();
  void expect(char c) {
    if (!cur().is(c))
      bad_ptx(cur().line, format("expected '%c', found '%s'", c, std::string(cur().text).c_str()));
    ++at_;
  }
  bool accept(char c) {
    if (cur().is(c)) {
      ++at_;
      return true;
    }
    return false;
  }
  bool accept(const char* w) {
    if (cur().is(w)) {
      ++at_;
      return true;
    }
    return false;
  }
  std::string word() {
    if (cur().kind != token::word_token)
      bad_ptx(cur().line, "expected a name, found '" + std::string(cur().text) + "'");
    return std::string(next().text);
  }
  s64 integer();
  static u64 number(const token& t, u8& literal);

  void line_directive();

  void skip_balanced();

  // Functions may be used before they are defined: give all of them numbers first.
  void declare_functions();

  void top_level();
  bool extern_ = false;

  // .space [.align n] .type name[dims] [= init], ... ;
  void variables();
  data_type variable_head(ptx_variable& v);
  void variable_name(ptx_variable& v, data_type);
  void initialiser(ptx_variable& v, data_type t);

  u32 function_id(const std::string& name);
  // --- functions
  ptx_function* fn_ = nullptr;
  u32 fn_id_ = 0;

  std::vector<ptx_variable> parameter_list();
  void function(bool is_entry);
  static bool ends_control(const instruction& i) {
    return i.guard == predicate_true &&
           (i.fn == h_bra || i.fn == h_ret || i.fn == h_exit || i.fn == h_trap || i.fn == h_brx);
  }
  void emit_exit();
  void open_scope();

  void statement();
  void registers();
  void local_variables(state_space space);

  // --- operands
  ptx_operand named(const std::string& name);
  static ptx_operand from_name(const declared_name& n, u32 index, const std::string& name);
  bool special(const std::string& name, ptx_operand& o);
  ptx_operand operand();
  ptx_operand operand_atom();

  void parse_instruction();

  template <class Map>
  auto scoped(const Map& m, u32 scope, const std::string& name) {
    for (u32 s = scope; s; s = scope_parent_[s]) {
      auto it = m.find({s, name});
      if (it != m.end()) return it;
    }
    return m.end();
  }
  void resolve_labels();
};

/// Gives the basic blocks of a function their places in the order in which lanes meet again.
void order_function(program& p, u32 id);

}  // namespace octobloom::ptx
