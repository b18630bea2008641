// dedup: first occurrences, in order, whatever the input and the number of threads.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <unordered_set>

#include "cli/command.h"

using namespace octobloom_test;
using namespace std::string_literals;

namespace {

/// The right answer, exactly.
std::string first_occurrences(const std::string& text, char separator = '\n') {
  std::unordered_set<std::string> seen;
  std::string result;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = text.find(separator, begin);
    if (end == std::string::npos) end = text.size();
    const std::string line = text.substr(begin, end - begin);
    if (seen.insert(line).second) result += line + separator;
    begin = end + 1;
  }
  return result;
}

/// Lines of many lengths, most of them repeats.
std::string mixed_lines(std::uint64_t count, std::uint64_t distinct) {
  random_numbers random(7);
  std::string text;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t id = random() % distinct;
    text += "line " + std::to_string(id) + std::string(id % 61, 'x') + "\n";
  }
  return text;
}

class dedup : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }

  std::string put(const std::string& name, const std::string& text) const {
    write_file(path(name), text);
    return path(name);
  }

  [[nodiscard]] nlohmann::json report(std::vector<std::string> arguments,
                                      const std::string& input) const {
    arguments.insert(arguments.begin(), {"dedup", "--report", path("report")});
    const outcome result = run(arguments, input);
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(read_file(path("report")));
  }

  temporary_folder folder_;
};

}  // namespace

TEST_F(dedup, prints_first_occurrences_in_order) {
  expect_success(run({"dedup", "-n", "100"}, "b\na\nb\n"), "b\na\n");
  expect_success(run({"dedup", "-n", "100", "-"}, "b\na\nb\n"), "b\na\n");
  expect_success(run({"dedup", "-n", "100"}, ""), "");
}

TEST_F(dedup, reads_lines_by_the_rules) {
  const std::vector<std::string> n{"dedup", "-n", "100"};
  expect_success(run(n, "a\nb\na"), "a\nb\n");
  expect_success(run(n, "a"), "a\n");
  expect_success(run(n, "\n\na\n\n"), "\na\n");
  expect_success(run(n, "a\r\na\n"), "a\r\na\n");
  expect_success(run(n, "a\0b\na\0c\na\0b\n"s), "a\0b\na\0c\n"s);
  expect_success(run(n, "\xef\xbb\xbf"s + "a\na\n"), "\xef\xbb\xbf"s + "a\na\n");
  expect_success(run({"dedup", "-n", "9", "--crlf"}, "a\r\na\nb\nb\r\nc\r\r\nc\r\nd\r"),
                 "a\r\nb\nc\r\r\nc\r\nd\r\n");
  expect_success(run({"dedup", "-n", "9", "-z"}, "a\nb\0a\nb\0c"s), "a\nb\0c\0"s);
}

TEST_F(dedup, keeps_long_lines_that_differ_in_the_last_byte) {
  const std::string line(69'999, 'x');
  const std::string text = line + "a\n" + line + "b\n" + line + "a\n";
  expect_success(run({"dedup", "-n", "100"}, text), line + "a\n" + line + "b\n");
}

TEST_F(dedup, lines_longer_than_any_buffer) {
  std::string text;
  for (const std::size_t length : {262'143u, 262'144u, 262'145u, 1'000'000u, 5'000'000u}) {
    for (const char last : {'a', 'b', 'a'}) {
      text += std::string(length, 'x') + last + "\nshort\n";
    }
  }
  const std::string expected = first_occurrences(text);
  for (const std::string threads : {"1", "2", "8"}) {
    const outcome piped = run({"dedup", "-n", "100", "-j", threads}, text);
    EXPECT_TRUE(piped.out == expected) << threads << " " << piped.err;
    const outcome from_file = run({"dedup", "-j", threads, put("in", text)});
    EXPECT_TRUE(from_file.out == expected) << threads << " " << from_file.err;
  }
}

TEST_F(dedup, same_bytes_at_any_number_of_threads_twenty_times) {
  const std::string text = mixed_lines(trials(300'000, 60'000), 100'000);
  const std::string expected = first_occurrences(text);
  const std::string in = put("in", text);
  for (std::uint64_t round = 0; round < trials(20, 3); ++round) {
    for (int threads = 1; threads <= 8; ++threads) {
      const outcome result = run({"dedup", "-j", std::to_string(threads), in});
      ASSERT_TRUE(result.out == expected) << "round " << round << ", threads " << threads;
      ASSERT_EQ(result.err, "");
    }
  }
}

TEST_F(dedup, same_bytes_from_a_pipe_and_with_every_engine) {
  const std::string text = mixed_lines(100'000, 30'000);
  const std::string expected = first_occurrences(text);
  const std::string in = put("in", text);
  for (const std::string engine : {"auto", "reference"}) {
    for (const std::string threads : {"1", "2", "5"}) {
      const outcome piped =
          run({"-c", "cat '" + in + "' | '" OCTOBLOOM_COMMAND "' dedup -n 100K --engine " + engine +
                         " -j " + threads},
              {.program = "sh"});
      EXPECT_TRUE(piped.out == expected) << engine << threads << piped.err;
      EXPECT_TRUE(run({"dedup", "--engine", engine, "-j", threads}, {.stdin_file = in}).out ==
                  expected);
    }
  }
}

TEST_F(dedup, several_inputs_are_one_text_and_never_glued) {
  const std::string a = put("a", "one\ntwo");
  const std::string b = put("b", "three\none\n");
  expect_success(run({"dedup", a, b}), "one\ntwo\nthree\n");
  expect_success(run({"dedup", "-n", "10", a, "-", b}, "two\nfour"), "one\ntwo\nfour\nthree\n");
  std::vector<std::string> many{"dedup"};
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    many.push_back(put("part" + std::to_string(i), std::to_string(i) + "\nsame"));
    expected += std::to_string(i) + "\n" + (i == 0 ? "same\n" : "");
  }
  expect_success(run(many), expected);
}

TEST_F(dedup, sizes_itself_by_the_length_of_files) {
  const std::string in = put("in", numbered_lines("k", 50'000) + "last");
  EXPECT_EQ(count_lines(run({"dedup", in}).out), 50'001u);
  // Redirected, it is a file too, from where it stands.
  EXPECT_EQ(count_lines(run({"dedup"}, {.stdin_file = in}).out), 50'001u);
  const outcome rest =
      run({"-c", "(read line; '" OCTOBLOOM_COMMAND "' dedup) < '" + in + "' | head -n 1"},
          {.program = "bash"});
  EXPECT_EQ(rest.out, "k1\n");
  // An empty file, and one whose length the system does not tell.
  expect_success(run({"dedup", put("empty", "")}), "");
  EXPECT_EQ(run({"dedup", "/proc/self/status"}).status, 0);
  // A pipe has no length: the filter grows, unless that is not wanted.
  for (const std::string options : {"", " -p 0.01", " --on-full grow"}) {
    const std::string command = "echo a | '" OCTOBLOOM_COMMAND "' dedup" + options;
    expect_success(run({"-c", command}, {.program = "sh"}), "a\n");
  }
  for (const std::string options : {" --on-full error", " --on-full warn -p 0.01"}) {
    const std::string command = "echo a | '" OCTOBLOOM_COMMAND "' dedup" + options;
    expect_failure(run({"-c", command}, {.program = "sh"}), "give -n");
  }
}

TEST_F(dedup, estimates_never_fall_short_however_the_lines_lie) {
  // Beyond 4 MiB the estimate samples: short lines in one half, long ones in the other.
  std::string text = numbered_lines("", 700'000);
  for (int i = 0; i < 5'000; ++i) text += std::to_string(i) + std::string(1'000, 'y') + "\n";
  const std::string in = put("in", text);
  const outcome result = run({"dedup", "--on-full", "error", "--report", path("r"), in});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count_lines(result.out), 705'000u);
  const auto bytes = nlohmann::json::parse(read_file(path("r"))).at("filter_bytes");
  EXPECT_LT(bytes, 8'000'000) << "not more than twice what 705,000 lines take";
}

TEST_F(dedup, a_guess_is_outgrown_when_lines_hide_between_the_samples) {
  // 8 MiB: lines of 1,000 bytes where it is sampled, 8 bytes between.
  constexpr std::size_t size = std::size_t{8} << 20;
  constexpr std::size_t step = (size - 65'536) / 63;
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) {
    const std::string number = std::to_string(10'000'000 + i);
    text += number.substr(1) + (text.size() % step < 70'000 ? std::string(992, 'y') : "") + "\n";
  }
  const std::string in = put("in", text);
  for (const std::string threads : {"1", "4"}) {
    const outcome result =
        run({"dedup", "-j", threads, "--report", path("r"), "--save", path("saved"), in});
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_TRUE(result.out == text) << count_lines(result.out) << " of " << count_lines(text);
    const nlohmann::json figures = nlohmann::json::parse(read_file(path("r")));
    EXPECT_LE(figures.at("expected_fpr"), 1e-6);
    EXPECT_LE(figures.at("expected_lost"), 1.0);
  }
  const nlohmann::json saved = run({"info", "--json", path("saved")}).json();
  EXPECT_EQ(saved.at("kind"), "growing");
  EXPECT_EQ(saved.at("verdict"), "fine");
  EXPECT_GT(saved.at("levels").size(), 2u);
  expect_success(run({"dedup", "--filter", path("saved"), in, "-"}, "one more\n"), "one more\n");
}

TEST_F(dedup, a_guess_that_holds_takes_one_filter_of_that_size) {
  const std::string in = put("in", numbered_lines("k", 100'000));
  expect_success(run({"dedup", "--report", path("r"), "--save", path("saved"), in}),
                 numbered_lines("k", 100'000));
  const nlohmann::json saved = run({"info", "--json", path("saved")}).json();
  EXPECT_EQ(saved.at("kind"), "plain");
  EXPECT_EQ(saved.at("planned_keys"), 100'001);
  EXPECT_LE(saved.at("target_fpr"), 1e-6);
  // A plain filter of so many lines at 1e-6 takes 39.03 bits a line.
  const double bytes = nlohmann::json::parse(read_file(path("r"))).at("filter_bytes");
  EXPECT_GT(bytes, 100'000 * 39.0 / 8);
  EXPECT_LT(bytes, 100'000 * 40.1 / 8);
}

TEST_F(dedup, a_file_that_grows_meanwhile_loses_nothing) {
  const std::string in = put("in", numbered_lines("a", 100'000));
  write_file(path("more"), numbered_lines("b", 300'000));
  // With one thread and a pipe that nobody empties it stands still after 400 KiB or so.
  const std::string script = "'" OCTOBLOOM_COMMAND "' dedup -j 1 '" + in +
                             "' | (read first; cat '" + path("more") + "' >> '" + in +
                             "'; echo \"$first\"; cat)";
  const outcome result = run({"-c", script}, {.program = "sh"});
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(result.out == numbered_lines("a", 100'000) + numbered_lines("b", 300'000))
      << count_lines(result.out);
}

TEST_F(dedup, a_length_of_0_tells_nothing) {
  const std::string file = "/proc/kallsyms";
  const std::string text = read_file(file);
  if (text.empty()) GTEST_SKIP() << "this system has no " << file;
  EXPECT_TRUE(run({"dedup", file}).out == first_occurrences(text));
}

TEST_F(dedup, what_cannot_grow_is_refused_at_the_start) {
  for (const std::string rate : {"1e-8", "2e-8", "5e-8"}) {
    const std::string command = "echo a | '" OCTOBLOOM_COMMAND "' dedup -p " + rate;
    expect_failure(run({"-c", command}, {.program = "sh"}), "give -n the number of distinct lines");
    expect_success(run({"-c", command + " -n 100"}, {.program = "sh"}), "a\n");
  }
  expect_success(run({"-c", "echo a | '" OCTOBLOOM_COMMAND "' dedup -p 1e-7"}, {.program = "sh"}),
                 "a\n");
  // A file's lines can be counted, and then nothing has to grow.
  const std::string in = put("in", numbered_lines("k", 300'000) + "last");
  const outcome counted = run({"dedup", "-p", "1e-8", "--save", path("saved"), in});
  EXPECT_EQ(counted.err, "");
  EXPECT_EQ(count_lines(counted.out), 300'001u);
  EXPECT_EQ(run({"info", "--json", path("saved")}).json().at("planned_keys"), 300'001);
  expect_failure(run({"dedup", "-p", "1e-8", "--on-full", "grow", in}), "give -n");
}

TEST_F(dedup, the_end_of_growth_is_an_error_that_names_n) {
  const outcome result = run({"dedup", "-n", "10", "-p", "5e-8", "--on-full", "grow", "-o",
                              path("out"), "--save", path("saved")},
                             numbered_lines("k", 1'000));
  expect_failure(result, "Start with -n, the number of distinct lines");
  EXPECT_EQ(folder_.entries(), 0u);
}

TEST_F(dedup, a_guess_is_not_called_a_plan) {
  const std::string in = put("in", numbered_lines("k", 20'000));
  for (const std::string size : {"-m 1K", "-m 1K --on-full error"}) {
    const outcome result =
        run({"-c", "'" OCTOBLOOM_COMMAND "' dedup " + size + " < '" + in + "'"}, {.program = "sh"});
    EXPECT_NE(result.err.find("sized without -n for"), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find("planned for"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("-m"), std::string::npos) << result.err;
  }
}

TEST_F(dedup, takes_a_memory_size) {
  const std::string lines = numbered_lines("k", 10'000);
  const auto bytes = [&](std::vector<std::string> arguments) {
    return report(std::move(arguments), lines).at("filter_bytes").get<std::uint64_t>();
  };
  EXPECT_EQ(bytes({"-n", "10000", "-m", "16K"}), 16'384u);
  EXPECT_LT(bytes({"-n", "10000", "-m", "1G"}), 100'000u) << "no more than the best rate needs";
  EXPECT_EQ(bytes({"-m", "16K"}), 16'384u) << "stdin is a file here, so n is estimated";
  expect_failure(run({"dedup", "-n", "10M", "-p", "0.01", "-m", "1M"}, ""), "-m 1.0 MiB is too");
  // From a pipe, as many lines as fit at the default rate.
  const outcome piped =
      run({"-c", "seq 1000 | '" OCTOBLOOM_COMMAND "' dedup -m 64K --report '" + path("r") + "'"},
          {.program = "sh"});
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(count_lines(piped.out), 1'000u);
  EXPECT_NEAR(nlohmann::json::parse(read_file(path("r"))).at("filter_bytes"), 65'536, 64);
}

TEST_F(dedup, writes_a_report) {
  const nlohmann::json figures = report({"-n", "20000", "-p", "0.001", "--engine", "reference"},
                                        numbered_lines("k", 20'000) + numbered_lines("k", 5'000));
  EXPECT_EQ(figures.at("lines_in"), 25'000);
  EXPECT_NEAR(figures.at("lines_out"), 20'000, 20);
  EXPECT_EQ(figures.at("duplicates"), 25'000 - figures.at("lines_out").get<int>());
  EXPECT_NEAR(figures.at("expected_fpr"), 0.001, 0.0001);
  EXPECT_EQ(figures.at("engine"), "reference");
  EXPECT_GT(figures.at("seconds"), 0);
  EXPECT_GT(figures.at("filter_bytes"), 20'000 * 15 / 8);
  EXPECT_GT(figures.at("peak_bytes"), figures.at("filter_bytes"));
  EXPECT_EQ(figures.size(), 9u);
}

TEST_F(dedup, loses_what_it_expects_to_lose) {
  // At a rate this high the loss is large enough to compare: two-sided, five standard deviations.
  const nlohmann::json figures =
      report({"-n", "100000", "-p", "0.05"}, numbered_lines("k", 100'000));
  const double lost = 100'000 - figures.at("lines_out").get<double>();
  const double expected = figures.at("expected_lost");
  EXPECT_GT(expected, 500);
  EXPECT_NEAR(lost, expected, 5 * std::sqrt(expected));
}

TEST_F(dedup, says_loudly_that_it_is_too_full) {
  const std::string lines = numbered_lines("k", 100'000);
  const outcome result = run({"dedup", "-q", "-n", "1000", "--report", path("r")}, lines);
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.err.find("warning: the filter is over-full"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("planned for 1,000 keys"), std::string::npos) << result.err;
  const nlohmann::json figures = nlohmann::json::parse(read_file(path("r")));
  const double lost = 100'000 - static_cast<double>(count_lines(result.out));
  EXPECT_GT(lost, 50'000);
  EXPECT_NEAR(figures.at("expected_lost"), lost, 0.05 * lost);
  EXPECT_GT(figures.at("expected_fpr"), 0.99);
  EXPECT_LE(count_lines(result.err), 8u) << "loud, not endless: " << result.err;
}

TEST_F(dedup, can_end_when_it_is_full) {
  const std::string in = put("in", numbered_lines("k", 100'000));
  const outcome result = run({"dedup", "-n", "1000", "--on-full", "error", "-o", path("out"),
                              "--save", path("saved"), "--report", path("report"), in});
  expect_failure(result, "--on-full error");
  EXPECT_NE(result.err.find("planned for 1,000"), std::string::npos) << result.err;
  EXPECT_EQ(folder_.entries(), 1u) << "nothing is saved";
  expect_success(run({"dedup", "-n", "1000", "--on-full", "error"}, numbered_lines("k", 1'000)),
                 numbered_lines("k", 1'000));
}

TEST_F(dedup, remembers_yesterday) {
  const std::string seen = path("seen");
  expect_success(run({"dedup", "-n", "1000", "--save", seen}, "a\nb\na\n"), "a\nb\n");
  expect_success(run({"dedup", "--filter", seen, "--save", seen}, "b\nc\n"), "c\n");
  expect_success(run({"dedup", "--filter", seen}, "c\nd\n"), "d\n");
  expect_success(run({"dedup", "--filter", seen}, "d\na\n"), "d\n");
  expect_success(run({"check", seen}, "a\nb\nc\nd\n"), "a\nb\nc\n");
  const nlohmann::json info = run({"info", "--json", seen}).json();
  EXPECT_EQ(info.at("inserted_keys"), 3);
  EXPECT_EQ(info.at("planned_keys"), 1'000);
}

TEST_F(dedup, counts_yesterdays_lines_when_it_says_full) {
  const std::string seen = path("seen");
  (void)run({"dedup", "-n", "2000", "--save", seen}, numbered_lines("k", 1'500));
  const outcome today = run({"dedup", "--filter", seen}, numbered_lines("t", 1'000));
  EXPECT_EQ(today.status, 0);
  EXPECT_NE(today.err.find("planned for 2,000"), std::string::npos) << today.err;
  // The expected loss is today's, from yesterday's count on.
  (void)run({"dedup", "--filter", seen, "--report", path("r")}, "one more\n");
  EXPECT_LT(nlohmann::json::parse(read_file(path("r"))).at("expected_lost"), 1e-5);
}

TEST_F(dedup, keeps_the_seed_of_the_file) {
  const std::string seen = path("seen");
  expect_success(run({"dedup", "-n", "100", "--seed", "7", "--save", seen}, "a\n"), "a\n");
  expect_success(run({"dedup", "--filter", seen, "--seed", "7"}, "a\nb\n"), "b\n");
  expect_failure(run({"dedup", "--filter", seen, "--seed", "8"}, "a\n"), "has the seed 7");
  EXPECT_EQ(run({"info", "--json", seen}).json().at("seed"), 7);
}

TEST_F(dedup, input_and_output_may_be_one_file) {
  const std::string text = mixed_lines(50'000, 1'000);
  const std::string file = put("file", text);
  expect_success(run({"dedup", file, "-o", file}), "");
  EXPECT_TRUE(read_file(file) == first_occurrences(text));
  EXPECT_EQ(folder_.entries(), 1u);
  const outcome appended = run(
      {"-c", "'" OCTOBLOOM_COMMAND "' dedup '" + file + "' >> '" + file + "'"}, {.program = "sh"});
  EXPECT_EQ(appended.status, 2);
  EXPECT_NE(appended.err.find("is input and output at once"), std::string::npos) << appended.err;
}

TEST_F(dedup, an_error_leaves_the_old_output) {
  const std::string out = put("out", "old\n");
  expect_failure(run({"dedup", "-n", "9", "-o", out, path("missing")}), "missing: cannot be read");
  expect_failure(run({"dedup", "-n", "9", "-o", out, "/proc/self/mem"}), "/proc/self/mem");
  EXPECT_EQ(read_file(out), "old\n");
  EXPECT_EQ(folder_.entries(), 1u);
  expect_failure(run({"dedup", "-n", "9", "-o", path("no/out")}, "a\n"), "no/out");
}

TEST_F(dedup, all_inputs_are_looked_at_before_any_output) {
  const std::string good = put("good", "a\n");
  expect_failure(run({"dedup", "-n", "9", good, path("missing")}), "missing");
  expect_failure(run({"dedup", good, folder_.file("")}), "Is a directory");
}

TEST_F(dedup, one_file_serves_one_purpose) {
  write_file(path("lines"), "a\nb\n");
  const std::string lines = path("lines");
  const std::string out = path("out");
  expect_success(run({"create", "-n", "9", "-p", "0.1", "-o", path("known")}), "");
  const std::vector<std::vector<std::string>> clashes{
      {"--save", lines},
      {"--report", path("./lines")},
      {"-o", out, "--save", out},
      {"-o", out, "--report", out},
      {"--save", out, "--report", out},
      {"--filter", path("known"), "-o", path("known")},
      {"--filter", path("known"), "--report", path("known")}};
  for (const std::vector<std::string>& clash : clashes) {
    std::vector<std::string> arguments{"dedup", lines};
    arguments.insert(arguments.end(), clash.begin(), clash.end());
    expect_failure(run(arguments), "name the same file");
  }
  EXPECT_EQ(read_file(lines), "a\nb\n");
  EXPECT_EQ(folder_.entries(), 2u);
  expect_success(run({"dedup", "-q", lines, "-o", lines}), "");
  EXPECT_EQ(read_file(lines), "a\nb\n");
}

TEST_F(dedup, a_named_pipe_is_read_once) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string writer = "printf 'b\\na\\nb\\n' > '" + path("pipe") + "' & ";
  for (const std::string size : {"", "-n 9 "}) {
    expect_success(run({"-c", writer + "timeout 20 '" OCTOBLOOM_COMMAND "' dedup " + size + "'" +
                                  path("pipe") + "'"},
                       {.program = "sh"}),
                   "b\na\n");
  }
}

TEST_F(dedup, a_target_that_is_not_there_is_an_error) {
  const outcome result = run({"-c", "echo a | OCTOBLOOM_TARGET=none '" OCTOBLOOM_COMMAND "' dedup"},
                             {.program = "sh"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("simd"), std::string::npos) << result.err;
}

TEST_F(dedup, a_signal_leaves_no_temporary_file) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer keeps a signal back from a thread that waits in a futex";
#endif
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    int input[2];
    ASSERT_EQ(pipe(input), 0);
    running_command waiting({"dedup", "-n", "9", "-o", path("out")},
                            {.stdin_descriptor = input[0]});
    close(input[0]);
    while (!waiting.has_temporary_file_in(path(""))) usleep(1'000);
    usleep(20'000);
    waiting.signal(number);
    EXPECT_EQ(waiting.wait().status, 128 + number);
    EXPECT_EQ(folder_.entries(), 0u);
    close(input[1]);
  }
}

TEST_F(dedup, a_summary_goes_to_stderr_when_asked_for) {
  const outcome result = run({"dedup", "-n", "100", "--summary"}, "a\na\nb\n");
  EXPECT_EQ(result.out, "a\nb\n");
  EXPECT_EQ(result.err.rfind("3 lines in, 2 out, 1 repeats", 0), 0u) << result.err;
}
