#include "numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include <octobloom/plan.h>

namespace octobloom::cli {

namespace {

constexpr std::string_view units = "KMGT";

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw std::invalid_argument("'" + std::string(text) + "' " + why);
}

std::uint64_t scaled(std::string_view text, std::uint64_t value, std::uint64_t base,
                     std::uint64_t power) {
  for (; power > 0; --power) {
    if (value > std::numeric_limits<std::uint64_t>::max() / base) refuse(text, "is too large");
    value *= base;
  }
  return value;
}

/// A whole number, an optional decimal exponent, and what follows them in `rest`.
std::uint64_t leading_number(std::string_view text, const char* example, std::string_view& rest) {
  if (text.starts_with('-')) refuse(text, "is negative");
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [after, status] = std::from_chars(text.data(), end, value);
  if (status == std::errc::result_out_of_range) refuse(text, "is too large");
  if (status != std::errc{}) refuse(text, std::string("is not a number like ") + example);
  rest = {after, static_cast<std::size_t>(end - after)};
  if (rest.starts_with('.')) refuse(text, "is not a whole number");
  if (!rest.starts_with('e') && !rest.starts_with('E')) return value;

  rest.remove_prefix(rest.substr(1).starts_with('+') ? 2 : 1);
  if (rest.starts_with('-')) refuse(text, "is not a whole number");
  std::uint64_t exponent = 0;
  const auto [stop, good] = std::from_chars(rest.data(), end, exponent);
  if (good == std::errc::invalid_argument) {
    refuse(text, std::string("is not a number like ") + example);
  }
  rest = {stop, static_cast<std::size_t>(end - stop)};
  if (good == std::errc::result_out_of_range || exponent > 400) exponent = 400;
  return value == 0 ? 0 : scaled(text, value, 10, exponent);
}

std::uint64_t parse_scaled(std::string_view text, const char* example, std::uint64_t base,
                           std::string_view long_form) {
  std::string_view rest;
  const std::uint64_t value = leading_number(text, example, rest);
  if (rest.empty()) return value;
  const auto unit =
      units.find(rest.front() >= 'a' ? static_cast<char>(rest.front() - 'a' + 'A') : rest.front());
  if (unit == std::string_view::npos || (rest.size() > 1 && rest.substr(1) != long_form)) {
    refuse(text, std::string("is not a number like ") + example);
  }
  return scaled(text, value, base, unit + 1);
}

std::string printed(double value, std::chars_format format, int digits) {
  std::array<char, 400> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, digits).ptr;
  return {text.data(), end};
}

}  // namespace

std::uint64_t parse_count(std::string_view text) {
  return parse_scaled(text, "1000000, 10M or 1e6", 1000, "");
}

window_size parse_window(std::string_view text) {
  struct unit {
    std::string_view name;
    std::uint64_t seconds;
  };
  static constexpr std::array<unit, 4> times{{{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}}};
  std::string_view rest;
  const std::uint64_t value = leading_number(text, "1M, 90s, 5min, 12h or 7d", rest);
  if (value == 0) refuse(text, "is no window");
  if (rest == "m") {
    const std::string digits(text.substr(0, text.size() - 1));
    refuse(text, "may be minutes or millions of lines: write " + digits + "min or " + digits + "M");
  }
  for (const unit& u : times) {
    if (rest != u.name) continue;
    constexpr std::uint64_t century = std::uint64_t{36500} * 86400;
    if (value > century / u.seconds) refuse(text, "is more than a hundred years");
    return {0, std::chrono::seconds(value * u.seconds)};
  }
  return {parse_scaled(text, "100K or 1M lines, or a time like 90s, 5min, 12h or 7d", 1000, ""),
          {}};
}

std::chrono::nanoseconds parse_time(std::string_view text) {
  if (text.ends_with('m')) {
    refuse(text, "has no unit of time: write " + std::string(text.substr(0, text.size() - 1)) +
                     "min for minutes");
  }
  const window_size size = parse_window(text);
  if (size.lines > 0) refuse(text, "is no time: give it its unit, 90s, 5min, 12h or 7d");
  return size.time;
}

std::uint64_t parse_size(std::string_view text) {
  return parse_scaled(text, "1048576, 512M or 2G", 1024, "iB");
}

double parse_rate(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [after, status] = std::from_chars(text.data(), end, value);
  if (status == std::errc::invalid_argument || after != end) {
    refuse(text, "is not a rate like 0.01 or 1e-6");
  }
  if (status != std::errc{} || !(value >= min_target_fpr && value < 1)) {
    refuse(text, "is outside the range of rates, from 1e-8 up to, not including, 1");
  }
  return value;
}

std::uint64_t parse_seed(std::string_view text) {
  if (text == "random") {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hex ? text.substr(2) : text;
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [after, status] = std::from_chars(digits.data(), end, value, hex ? 16 : 10);
  if (status == std::errc::result_out_of_range) refuse(text, "is more than 64 bits");
  if (status != std::errc{} || after != end) {
    refuse(text, "is not a seed: give a number like 42 or 0x2a, or 'random'");
  }
  return value;
}

std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string grouped(double value) {
  return value < 1e18 ? grouped(static_cast<std::uint64_t>(std::llround(std::max(value, 0.0))))
                      : rate_text(value);
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (value /= 1024; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return fixed(value, value < 100 ? 1 : 0) + " " + units[unit] + "iB";
}

std::string rate_text(double rate) {
  return printed(rate, std::chars_format::general, 3);
}

std::string fixed(double value, int digits) {
  return printed(value, std::chars_format::fixed, digits);
}

}  // namespace octobloom::cli
