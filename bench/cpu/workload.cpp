#include "workload.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <octobloom/storage.h>

namespace octobloom::bench {

namespace {

/// The number behind `option` in an argument that begins with it; ends the program for none.
std::uint64_t number_of(std::string_view argument, std::string_view option) {
  const std::string_view digits = argument.substr(option.size());
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(digits.begin(), digits.end(), value);
  if (code != std::errc() || end != digits.end() || value == 0) {
    std::fprintf(stderr, "octobloom-bench: %.*s takes a number from 1 on, not \"%.*s\"\n",
                 static_cast<int>(option.size() - 1), option.data(),
                 static_cast<int>(digits.size()), digits.data());
    std::exit(2);
  }
  return value;
}

std::string size_name(std::uint64_t bytes) {
  return bytes < mebibyte ? "0.25" : std::to_string(bytes / mebibyte);
}

/// The memory that an exact set may take; two of them are there at a time. Filling a large one
/// takes a minute.
std::uint64_t largest_set(const settings& options) {
  const std::uint64_t wanted = (options.full ? 64 * 1024 : options.quick ? 256 : 2500) * mebibyte;
  return std::min(wanted, available_memory() / 5);
}

}  // namespace

settings parse(int& argc, char** argv) {
  constexpr std::string_view largest = "--largest=";
  constexpr std::string_view rounds = "--rounds=";
  settings options;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--full") {
      options.full = true;
    } else if (argument == "--quick") {
      options.quick = true;
    } else if (argument.starts_with(largest)) {
      options.largest =
          std::min(number_of(argument, largest), options.largest / mebibyte) * mebibyte;
    } else if (argument.starts_with(rounds)) {
      options.rounds =
          static_cast<unsigned>(std::min<std::uint64_t>(number_of(argument, rounds), 99));
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  if (options.full && options.quick) {
    std::fprintf(stderr, "octobloom-bench: --full and --quick exclude each other\n");
    std::exit(2);
  }
  return options;
}

std::vector<std::uint64_t> sizes(const settings& options) {
  std::vector<std::uint64_t> all{mebibyte / 4,   mebibyte,       16 * mebibyte,
                                 128 * mebibyte, 512 * mebibyte, 2048 * mebibyte};
  if (options.quick) all = {mebibyte, 128 * mebibyte};
  std::erase_if(all, [&](std::uint64_t bytes) {
    // Up to four filters live at a time, beside the keys.
    return bytes > options.largest || bytes > available_memory() / 8;
  });
  return all;
}

std::vector<content> contents(std::uint64_t bytes, const settings& options) {
  std::vector<content> list;
  for (const key_type keys : {key_type::integers, key_type::strings}) {
    for (const unsigned bits : {10u, 8u, 16u, 22u}) {
      const int varied = (keys != key_type::integers) + (bits != 10);
      // Filling takes the time where filters are large.
      const int most = options.quick || bytes > 512 * mebibyte ? 0 : 1;
      if (options.full || varied <= most) list.push_back({bytes, bits, keys});
    }
  }
  return list;
}

std::vector<question> questions(const content& filled, operation what, const settings& options) {
  // The hit rate is a matter of probing.
  if (what != operation::may_contain) return {{50, 1}, {50, 0}};
  const bool common = filled == content{.bytes = filled.bytes};
  if (options.full) return {{50, 1}, {50, 0}, {0, 1}, {0, 0}, {100, 1}, {100, 0}};
  if (options.quick || !common) return {{50, 1}, {50, 0}};
  return {{50, 1}, {50, 0}, {0, 1}, {100, 1}};
}

bool takes_part(const contender& who, operation what, const content& filled, const question& asked,
                const settings& options) {
  if (std::ranges::find(who.operations, what) == who.operations.end()) return false;
  if (filled.bytes < who.from_bytes || filled.bytes > who.to_bytes) return false;
  if (filled.keys == key_type::strings && !who.strings) return false;
  if (asked.threads != 1 && !who.threads) return false;
  if (who.common_only && filled.keys == key_type::strings && !options.full) return false;
  if (who.common_only && (filled.bits_per_key != 10 || asked != question{})) return false;
  return who.bytes_per_key * static_cast<double>(filled.members()) <
         static_cast<double>(largest_set(options));
}

std::size_t batch_size(const contender& who, const content& filled, const settings& options) {
  const bool large = filled.bytes >= 16 * mebibyte && !who.slow && !options.quick;
  return std::size_t{1} << (large ? 24 : 20);
}

std::string name_of(const contender& who, operation what, const content& filled,
                    const question& asked) {
  constexpr std::array operations{"may_contain", "insert", "insert_new"};
  return std::string("what:") + operations[static_cast<std::size_t>(what)] + "/who:" + who.name +
         "/MiB:" + size_name(filled.bytes) + "/bits:" + std::to_string(filled.bits_per_key) +
         "/hits:" + std::to_string(asked.hit_percent) +
         "/keys:" + (filled.keys == key_type::integers ? "integers" : "strings") +
         "/threads:" + (asked.threads == 0 ? "all" : std::to_string(asked.threads));
}

}  // namespace octobloom::bench
