#include "interpreter/lexer.h"

#include <cctype>

namespace octobloom::ptx {

std::vector<token> tokenize(const std::string& src) {
  std::vector<token> out;
  u32 line = 1;
  std::size_t i = 0;
  const std::size_t n = src.size();
  auto word_start = [](char c) {
    return std::isalpha(u8(c)) || c == '_' || c == '$' || c == '%' || c == '.';
  };
  auto word_char = [](char c) {
    return std::isalnum(u8(c)) || c == '_' || c == '$' || c == '%' || c == '.';
  };
  auto add = [&](token::kind_type k, std::size_t from, std::size_t to) {
    token t;
    t.kind = k;
    t.text = std::string_view(src).substr(from, to - from);
    t.line = line;
    out.push_back(t);
  };
  while (i < n) {
    const char c = src[i];
    if (c == '\n') {
      ++line;
      ++i;
      continue;
    }
    if (std::isspace(u8(c))) {
      ++i;
      continue;
    }
    if (c == '/' && i + 1 < n && src[i + 1] == '/') {
      while (i < n && src[i] != '\n') ++i;
      continue;
    }
    if (c == '/' && i + 1 < n && src[i + 1] == '*') {
      i += 2;
      while (i + 1 < n && !(src[i] == '*' && src[i + 1] == '/')) {
        line += src[i] == '\n';
        ++i;
      }
      i += 2;
      continue;
    }
    if (c == '"') {
      std::size_t j = i + 1;
      while (j < n && src[j] != '"') j += src[j] == '\\' ? 2u : 1u;
      add(token::string_token, i + 1, j);
      i = j + 1;
      continue;
    }
    if (word_start(c) && !(c == '%' && !(i + 1 < n && word_char(src[i + 1])))) {
      std::size_t j = i + 1;
      while (j < n && (word_char(src[j]) || (src[j] == ':' && j + 2 < n && src[j + 1] == ':' &&
                                             word_char(src[j + 2])))) {
        j += src[j] == ':' ? 2u : 1u;
      }
      const std::string_view w = std::string_view(src).substr(i, j - i);
      if (w == ".loc" || w == ".file" || w == ".version" || w == ".target" ||
          w == ".address_size") {
        std::size_t e = src.find('\n', i);
        if (e == std::string::npos) e = n;
        add(token::line_token, i, e);
        i = e;
        continue;
      }
      add(token::word_token, i, j);
      i = j;
      continue;
    }
    if (std::isdigit(u8(c))) {
      std::size_t j = i + 1;
      while (j < n && (std::isalnum(u8(src[j])) || src[j] == '.' ||
                       ((src[j] == '-' || src[j] == '+') &&
                        (src[j - 1] == 'e' || src[j - 1] == 'E') && src.compare(i, 2, "0x") != 0 &&
                        src.compare(i, 2, "0f") != 0 && src.compare(i, 2, "0d") != 0))) {
        ++j;
      }
      add(token::number_token, i, j);
      i = j;
      continue;
    }
    add(token::symbol_token, i, i + 1);
    ++i;
  }
  token end;
  end.line = line;
  out.push_back(end);
  return out;
}

}  // namespace octobloom::ptx
