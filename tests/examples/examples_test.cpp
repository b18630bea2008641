// The examples do what they say.
#include <gtest/gtest.h>

#include <sstream>
#include <unordered_set>

#include "process.h"

using namespace octobloom_test;

namespace {

outcome example(const std::string& name, const std::vector<std::string>& arguments = {},
                running::setup setup = {}) {
  setup.program = std::string(OCTOBLOOM_EXAMPLES) + "/example_" + name;
  return run_program(arguments, setup);
}

}  // namespace

TEST(example, seen_remembers_between_runs) {
  temporary_folder folder;
  const auto run = [&](const std::string& input) {
    return example("seen", {}, {.input = input, .folder = folder.file("")});
  };
  const outcome first = run("a b a\n");
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(first.out, "a\tnew\nb\tnew\na\tseen before\n");
  EXPECT_EQ(run("b c\n").out, "b\tseen before\nc\tnew\n");
  EXPECT_NE(run("").err.find("about 3"), std::string::npos);
}

TEST(example, readme_shows_a_program_that_works) {
  const std::string source = std::string(OCTOBLOOM_SOURCE);
  const std::string program = read_file(source + "/examples/readme.cpp");
  EXPECT_NE(read_file(source + "/README.md").find("```cpp\n" + program + "```"), std::string::npos);
  temporary_folder folder;
  const outcome result = example("readme", {}, {.folder = folder.file("")});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out.substr(0, 6), "1 1 0\n");
  EXPECT_TRUE(std::filesystem::exists(folder.file("seen.octobloom")));
}

TEST(example, from_c_makes_saves_loads_and_asks) {
  temporary_folder folder;
  const outcome result = example("from_c", {}, {.folder = folder.file("")});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "2 of 3 are members (bits 0x05), in a counting filter of 9920 bytes\n");
  const std::string source = std::string(OCTOBLOOM_SOURCE);
  const std::string page = read_file(source + "/docs/c.md");
  EXPECT_NE(page.find("```c\n" + read_file(source + "/examples/from_c.c") + "```"),
            std::string::npos);
  EXPECT_NE(page.find("```\n" + result.out + "```"), std::string::npos);
}

TEST(example, spam_list_misses_nobody_and_suspects_as_few_as_planned) {
  const outcome result = example("spam_list");
  EXPECT_EQ(result.status, 0) << "more than three sigma off, or a false negative";
  EXPECT_NE(result.out.find("false negatives    0 of 1000000\n"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find(" of 100000, expected 1000 +- 31 "), std::string::npos) << result.out;
}

TEST(example, over_filling_ends_near_one_and_tells) {
  const outcome result = example("over_filling");
  EXPECT_EQ(result.status, 0);
  std::istringstream rows(result.out);
  std::string title;
  std::getline(rows, title);
  std::uint64_t keys = 0;
  double fill = 0;
  double measured = 0;
  double estimated = 0;
  std::string verdict;
  std::vector<double> rates;
  while (rows >> keys >> fill >> measured >> estimated >> verdict) {
    EXPECT_NEAR(measured, estimated, 0.01) << keys;
    EXPECT_EQ(verdict, keys == 100'000 ? "fine" : "over-full");
    rates.push_back(measured);
  }
  ASSERT_EQ(rates.size(), 5u) << result.out;
  EXPECT_NEAR(rates.front(), 0.01, 0.002);
  EXPECT_EQ(keys, 5'000'000u);
  EXPECT_GT(rates.back(), 0.999);
}

TEST(example, growing_keeps_its_rate_and_shows_its_levels) {
  const outcome result = example("growing");
  EXPECT_EQ(result.status, 0) << "above the rate, or a false negative";
  EXPECT_EQ(count_lines(result.out), 13u) << result.out;
  EXPECT_NE(result.out.find("   10   48"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("of 10000000 strangers"), std::string::npos) << result.out;
}

TEST(example, email_log_is_the_same_every_time) {
  const outcome log = example("email_log", {"1000", "700"});
  EXPECT_EQ(log.status, 0);
  EXPECT_EQ(count_lines(log.out), 1000u);
  EXPECT_EQ(log.out, example("email_log", {"1000", "700"}).out);
  EXPECT_EQ(example("email_log", {"10", "700"}).out,
            log.out.substr(0, example("email_log", {"10", "700"}).out.size()));
  EXPECT_EQ(example("email_log", {"ten"}).status, 2);
}

TEST(example, exact_dedup_is_exact) {
  temporary_folder folder;
  const std::string log = example("email_log", {"10000", "7000"}).out;
  write_file(folder.file("log"), log);
  std::unordered_set<std::string> seen;
  std::string expected;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (seen.insert(line).second) expected += line + "\n";
  }
  const outcome result = example("exact_dedup", {folder.file("log")});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, expected);
  // About half of the lines are repeats: 7,000 (1 - e^(-10/7)) are distinct.
  EXPECT_NEAR(static_cast<double>(seen.size()), 7'000 * (1 - std::exp(-10.0 / 7)), 150);
  EXPECT_EQ(example("exact_dedup", {folder.file("missing")}).status, 2);
}
