#include "line_estimate.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "reader.h"

namespace octobloom::cli {

namespace {

constexpr std::uint64_t samples = 64;
constexpr std::size_t sample_bytes = std::size_t{64} << 10;

/// The inputs as one long text, read at any place.
class long_text {
 public:
  /// False when an input tells no length.
  bool open(const std::vector<std::string>& inputs) {
    for (const std::string& input : inputs) {
      // Not by opening it: who looks at a named pipe takes it from who reads it.
      if (!is_regular(input)) return false;
      const input_file file(input);
      const std::uint64_t size = file.size();
      if (size == 0 && has_contents(file)) return false;
      parts_.push_back({input, size_, size_ + size});
      size_ = parts_.back().end;
    }
    return true;
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// Counts `separator` in the `wanted` bytes from `at` on; `seen` grows by the bytes that were
  /// there.
  std::uint64_t count(std::uint64_t at, std::uint64_t wanted, char separator, std::uint64_t& seen) {
    std::uint64_t found = 0;
    auto part =
        std::upper_bound(parts_.begin(), parts_.end(), at,
                         [](std::uint64_t place, const part_of& p) { return place < p.end; });
    for (; part != parts_.end() && wanted > 0; ++part) {
      const input_file file(part->path);
      const off_t start = std::max<off_t>(lseek(file.descriptor(), 0, SEEK_CUR), 0);
      std::uint64_t position = at - part->begin;
      while (wanted > 0) {
        const std::size_t piece = std::min<std::uint64_t>(wanted, buffer_.size());
        const ssize_t got =
            pread(file.descriptor(), buffer_.data(), piece, start + static_cast<off_t>(position));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) file.fail("cannot be read");
        if (got == 0) break;
        found += static_cast<std::uint64_t>(
            std::count(buffer_.begin(), buffer_.begin() + got, separator));
        position += static_cast<std::uint64_t>(got);
        wanted -= static_cast<std::uint64_t>(got);
        seen += static_cast<std::uint64_t>(got);
      }
      at = part->end;
    }
    return found;
  }

 private:
  static bool has_contents(const input_file& file) {
    char byte = 0;
    const off_t start = std::max<off_t>(lseek(file.descriptor(), 0, SEEK_CUR), 0);
    return pread(file.descriptor(), &byte, 1, start) > 0;
  }

  struct part_of {
    std::string path;
    std::uint64_t begin;
    std::uint64_t end;
  };
  std::vector<part_of> parts_;
  std::uint64_t size_ = 0;
  std::vector<char> buffer_ = std::vector<char>(sample_bytes);
};

}  // namespace

std::optional<line_estimate> estimate_lines(const line_options& options) {
  long_text text;
  if (!text.open(options.inputs)) return std::nullopt;
  const std::uint64_t last_lines = options.inputs.size();  // each may lack its separator
  const char separator = options.separator();
  std::uint64_t seen = 0;
  if (text.size() <= samples * sample_bytes) {
    return line_estimate{text.count(0, samples * sample_bytes, separator, seen) + last_lines,
                         text.size()};
  }
  double sum = 0;
  double squares = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t at = (text.size() - sample_bytes) / (samples - 1) * i;
    const auto found = static_cast<double>(text.count(at, sample_bytes, separator, seen));
    sum += found;
    squares += found * found;
  }
  const double mean = sum / samples;
  const double deviation = std::sqrt(std::max(squares / samples - mean * mean, 0.0));
  // One more than was seen: rare separators leave no deviation behind.
  const double most = mean + (3 * deviation / std::sqrt(samples)) + 1.0 / samples;
  const double pieces = static_cast<double>(text.size()) / sample_bytes;
  return line_estimate{
      std::min(static_cast<std::uint64_t>(std::ceil(most * pieces)), text.size()) + last_lines,
      text.size()};
}

std::uint64_t count_lines(const line_options& options) {
  long_text text;
  (void)text.open(options.inputs);
  std::uint64_t seen = 0;
  return text.count(0, UINT64_MAX, options.separator(), seen) + options.inputs.size();
}

}  // namespace octobloom::cli
