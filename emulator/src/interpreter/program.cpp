#include "interpreter/program.h"

#include <algorithm>
#include <cctype>

#include "interpreter/text.h"

namespace octobloom::ptx {

std::string program::source_line(u32 line) const {
  if (line == 0 || line > lines.size()) return "";
  std::string_view s = lines[line - 1];
  while (!s.empty() && std::isspace(u8(s.front()))) s.remove_prefix(1);
  while (!s.empty() && std::isspace(u8(s.back()))) s.remove_suffix(1);
  std::string out(s);
  std::replace(out.begin(), out.end(), '\t', ' ');
  return out;
}
std::string program::where(const instruction& i) const {
  std::string out = format("%s:%u: %s", name.c_str(), i.line, source_line(i.line).c_str());
  const source_place& l = locs[i.loc];
  auto file = [&](u32 f) {
    auto it = files.find(f);
    return it == files.end() ? std::string("?") : it->second;
  };
  if (l.line)
    out += format(
        "  [%s:%u%s]", file(l.file).c_str(), l.line,
        l.at_line ? format(", inlined at %s:%u", file(l.at_file).c_str(), l.at_line).c_str() : "");
  return out;
}

}  // namespace octobloom::ptx
