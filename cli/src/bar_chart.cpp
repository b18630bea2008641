#include "bar_chart.h"

#include <algorithm>
#include <array>

#include "numbers.h"

namespace octobloom::cli {

namespace {

// In pixels.
constexpr double bar_height = 18;
constexpr double bar_gap = 3;
constexpr double group_gap = 16;
constexpr double label_width = 170;
constexpr double plot_width = 520;
constexpr double value_width = 110;
constexpr double margin = 16;
constexpr double title_height = 30;
constexpr double legend_height = 26;
constexpr double legend_step = 120;

// Okabe and Ito's palette, which colour-blind readers can tell apart.
constexpr std::array palette{"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"};

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + fixed(value, 1) + "\"";
}

std::string text_at(double x, double y, const std::string& text, const char* anchor = "start",
                    const char* weight = "normal") {
  return "<text" + attribute("x", x) + attribute("y", y) + " text-anchor=\"" + anchor +
         "\" font-weight=\"" + weight + "\">" + escaped(text) + "</text>\n";
}

std::string bar_at(double x, double y, double width, std::size_t series) {
  return "<rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) +
         attribute("height", bar_height) + " fill=\"" + palette[series % palette.size()] + "\"/>\n";
}

double largest(const bar_chart& chart) {
  double most = 0;
  for (const bar_series& s : chart.series) {
    for (const double value : s.values) most = std::max(most, value);
  }
  return most > 0 ? most : 1;
}

}  // namespace

std::string to_svg(const bar_chart& chart) {
  const double scale = plot_width / largest(chart);
  const double left = margin + label_width;
  double y = margin + title_height;
  std::string body =
      text_at(margin, margin + 14, chart.title + " (" + chart.unit + ")", "start", "bold");
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const double x = left + legend_step * static_cast<double>(s);
    body += bar_at(x, y, bar_height, s);
    body += text_at(x + bar_height + 6, y + 13, chart.series[s].name);
  }
  y += legend_height + group_gap;
  for (std::size_t g = 0; g < chart.groups.size(); ++g) {
    const double group_height =
        static_cast<double>(chart.series.size()) * (bar_height + bar_gap) - bar_gap;
    body += text_at(left - 10, y + group_height / 2 + 5, chart.groups[g], "end");
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
      const double value = chart.series[s].values.at(g);
      body += bar_at(left, y, value * scale, s);
      body += text_at(left + value * scale + 6, y + 13, fixed(value, value < 100 ? 1 : 0));
      y += bar_height + bar_gap;
    }
    y += group_gap;
  }
  const double width = left + plot_width + value_width;
  return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", width) +
         attribute("height", y) + " font-family=\"sans-serif\" font-size=\"13\">\n" +
         "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" + body + "</svg>\n";
}

}  // namespace octobloom::cli
