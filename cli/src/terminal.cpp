#include "terminal.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "numbers.h"
#include "process.h"

namespace octobloom::cli {

namespace {

constexpr auto first_shown_after = std::chrono::milliseconds(500);
constexpr auto shown_every = std::chrono::milliseconds(200);

std::string coloured(const char* colour, const char* text) {
  const char* no_color = std::getenv("NO_COLOR");
  if (!stderr_is_terminal() || (no_color != nullptr && *no_color != '\0')) return text;
  return std::string("\033[") + colour + "m" + text + "\033[0m";
}

/// Bytes of the character that `text` begins with; 0 when it is a control character or not UTF-8.
std::size_t printable_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::uint8_t {
    return i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0;
  };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return first >= ' ' && first != 0x7F ? 1 : 0;
  if (first < 0xC2 || first > 0xF4) return 0;
  const auto size = static_cast<std::size_t>(std::countl_one(first));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool is_control = first == 0xC2 && byte(1) < 0xA0;  // U+0080 to U+009F
  return is_control ? 0 : size;
}

void write_line(const std::string& mark, const std::string& message) {
  std::fputs((mark + printable(message) + "\n").c_str(), stderr);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

}  // namespace

// Names of files are any bytes: none of them may begin a line or command the terminal.
std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = printable_bytes(text);
    if (size > 0) {
      result += text.substr(0, size);
    } else if (text.front() == '\n') {
      result += "\\n";
    } else {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto byte = static_cast<std::uint8_t>(text.front());
      result += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

bool stderr_is_terminal() noexcept {
  return isatty(STDERR_FILENO) == 1;
}

void warn(const std::string& message) {
  write_line("octobloom: " + coloured("1;33", "warning:") + " ", message);
}

void report_error(const std::string& message) {
  write_line(coloured("1;31", "octobloom:") + " ", message);
}

void report_out_of_memory() noexcept {
  write_to_stderr(
      "octobloom: out of memory: the system refused to give more; fewer threads (-j) and a smaller "
      "filter take less\n");
}

void note(const std::string& message) {
  write_line("", message);
}

progress::progress(bool wanted, std::uint64_t total_bytes)
    : shown_(wanted && stderr_is_terminal() && isatty(STDOUT_FILENO) != 1),
      total_(total_bytes),
      start_(clock::now()),
      next_(start_ + first_shown_after) {}

progress::~progress() {
  clear();
}

void progress::update(std::uint64_t bytes) {
  if (!shown_) return;
  const auto now = clock::now();
  if (now < next_) return;
  next_ = now + shown_every;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(bytes) / seconds;
  std::string line = size_text(bytes);
  if (total_ > bytes) line += " of " + size_text(total_);
  line += ", " + fixed(rate / 1e6, 0) + " MB/s";
  if (total_ > bytes && rate > 0) {
    line += ", " + duration_text(static_cast<double>(total_ - bytes) / rate) + " left";
  }
  std::fputs(("\r" + line + "\033[K").c_str(), stderr);
  visible_ = true;
}

void progress::clear() {
  if (visible_) std::fputs("\r\033[K", stderr);
  visible_ = false;
}

}  // namespace octobloom::cli
