// The golden files of tests/golden/family_oracle.py: the same filters made here have the same
// bytes, and the same answers when they are loaded. families.tsv tells how, in the language of
// family_scenarios.py.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <octobloom/octobloom.h>

#include "helpers.h"

namespace {

using namespace octobloom;

std::vector<std::string> split(const std::string& text, const std::string& by) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t at = text.find(by); at != std::string::npos; at = text.find(by, from)) {
    parts.push_back(text.substr(from, at - from));
    from = at + by.size();
  }
  if (from < text.size()) parts.push_back(text.substr(from));
  return parts;
}

std::string hex(const std::vector<std::uint8_t>& bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

/// What a clock of windows shows.
std::int64_t the_time = 0;

window_clock the_clock() {
  return [] { return std::chrono::nanoseconds(the_time); };
}

/// KEYS [at T]; the time is set.
struct keys_and_time {
  explicit keys_and_time(const std::vector<std::string>& words) {
    const std::size_t first = words.at(0) == "ints" ? 1 : 2;
    for (std::int64_t i = std::stoll(words.at(first)); i < std::stoll(words.at(first + 1)); ++i) {
      ints.push_back(i);
      if (first == 2) strings.push_back(words[1] + std::to_string(i));
    }
    if (words.size() > first + 2) the_time = std::stoll(words.at(first + 3));
  }
  /// Calls `act` with the one or the other.
  template <class Act>
  auto visit(Act act) const {
    return strings.empty() ? act(ints) : act(strings);
  }

  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
};

class options_of {
 public:
  explicit options_of(const std::vector<std::string>& words) {
    for (std::size_t i = 1; i + 1 < words.size(); i += 2) values_[words[i]] = words[i + 1];
  }
  [[nodiscard]] std::uint64_t number(const std::string& name, std::uint64_t otherwise = 0) const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : std::stoull(found->second);
  }
  [[nodiscard]] double real(const std::string& name, double otherwise = 0) const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : std::stod(found->second);
  }

 private:
  std::map<std::string, std::string> values_;
};

growing_filter make(const options_of& o, const growing_filter*) {
  return {o.number("n"),
          o.real("p"),
          {.seed = o.number("seed"),
           .growth = static_cast<std::uint32_t>(o.number("growth", 2)),
           .grow_at = o.real("grow_at", 1),
           .spare_blocks = static_cast<std::uint32_t>(o.number("spare_blocks"))}};
}

counting_filter make(const options_of& o, const counting_filter*) {
  plan p = plan_with_blocks(o.number("blocks"), static_cast<std::uint32_t>(o.number("k")));
  p.expected_keys = o.number("n");
  p.target_fpr = o.real("p");
  return counting_filter(p, {.seed = o.number("seed")});
}

cuckoo_filter make(const options_of& o, const cuckoo_filter*) {
  cuckoo_plan p =
      cuckoo_plan_with_lines(o.number("lines"), static_cast<std::uint32_t>(o.number("f")));
  p.expected_keys = o.number("n");
  p.target_fpr = o.real("p");
  return cuckoo_filter(p, {.seed = o.number("seed")});
}

/// Of a size that no plan has: from a file without keys.
windowed_filter make_window(const options_of& o, bool by_time) {
  std::vector<std::uint64_t> body{
      o.number("parts"), by_time ? 1u : 0u, o.number("window"), 0, 0, by_time ? 0u : 1u, 0, 0};
  if (!by_time) body.resize(16 + 8 * o.number("blocks"));
  encoded_filter empty;
  const filter_shape shape{static_cast<std::uint32_t>(o.number("blocks")),
                           static_cast<std::uint32_t>(o.number("k")), o.number("seed"),
                           key_hashing::xxh64};
  empty.header = {{shape, o.number("n"), o.real("p"), 0}, filter_kind::windowed};
  empty.pieces.push_back(std::as_bytes(std::span(body)));
  std::vector<std::byte> bytes;
  write_filter(empty, [&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  return windowed_filter::from_bytes(bytes, {}, the_clock());
}

template <class Filter>
Filter create(const std::vector<std::string>& words) {
  if constexpr (std::is_same_v<Filter, windowed_filter>) {
    return make_window(options_of(words), words[0] == "time");
  } else {
    return make(options_of(words), static_cast<const Filter*>(nullptr));
  }
}

template <class Filter>
Filter load(const std::string& path) {
  if constexpr (std::is_same_v<Filter, windowed_filter>) {
    return windowed_filter::load(path, {}, the_clock());
  } else {
    return Filter::load(path);
  }
}

template <class Filter>
void operate(std::vector<Filter>& filters, const std::vector<std::string>& words, bool batches,
             const std::vector<std::string>& created) {
  Filter& filter = filters.back();
  if (words[0] == "new") {
    filters.push_back(create<Filter>(created));
  } else if (words[0] == "merge") {
    if constexpr (requires { filter.merge(filter); }) {
      filters[filters.size() - 2].merge(filter);
      filters.pop_back();
    } else {
      FAIL() << "cannot be merged";
    }
  } else {
    const keys_and_time keys({words.begin() + 1, words.end()});
    keys.visit([&](const auto& range) {
      std::vector<std::uint8_t> answers(bitmap_bytes(range.size()));
      if (words[0] == "remove") {
        if constexpr (requires { filter.remove(range, answers); }) filter.remove(range, answers);
      } else if (words[0] == "insert_new") {
        if constexpr (requires { filter.insert_new(range, answers); }) {
          if (batches) {
            filter.insert_new(range, answers);
          } else {
            for (const auto& key : range) (void)filter.insert_new(key);
          }
        }
      } else if (batches) {
        (void)filter.insert(range);
      } else {
        for (const auto& key : range) (void)filter.insert(key);
      }
    });
  }
}

template <class Filter>
void expect_the_oracles(const std::vector<std::string>& row) {
  const std::string bytes = family::read_file(octobloom_test::golden_path(row[0]));
  const auto created = split(row[1], " ");
  const family::scratch_file file;
  for (const bool batches : {true, false}) {
    the_time = 0;
    std::vector<Filter> filters;
    filters.push_back(create<Filter>(created));
    for (const std::string& operation : split(row[2], "; ")) {
      operate(filters, split(operation, " "), batches, created);
    }
    ASSERT_EQ(filters.size(), 1u);
    filters[0].save(file.path());
    EXPECT_TRUE(family::read_file(file.path()) == bytes) << row[0] << ", batches " << batches;
  }
  Filter loaded = load<Filter>(octobloom_test::golden_path(row[0]));
  loaded.save(file.path());
  EXPECT_TRUE(family::read_file(file.path()) == bytes) << row[0];
  loaded.accept_any_family(true);
  const auto probes = split(row[3], "; ");
  const auto expected = split(row[4], "; ");
  ASSERT_EQ(probes.size(), expected.size());
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const keys_and_time keys(split(probes[i], " "));
    keys.visit([&](const auto& range) {
      std::vector<std::uint8_t> answers(bitmap_bytes(range.size()));
      loaded.may_contain(range, answers);
      EXPECT_EQ(hex(answers), expected[i]) << row[0] << ": " << probes[i];
      std::size_t at = 0;
      for (const auto& key : range) {
        ASSERT_EQ(loaded.may_contain(key), bitmap_get(answers.data(), at++)) << row[0];
      }
    });
  }
}

TEST(oracle, makes_the_same_files_of_every_kind) {
  std::ifstream table(octobloom_test::golden_path("families.tsv"));
  std::string line;
  ASSERT_TRUE(std::getline(table, line));
  std::map<std::string, int> kinds;
  while (std::getline(table, line)) {
    const auto row = split(line, "\t");
    ASSERT_EQ(row.size(), 5u) << line;
    const std::string kind = split(row[1], " ")[0];
    ++kinds[kind];
    if (kind == "growing") expect_the_oracles<growing_filter>(row);
    if (kind == "counting") expect_the_oracles<counting_filter>(row);
    if (kind == "cuckoo") expect_the_oracles<cuckoo_filter>(row);
    if (kind == "events" || kind == "time") expect_the_oracles<windowed_filter>(row);
  }
  EXPECT_EQ(kinds.size(), 5u);
  for (const char* kind : {"growing", "counting", "cuckoo", "events", "time"}) {
    EXPECT_GE(kinds[kind], 1) << kind;
  }
}

}  // namespace
