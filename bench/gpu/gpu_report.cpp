#include "gpu_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>

namespace octobloom::bench {

namespace {

constexpr double mib = 1 << 20;

std::string escape(const std::string& text, bool json) {
  std::string out;
  for (const char c : text) {
    if (json && (c == '"' || c == '\\')) {
      out += '\\';
      out += c;
    } else if (!json && c == '<') {
      out += "&lt;";
    } else if (!json && c == '&') {
      out += "&amp;";
    } else {
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

/// The row of that size and name; null when it was not measured.
const gpu_row* find(const gpu_report& report, std::uint64_t bytes, const std::string& what) {
  for (const gpu_row& row : report.rows) {
    if (row.filter_bytes == bytes && row.what == what) return &row;
  }
  return nullptr;
}

/// The lowest, over the sizes from `from` bytes on, of how many times as fast `what` is as `base`.
double worst_ratio(const gpu_report& report, std::uint64_t from, const std::string& what,
                   const std::string& base) {
  double worst = 0;
  for (const gpu_row& row : report.rows) {
    if (row.what != what || row.filter_bytes < from) continue;
    const gpu_row* other = find(report, row.filter_bytes, base);
    if (other == nullptr) continue;
    const double ratio = other->nanoseconds_per_key() / row.nanoseconds_per_key();
    worst = worst == 0 ? ratio : std::min(worst, ratio);
  }
  return worst;
}

}  // namespace

std::vector<goal> goals_of(const gpu_report& report) {
  constexpr std::uint64_t beyond_l2 = std::uint64_t{256} << 20;
  constexpr std::uint64_t half_gib = std::uint64_t{512} << 20;
  const auto of_link = [&](const char* what) {
    double best = 0;
    for (const gpu_row& row : report.rows) {
      if (row.what != what || report.link == 0) continue;
      best = std::max(best, 8.0 * static_cast<double>(row.keys) / row.seconds / report.link);
    }
    return best;
  };
  double against_cpu = 0;
  const gpu_row* resident = find(report, half_gib, "contains");
  const gpu_row* cpu = find(report, half_gib, "contains, CPU");
  if (resident != nullptr && cpu != nullptr) {
    against_cpu = cpu->nanoseconds_per_key() / resident->nanoseconds_per_key();
  }
  double partitioned =
      std::max(worst_ratio(report, beyond_l2, "insert by L2 slices", "insert direct"),
               worst_ratio(report, beyond_l2, "insert by shared slices", "insert direct"));
  return {
      {"contains against the floor, from 256 MiB", 0.9,
       worst_ratio(report, beyond_l2, "contains", "floor read")},
      {"insert against the floor, from 256 MiB", 0.9,
       worst_ratio(report, beyond_l2, "insert direct", "floor update")},
      {"partitioned insert against the direct one, from 256 MiB", 1.5, partitioned},
      {"streamed contains against the host link", 0.9, of_link("streamed contains")},
      {"the same, keys in page-locked memory", 0.9, of_link("streamed contains, page-locked")},
      {"resident contains against the CPU, 512 MiB", 20, against_cpu},
  };
}

std::string in_words(const unmeasured& one) {
  std::string text;
  if (one.filter_bytes != 0) {
    std::array<char, 32> size{};
    (void)std::snprintf(size.data(), size.size(), "%.0f MiB, ",
                        static_cast<double>(one.filter_bytes) / mib);
    text = size.data();
  }
  return text + one.what + ": " + one.why;
}

void print_heading(const gpu_report& report) {
  if (report.device.empty()) {
    std::printf("no GPU: %s\n", report.why_none.c_str());
  } else {
    std::printf("%s, memory %.0f GB/s by its clock, host link %.1f GB/s measured\n",
                report.device.c_str(), report.bandwidth / 1e9, report.link / 1e9);
  }
  std::printf("%10s  %-30s %12s %10s %8s %8s %10s\n", "filter", "what", "keys", "ns/key", "spread",
              "bytes", "bandwidth");
}

void print_row(const gpu_report& report, const gpu_row& row) {
  std::printf("%6.0f MiB  %-30s %12llu %10.4f %7.1f%% %8.2f",
              static_cast<double>(row.filter_bytes) / mib, row.what.c_str(),
              static_cast<unsigned long long>(row.keys), row.nanoseconds_per_key(),
              100 * row.spread, row.bytes_per_key);
  if (report.bandwidth > 0 && row.what.find("CPU") == std::string::npos) {
    std::printf(" %9.1f%%", 100 * row.bytes_per_second() / report.bandwidth);
  }
  std::printf("\n");
}

void print_goals(const gpu_report& report) {
  for (const goal& g : goals_of(report)) {
    if (g.reached == 0) {
      std::printf("goal: %s: at least %.1f x, not measured\n", g.text.c_str(), g.wanted);
    } else {
      std::printf("goal: %s: at least %.1f x, %s with %.2f x\n", g.text.c_str(), g.wanted,
                  g.reached >= g.wanted ? "met" : "missed", g.reached);
    }
  }
}

std::string to_json(const gpu_report& report) {
  std::ostringstream out;
  out.precision(9);
  out << "{\"device\": ";
  if (report.device.empty()) {
    out << "null, \"why_none\": \"" << escape(report.why_none, true) << '"';
  } else {
    out << '"' << escape(report.device, true) << '"';
  }
  out << ", \"bandwidth\": " << report.bandwidth << ", \"link\": " << report.link
      << ", \"cpu_threads\": " << report.cpu_threads
      << ", \"finished\": " << (report.finished ? "true" : "false") << ",\n \"rows\": [";
  const char* separator = "\n  ";
  for (const gpu_row& row : report.rows) {
    out << separator << "{\"filter_bytes\": " << row.filter_bytes << ", \"what\": \""
        << escape(row.what, true) << "\", \"keys\": " << row.keys
        << ", \"seconds\": " << row.seconds << ", \"ns_per_key\": " << row.nanoseconds_per_key()
        << ", \"spread\": " << row.spread << ", \"bytes_per_key\": " << row.bytes_per_key << '}';
    separator = ",\n  ";
  }
  out << "],\n \"left_out\": [";
  separator = "\n  ";
  for (const unmeasured& one : report.left_out) {
    out << separator << "{\"filter_bytes\": " << one.filter_bytes << ", \"what\": \""
        << escape(one.what, true) << "\", \"why\": \"" << escape(one.why, true)
        << "\", \"failed\": " << (one.failed ? "true" : "false") << '}';
    separator = ",\n  ";
  }
  out << "],\n \"goals\": [";
  separator = "\n  ";
  for (const goal& g : goals_of(report)) {
    out << separator << "{\"goal\": \"" << escape(g.text, true) << "\", \"wanted\": " << g.wanted
        << ", \"reached\": ";
    if (g.reached == 0) {
      out << "null}";
    } else {
      out << g.reached << '}';
    }
    separator = ",\n  ";
  }
  out << "]}\n";
  return out.str();
}

std::string to_svg(const gpu_report& report) {
  constexpr double width = 900;
  constexpr double height = 520;
  constexpr double left = 80;
  constexpr double right = 230;
  constexpr double top = 50;
  constexpr double bottom = 60;
  constexpr std::array colours{"#1b6ca8", "#c8553d", "#588157", "#8f5db7", "#d19a2b",
                               "#3a3a3a", "#2a9d8f", "#b5838d", "#6c757d"};
  double x_low = 20;
  double x_high = 21;
  double y_low = 0;
  double y_high = 0.1;
  std::map<std::string, std::vector<const gpu_row*>> lines;
  for (const gpu_row& row : report.rows) {
    const double x = std::log2(static_cast<double>(row.filter_bytes));
    const double y = std::log10(row.nanoseconds_per_key());
    if (lines.empty()) {
      x_low = x_high = x;
      y_low = y_high = y;
    }
    x_low = std::min(x_low, x);
    x_high = std::max(x_high, x);
    y_low = std::min(y_low, y);
    y_high = std::max(y_high, y);
    lines[row.what].push_back(&row);
  }
  y_low = std::floor(y_low * 4) / 4;
  y_high = std::ceil(y_high * 4) / 4 + 0.01;
  x_high = std::max(x_high, x_low + 1);
  const auto at_x = [&](double x) {
    return left + (x - x_low) / (x_high - x_low) * (width - left - right);
  };
  const auto at_y = [&](double y) {
    return height - bottom - (y - y_low) / (y_high - y_low) * (height - top - bottom);
  };

  std::ostringstream out;
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << height
      << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"" << left
      << "\" y=\"25\" font-size=\"16\">Nanoseconds a key by filter size: "
      << escape(report.device.empty() ? "no GPU, the CPU alone" : report.device, false)
      << "</text>\n";
  for (int x = static_cast<int>(std::ceil(x_low)); x <= x_high; x += x_high - x_low > 8 ? 2 : 1) {
    out << "<line x1=\"" << at_x(x) << "\" x2=\"" << at_x(x) << "\" y1=\"" << top << "\" y2=\""
        << height - bottom << "\" stroke=\"#ddd\"/><text x=\"" << at_x(x) << "\" y=\""
        << height - bottom + 18 << "\" text-anchor=\"middle\">";
    if (x >= 30) {
      out << std::exp2(x - 30) << " GiB";
    } else {
      out << std::exp2(x - 20) << " MiB";
    }
    out << "</text>\n";
  }
  for (int decade = static_cast<int>(std::floor(y_low)); decade <= y_high; ++decade) {
    for (const double step : {1.0, 2.0, 5.0}) {
      const double y = decade + std::log10(step);
      if (y < y_low || y > y_high) continue;
      out << "<line x1=\"" << left << "\" x2=\"" << width - right << "\" y1=\"" << at_y(y)
          << "\" y2=\"" << at_y(y) << "\" stroke=\"#eee\"/><text x=\"" << left - 8 << "\" y=\""
          << at_y(y) + 4 << "\" text-anchor=\"end\">" << std::pow(10, y) << "</text>\n";
    }
  }
  std::size_t number = 0;
  for (const auto& [what, rows] : lines) {
    const char* colour = colours[number % colours.size()];
    const char* dash = what.starts_with("floor") ? " stroke-dasharray=\"5 4\"" : "";
    out << "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" << colour << '"' << dash
        << " points=\"";
    for (const gpu_row* row : rows) {
      out << at_x(std::log2(static_cast<double>(row->filter_bytes))) << ','
          << at_y(std::log10(row->nanoseconds_per_key())) << ' ';
    }
    out << "\"/>\n";
    for (const gpu_row* row : rows) {
      out << "<circle r=\"3\" fill=\"" << colour << "\" cx=\""
          << at_x(std::log2(static_cast<double>(row->filter_bytes))) << "\" cy=\""
          << at_y(std::log10(row->nanoseconds_per_key())) << "\"/>\n";
    }
    const double y = top + 20.0 * static_cast<double>(number);
    out << "<line x1=\"" << width - right + 15 << "\" x2=\"" << width - right + 40 << "\" y1=\""
        << y << "\" y2=\"" << y << "\" stroke-width=\"2\" stroke=\"" << colour << '"' << dash
        << "/><text x=\"" << width - right + 46 << "\" y=\"" << y + 4 << "\">"
        << escape(what, false) << "</text>\n";
    ++number;
  }
  out << "</svg>\n";
  return out.str();
}

}  // namespace octobloom::bench
