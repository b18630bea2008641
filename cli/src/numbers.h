#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

/// Numbers as people write them on a command line, and as the command writes them for people.
namespace octobloom::cli {

/// "1000000", "1e6", "10M" (powers of 1000; K, M, G, T). Throws std::invalid_argument that says
/// what is wrong.
[[nodiscard]] std::uint64_t parse_count(std::string_view text);

/// Bytes: "1048576", "512M", "2GiB" (powers of 1024; K, M, G, T). Throws as above.
[[nodiscard]] std::uint64_t parse_size(std::string_view text);

/// A rate from 1e-8 up to, not including, 1. Throws as above.
[[nodiscard]] double parse_rate(std::string_view text);

/// A window: "1M" lines, or a time with its unit, "90s", "5min", "12h", "7d". A bare "m"
/// is refused: it may be minutes or millions. Throws as above.
struct window_size {
  std::uint64_t lines = 0;  ///< 0: a time
  std::chrono::nanoseconds time{};
};
[[nodiscard]] window_size parse_window(std::string_view text);

/// A time with its unit, as above.
[[nodiscard]] std::chrono::nanoseconds parse_time(std::string_view text);

/// A seed: 64 bits, decimal or 0x..., or "random". Throws as above.
[[nodiscard]] std::uint64_t parse_seed(std::string_view text);

/// "10,000,000"; a rounded number for a double.
[[nodiscard]] std::string grouped(std::uint64_t value);
[[nodiscard]] std::string grouped(double value);

/// "3.2 MiB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);

/// "1.2e-06", "0.01": a rate or another small number in three digits.
[[nodiscard]] std::string rate_text(double rate);

/// `value` with `digits` after the point.
[[nodiscard]] std::string fixed(double value, int digits);

}  // namespace octobloom::cli
