#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interpreter/integers.h"

namespace octobloom::ptx {

struct token {
  enum kind_type : u8 {
    word_token,
    number_token,
    string_token,
    symbol_token,
    line_token,
    end_token
  } kind = end_token;
  std::string_view text;  // of a line_token: all of .loc, .file, .version ...
  u32 line = 0;
  bool is(char c) const { return kind == symbol_token && text[0] == c; }
  bool is(const char* w) const { return kind == word_token && text == w; }
};

/// The tokens point into `source`.
std::vector<token> tokenize(const std::string& source);

}  // namespace octobloom::ptx
