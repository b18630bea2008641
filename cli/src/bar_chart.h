#pragma once

#include <string>
#include <vector>

namespace octobloom::cli {

struct bar_series {
  std::string name;
  std::vector<double> values;  ///< one a group, not negative
};

/// Groups of bars, longest to the right, with the value at each; one colour a series.
struct bar_chart {
  std::string title;
  std::string unit;
  std::vector<std::string> groups;
  std::vector<bar_series> series;
};

/// The picture as an SVG document.
[[nodiscard]] std::string to_svg(const bar_chart& chart);

}  // namespace octobloom::cli
