// The command under a system that refuses memory at one request, or from one on: it does its work,
// or ends with status 2 and a sentence, and never leaves half a file.
//
// Here a sample of all requests is refused; every one of them, by hand, with
// OCTOBLOOM_REFUSE_ALL=1. Counting begins with the program's own static initialisers: what the
// loader and the constructors of other libraries ask for is theirs. Where the CUDA runtime is
// linked in, whose initialisers crash without memory, it begins with main().
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "cli/command.h"

using namespace octobloom_test;

namespace {

using file_set = std::map<std::string, std::string>;

/// A use of the command.
struct use {
  const char* name;
  std::vector<std::string> arguments;
  std::string input{};                 ///< standard input
  std::vector<std::string> varying{};  ///< files written whose content differs from run to run
  const char* refuses = "";            ///< ":pages" or ":threads" instead of the heap
  std::uint64_t sample = 5;            ///< requests refused in the suite, in each of two ways
  int status = 0;                      ///< where nothing is refused
};

std::string lines_of_text() {
  // Repeats, an empty line, one longer than a small string, no newline at the end.
  return numbered_lines("line", 400) + numbered_lines("line", 300, 200) + "\n\n" +
         std::string(5000, 'x') + "\nlast";
}

std::vector<use> uses() {
  const std::string text = lines_of_text();
  return {
      {"dedup_file", {"dedup", "lines", "-j", "1"}},
      {"dedup_pipe", {"dedup", "-j", "1"}, text},
      {"dedup_planned", {"dedup", "-n", "1000", "-p", "1e-4", "--crlf"}, text},
      {"dedup_threads", {"dedup", "-j", "4", "lines", "more", "lines"}, "", {}, "", 10},
      {"dedup_output", {"dedup", "lines", "-o", "more", "-j", "2"}, "", {}, "", 10},
      {"dedup_in_place", {"dedup", "lines", "-o", "lines", "-j", "1"}},
      {"dedup_full", {"dedup", "-n", "10", "lines", "-j", "2"}, ""},
      {"dedup_full_error",
       {"dedup", "-n", "10", "lines", "-j", "2", "--on-full", "error", "--save", "new", "-o",
        "out"},
       "",
       {},
       "",
       10,
       2},
      {"dedup_save",
       {"dedup", "lines", "-n", "1k", "--save", "plain", "--report", "report", "-j", "1"},
       "",
       {"report"},
       "",
       20},
      {"dedup_filter",
       {"dedup", "lines", "--filter", "plain", "--save", "plain", "-o", "out", "--report", "report",
        "-j", "1"},
       "",
       {"report"},
       "",
       20},
      {"dedup_growing",
       {"dedup", "lines", "--filter", "growing", "--save", "growing", "-j", "2"},
       "",
       {},
       "",
       20},
      {"dedup_on_full_grow",
       {"dedup", "-n", "20", "--on-full", "grow", "lines", "--save", "new", "-j", "1"}},
      {"dedup_window", {"dedup", "--window", "100", "lines", "--save", "new", "-j", "1"}},
      {"dedup_time", {"dedup", "--window", "1h", "-n", "1000", "lines", "-j", "1"}},
      {"dedup_memory", {"dedup", "-m", "1M", "lines", "-z", "-j", "1"}},
      {"dedup_pages", {"dedup", "-n", "3M", "lines", "-j", "2"}, "", {}, ":pages"},
      {"dedup_no_threads", {"dedup", "lines", "-j", "4"}, "", {}, ":threads"},
      {"insert", {"insert", "plain", "lines", "-j", "1"}},
      {"insert_threads", {"insert", "plain", "lines", "more", "-j", "4"}},
      {"insert_growing", {"insert", "growing", "lines", "-j", "1"}},
      {"insert_counting", {"insert", "counting", "lines", "-j", "1"}},
      {"insert_cuckoo", {"insert", "cuckoo", "lines", "-j", "1"}},
      {"insert_windowed", {"insert", "windowed", "lines", "-j", "1"}},
      {"remove", {"remove", "counting", "more", "-j", "1"}},
      {"remove_cuckoo", {"remove", "cuckoo", "more", "-j", "1"}},
      {"check", {"check", "plain", "lines", "-j", "1"}},
      {"check_threads", {"check", "-v", "plain", "lines", "more", "-j", "4"}},
      {"check_growing", {"check", "growing", "-j", "1"}, text},
      {"check_windowed", {"check", "windowed", "lines", "-j", "1"}},
      {"check_json", {"check", "-c", "--json", "cuckoo", "lines", "-j", "1"}},
      {"check_nothing", {"check", "plain", "-j", "1"}, "absent\n", {}, "", 5, 1},
      {"merge", {"merge", "-o", "merged", "plain", "plain"}},
      {"merge_in_place", {"merge", "-o", "counting", "counting", "counting"}},
      {"info", {"info", "plain"}},
      {"info_growing", {"info", "growing"}},
      {"info_json", {"info", "--json", "plain"}},
      {"info_growing_json", {"info", "--json", "growing"}, "", {}, "", 10},
      {"info_counting", {"info", "counting"}},
      {"info_cuckoo_json", {"info", "--json", "cuckoo"}},
      {"info_windowed", {"info", "windowed"}},
      {"info_no_filter", {"info", "lines"}, "", {}, "", 5, 2},
      {"create", {"create", "-o", "new", "-n", "1000", "-p", "0.01"}},
      {"create_growing", {"create", "-o", "new", "--growing", "-n", "1000", "-p", "0.01"}},
      {"create_counting", {"create", "-o", "new", "--counting", "-n", "1000", "-p", "0.01"}},
      {"create_cuckoo", {"create", "-o", "new", "--cuckoo", "-n", "1000", "-p", "0.01"}},
      {"create_pages", {"create", "-o", "new", "-n", "3M", "-p", "0.01"}, "", {}, ":pages"},
      {"plan", {"plan", "-n", "1M", "-p", "0.001"}},
      {"plan_json", {"plan", "-n", "1M", "-p", "0.001", "--json"}},
      {"plan_table", {"plan", "--table"}},
      {"help", {"--help"}},
      {"help_of_a_verb", {"dedup", "--help"}},
      {"version", {"--version"}, "", {}, "", 40},
      {"manual", {"--generate", "man"}},
      {"completions", {"--generate", "zsh"}},
      {"no_verb", {}, "", {}, "", 5, 2},
      {"unknown_verb", {"deduplicate-all-of-these"}, "", {}, "", 5, 2},
      {"unknown_option", {"dedup", "--no-such-option-anywhere"}, "", {}, "", 5, 2},
      {"bad_value", {"dedup", "-p", "7", "lines"}, "", {}, "", 5, 2},
      {"no_such_file", {"dedup", "a-file-that-is-not-there-at-all"}, "", {}, "", 5, 2},
      {"names_like_options", {"dedup", "-n", "1k", "-j", "1", "--", "lines", "more"}},
  };
}

void PrintTo(const use& u, std::ostream* out) {
  *out << u.name;
}

file_set files_in(const std::string& folder) {
  file_set files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files[entry.path().filename()] = read_file(entry.path());
  }
  return files;
}

/// What every use finds in its folder.
const file_set& files_at_start() {
  static const file_set files = [] {
    temporary_folder folder;
    const auto command = [&](const std::vector<std::string>& arguments) {
      const outcome result = run(arguments, {.folder = folder.file("")});
      if (result.status != 0) throw std::runtime_error(result.err);
    };
    write_file(folder.file("lines"), lines_of_text());
    write_file(folder.file("more"), numbered_lines("line", 50));
    command({"create", "-o", "plain", "-n", "2000", "-p", "0.001"});
    command({"create", "-o", "counting", "--counting", "-n", "2000", "-p", "0.001"});
    command({"create", "-o", "cuckoo", "--cuckoo", "-n", "2000", "-p", "0.001"});
    command({"create", "-o", "growing", "--growing", "-n", "30", "-p", "0.001"});
    for (const char* filter : {"plain", "counting", "cuckoo", "growing"}) {
      command({"insert", filter, "more"});
    }
    command({"dedup", "--window", "500", "more", "--save", "windowed", "-o", "out"});
    file_set made = files_in(folder.file(""));
    made.erase("out");
    return made;
  }();
  return files;
}

struct trial {
  outcome result;
  file_set files;
};

trial try_once(const use& u, const std::string& refusal, const std::string& count_file = "") {
  temporary_folder folder;
  for (const auto& [name, bytes] : files_at_start()) write_file(folder.file(name), bytes);
  std::map<std::string, std::string> environment{
      {"LD_PRELOAD", OCTOBLOOM_REFUSE_MEMORY},
      {"OCTOBLOOM_REFUSE", refusal + u.refuses},
      {"OCTOBLOOM_REFUSE_START", OCTOBLOOM_REFUSE_START}};
  if (!count_file.empty()) environment["OCTOBLOOM_REFUSE_COUNT"] = count_file;
  trial t;
  t.result =
      run(u.arguments, {.input = u.input, .environment = environment, .folder = folder.file("")});
  t.files = files_in(folder.file(""));
  return t;
}

std::uint64_t requests_of(const use& u, trial& whole) {
  temporary_folder folder;
  whole = try_once(u, "once:0", folder.file("count"));
  return std::stoull(read_file(folder.file("count")));
}

/// The requests of a command that only makes sense of its arguments.
std::uint64_t beginning() {
  static const std::uint64_t requests = [] {
    trial whole;
    return requests_of({"version", {"--version"}}, whole);
  }();
  return requests;
}

/// How the trials of this process ended.
struct tally {
  std::uint64_t runs = 0;
  std::uint64_t refused = 0;     ///< status 2, with a sentence
  std::uint64_t went_on = 0;     ///< as if nothing had been refused
  std::uint64_t last_words = 0;  ///< of those refused: where std::terminate was reached
  std::uint64_t others = 0;
};
tally& totals() {
  static tally counts;
  return counts;
}

/// What is wrong with a trial; empty: nothing.
std::string verdict(const use& u, const trial& t, const trial& whole) {
  const outcome& result = t.result;
  const bool went_on = result.status == whole.result.status && result.out == whole.result.out &&
                       result.err == whole.result.err;
  const bool is_sentence = result.err.find("octobloom: ") != std::string::npos &&
                           result.err.find("memory") != std::string::npos &&
                           result.err.ends_with('\n');
  tally& counts = totals();
  ++counts.runs;
  if (went_on) {
    ++counts.went_on;
  } else if (result.status == 2 && is_sentence) {
    ++counts.refused;
    if (result.err.find("too little is left") != std::string::npos) {
      ++counts.last_words;
      std::cout << "last words: " << u.name << '\n';
    }
  } else {
    ++counts.others;
    return "status " + std::to_string(result.status) + ": " + result.err.substr(0, 300);
  }
  if (!whole.result.out.starts_with(result.out)) return "other output: " + result.out;
  for (const auto& [name, bytes] : t.files) {
    const auto before = files_at_start().find(name);
    if (before != files_at_start().end() && before->second == bytes) {
      const auto after = whole.files.find(name);
      if (went_on && after != whole.files.end() && after->second != bytes) return name + " is old";
      continue;
    }
    const auto after = whole.files.find(name);
    if (after == whole.files.end()) return "a file is left: " + name;
    const bool varies = std::find(u.varying.begin(), u.varying.end(), name) != u.varying.end();
    if (varies ? !bytes.ends_with("}\n") : bytes != after->second) return "half a file: " + name;
  }
  for (const auto& [name, bytes] : went_on ? whole.files : files_at_start()) {
    if (!t.files.contains(name)) return "a file is gone: " + name;
  }
  return "";
}

class refused_memory : public testing::TestWithParam<use> {
 protected:
  static void TearDownTestSuite() {
    const tally& counts = totals();
    std::cout << counts.runs << " runs: " << counts.refused << " ended with 2 and a sentence ("
              << counts.last_words << " of them by the last words of a program that had to end), "
              << counts.went_on << " went on, " << counts.others << " otherwise\n";
  }
};

}  // namespace

TEST_P(refused_memory, ends_in_words_and_leaves_nothing_half_done) {
#if defined(OCTOBLOOM_TEST_SANITIZED)
  GTEST_SKIP() << "a sanitizer has an allocator of its own";
#endif
  const use& u = GetParam();
  trial whole;
  const std::uint64_t requests = requests_of(u, whole);
  ASSERT_EQ(whole.result.status, u.status) << whole.result.err;
  ASSERT_GT(requests, 0u) << "nothing was refused";
  const bool all = std::getenv("OCTOBLOOM_REFUSE_ALL") != nullptr;
  // All uses begin alike: with making sense of options. One of them tries that.
  const bool tries_beginning = u.name == std::string("version") || requests <= beginning();
  const std::uint64_t before = tries_beginning ? 0 : beginning();
  const std::uint64_t own = requests - before;
  const std::uint64_t tries = all ? own : std::min(own, u.sample);
  for (std::uint64_t i = 0; i < tries; ++i) {
    // Spread over all requests, and the two ways at places of their own.
    const std::uint64_t once = before + 1 + i * own / tries;
    const std::uint64_t from = all ? once : before + 1 + (2 * i + 1) * own / (2 * tries);
    for (const std::string& refusal :
         {"once:" + std::to_string(once), "from:" + std::to_string(from)}) {
      const std::string wrong = verdict(u, try_once(u, refusal), whole);
      EXPECT_EQ(wrong, "") << refusal << u.refuses << " of " << requests;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(uses, refused_memory, testing::ValuesIn(uses()),
                         [](const auto& test) { return std::string(test.param.name); });
