#include "table.h"

#include <algorithm>

namespace octobloom::cli {

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += std::string(widths[i] - row[i].size() + (i == 0 ? 0 : 3), ' ') + row[i];
    }
    text += '\n';
  }
  return text;
}

}  // namespace octobloom::cli
