// Manual and completions: made at build time, and accepted by those who read them.
#include <gtest/gtest.h>

#include "cli/command.h"

using namespace octobloom_test;

namespace {

std::string page(const std::string& name) {
  return std::string(OCTOBLOOM_PAGES) + "/" + name;
}

bool is_there(const std::string& program) {
  return run({"-c", "command -v " + program}, {.program = "sh"}).status == 0;
}

struct page_reader {
  const char* file;
  const char* format;
  std::vector<std::string> check;
};

class pages : public testing::TestWithParam<page_reader> {};

}  // namespace

TEST_P(pages, is_what_the_command_generates_and_names_every_option) {
  const std::string text = read_file(page(GetParam().file));
  EXPECT_EQ(text, run({"--generate", GetParam().format}).out);
  for (const char* word : {"dedup", "crlf", "report", "merge", "reference", "table"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word;
  }
}

TEST_P(pages, parses) {
  std::vector<std::string> arguments = GetParam().check;
  const std::string program = arguments.front();
  if (!is_there(program)) GTEST_SKIP() << program << " is not installed";
  arguments.erase(arguments.begin());
  arguments.push_back(page(GetParam().file));
  const outcome result = run(arguments, {.program = program});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "");
}

INSTANTIATE_TEST_SUITE_P(
    all, pages,
    testing::Values(page_reader{"octobloom.1", "man", {"groff", "-man", "-ww", "-z", "-Tutf8"}},
                    page_reader{"octobloom.bash", "bash", {"bash", "-n"}},
                    page_reader{"_octobloom", "zsh", {"zsh", "-n"}},
                    page_reader{"octobloom.fish", "fish", {"fish", "--no-execute"}}),
    [](const auto& test) { return std::string(test.param.format); });

TEST(completion, bash_offers_what_fits) {
  const auto completed = [](const std::string& words) {
    const std::string script = "source '" + page("octobloom.bash") + "'; COMP_WORDS=(" + words +
                               "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _octobloom; "
                               "echo \"${COMPREPLY[@]}\"";
    return run({"--norc", "-c", script}, {.program = "bash"}).out;
  };
  EXPECT_EQ(completed("octobloom de"), "dedup\n");
  EXPECT_EQ(completed("octobloom dedup --on-full ''"), "warn error grow\n");
  EXPECT_EQ(completed("octobloom dedup --eng"), "--engine\n");
  EXPECT_EQ(completed("octobloom check --engine r"), "reference\n");
  EXPECT_EQ(completed("octobloom dedup -n ''"), "\n");
  EXPECT_EQ(completed("octobloom dedup --window ''"), "\n");
  EXPECT_EQ(completed("octobloom --ver"), "--version\n");
  EXPECT_EQ(completed("octobloom dedup -q " OCTOBLOOM_PAGES "/octobloom.f"),
            OCTOBLOOM_PAGES "/octobloom.fish\n")
      << "a flag has no value, files come after it";
}

TEST(completion, fish_offers_what_fits) {
  if (!is_there("fish")) GTEST_SKIP() << "fish is not installed";
  const outcome result =
      run({"--no-config", "-c",
           "source '" + page("octobloom.fish") + "'; complete -C 'octobloom dedup --on-full '"},
          {.environment = {{"HOME", "/nonexistent"}}, .program = "fish"});
  for (const char* word : {"warn", "error", "grow"}) {
    EXPECT_NE(result.out.find(word), std::string::npos) << result.out << result.err;
  }
}

TEST(manual, has_examples_and_exit_statuses) {
  const std::string text = read_file(page("octobloom.1"));
  for (const char* heading : {".SH SYNOPSIS", ".SH EXAMPLES", ".SH \"EXIT STATUS\""}) {
    EXPECT_NE(text.find(heading), std::string::npos) << heading;
  }
}
