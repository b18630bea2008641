#pragma once

#include <string>
#include <vector>

namespace octobloom::cli {

/// Rows of one length, as columns that are aligned to the right.
[[nodiscard]] std::string aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace octobloom::cli
