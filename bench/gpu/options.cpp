#include "options.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace octobloom::bench {

namespace {

constexpr const char* usage = R"(octobloom-gpu-bench [OPTION...]
  --min SIZE, --max SIZE  filter sizes, from min to max; 1M and 16G
  --step N                multiply the size by N; 4
  --keys N                keys of a measurement; 134217728
  --repeat N              repetitions, of which the median counts; 5
  --widths                measure the kernels' other widths too
  --cpu-threads N         of the CPU's rows; 2
  --json FILE, --svg FILE
  --dry-run               no GPU: the CPU's rows alone

Each row is printed when it is measured; the files are written anew after each size. A size for
which the device has no room ends the sizes, with a note. Of a row that cannot be measured the
reason is told, and the others go on.

"floor read" takes four lanes of 16 bytes on every device, also on sm_100, where contains takes two
of 32 bytes. Temporaries come from a pool that keeps its memory, but for the row "pool as it comes".

Exit status: 0 done, 1 a row could not be measured or there is none, 2 an error, 77 no GPU.
)";

std::uint64_t number(const std::string& text) {
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, value);
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  const unsigned shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : 0;
  if (problem != std::errc{} || (shift == 0 && !unit.empty()) || value == 0 ||
      value > std::uint64_t{1} << (40 - shift)) {
    throw std::invalid_argument("'" + text + "' is no number from 1 to 2^40");
  }
  return value << shift;
}

}  // namespace

options parse(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&] {
      if (++i == argc) throw std::invalid_argument(name + " needs a value");
      return std::string(argv[i]);
    };
    if (name == "--help" || name == "-h") {
      std::fputs(usage, stdout);
      std::exit(0);
    } else if (name == "--min") {
      o.min = number(value());
    } else if (name == "--max") {
      o.max = number(value());
    } else if (name == "--step") {
      o.step = std::max<std::uint64_t>(2, number(value()));
    } else if (name == "--keys") {
      o.keys = (number(value()) + 255) / 256 * 256;
    } else if (name == "--repeat") {
      o.repeat = static_cast<unsigned>(number(value()));
    } else if (name == "--widths") {
      o.widths = true;
    } else if (name == "--cpu-threads") {
      o.cpu_threads = static_cast<unsigned>(number(value()));
    } else if (name == "--json") {
      o.json = value();
    } else if (name == "--svg") {
      o.svg = value();
    } else if (name == "--dry-run") {
      o.dry_run = true;
    } else {
      throw std::invalid_argument("unknown option '" + name + "'; see --help");
    }
  }
  if (o.min > o.max) throw std::invalid_argument("--min is larger than --max");
  return o;
}

std::vector<std::uint64_t> options::sizes() const {
  std::vector<std::uint64_t> all;
  for (std::uint64_t bytes = min; bytes <= max; bytes *= step) {
    all.push_back(bytes);
    if (bytes > max / step) break;
  }
  const std::uint64_t half_gib = std::uint64_t{512} << 20;
  const auto place = std::lower_bound(all.begin(), all.end(), half_gib);
  if (min <= half_gib && half_gib <= max && (place == all.end() || *place != half_gib)) {
    all.insert(place, half_gib);
  }
  return all;
}

}  // namespace octobloom::bench
