// create --growing, --counting, --cuckoo, remove, and dedup that grows or keeps a window.
#include <chrono>
#include <utility>

#include <gtest/gtest.h>

#include <octobloom/plan.h>

#include "cli/command.h"

using namespace octobloom_test;

namespace {

class family : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }

  /// An empty filter of that kind.
  [[nodiscard]] std::string make(const std::string& kind, const std::string& keys = "1000",
                                 const std::string& rate = "0.001") const {
    expect_success(run({"create", "--" + kind, "-n", keys, "-p", rate, "-o", path(kind)}), "");
    return path(kind);
  }

  [[nodiscard]] static nlohmann::json info(const std::string& file) {
    return run({"info", "--json", file}).json();
  }

  temporary_folder folder_;
};

}  // namespace

TEST_F(family, a_growing_filter_keeps_its_rate_beyond_its_plan) {
  const std::string file = make("growing", "1000", "0.01");
  expect_success(run({"insert", file}, numbered_lines("key", 100'000)), "");
  const nlohmann::json grown = info(file);
  EXPECT_EQ(grown.at("kind"), "growing");
  EXPECT_EQ(grown.at("planned_keys"), 1000);
  EXPECT_EQ(grown.at("inserted_keys"), 100'000);
  EXPECT_EQ(grown.at("levels").size(), 7u);
  EXPECT_LE(grown.at("current_fpr"), 0.01);
  EXPECT_EQ(grown.at("verdict"), "fine");
  expect_success(run({"check", "-c", file}, numbered_lines("key", 100'000)), "100000\n");
  const outcome strangers = run({"check", "-c", file}, numbered_lines("no", 100'000));
  EXPECT_LE(std::stoi(strangers.out), 1000);
  const outcome words = run({"info", file});
  EXPECT_NE(words.out.find("level             1,000 of 1,000 keys"), std::string::npos)
      << words.out;
}

TEST_F(family, lines_can_be_removed) {
  for (const std::string kind : {"counting", "cuckoo"}) {
    const std::string file = make(kind);
    expect_success(run({"insert", file}, numbered_lines("key", 1000)), "");
    EXPECT_EQ(info(file).at("kind"), kind);
    expect_success(run({"remove", file}, numbered_lines("key", 400)), "");
    EXPECT_EQ(info(file).at("inserted_keys"), 600);
    expect_success(run({"check", "-c", file}, numbered_lines("key", 600, 400)), "600\n");
    const outcome gone = run({"check", "-c", file}, numbered_lines("key", 400));
    EXPECT_LE(std::stoi(gone.out), 5);
  }
}

TEST_F(family, removing_what_is_not_there_is_reported_and_not_obeyed) {
  for (const std::string kind : {"counting", "cuckoo"}) {
    const std::string file = make(kind);
    expect_success(run({"insert", file}, "a\nb\nc\n"), "");
    const outcome result = run({"remove", file}, "x\nb\ny\n");
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find("2 of the 3 lines were not in"), std::string::npos) << result.err;
    expect_success(run({"remove", "--missing", file}, "b\nc\nz\n"), "b\nz\n");
    expect_success(run({"check", file}, "a\nb\nc\n"), "a\n");
  }
}

TEST_F(family, a_counting_filter_counts) {
  const std::string file = make("counting");
  std::string twenty;
  for (int i = 0; i < 20; ++i) twenty += "key\n";
  expect_success(run({"insert", file}, twenty), "");
  expect_success(run({"remove", file}, twenty.substr(4)), "");
  expect_success(run({"check", file}, "key\n"), "key\n");
  const nlohmann::json told = info(file);
  EXPECT_EQ(told.at("counter_bytes"), 4 * told.at("bytes").get<int>());
  EXPECT_EQ(told.at("saturated_counters"), told.at("k"));
}

TEST_F(family, a_full_cuckoo_filter_stays_as_it_was) {
  const std::string file = make("cuckoo", "100");
  expect_success(run({"insert", file}, numbered_lines("key", 90)), "");
  const std::string before = read_file(file);
  expect_failure(run({"insert", file}, numbered_lines("more", 500)), "is full at");
  EXPECT_EQ(read_file(file) == before, true);
  expect_success(run({"check", "-c", file}, numbered_lines("key", 90)), "90\n");
}

TEST_F(family, counting_filters_can_be_merged_and_others_cannot) {
  const std::string file = make("counting");
  const std::string other = path("other");
  expect_success(run({"create", "--counting", "-n", "1000", "-p", "0.001", "-o", other}), "");
  expect_success(run({"insert", file}, "a\nb\n"), "");
  expect_success(run({"insert", other}, "b\nc\n"), "");
  expect_success(run({"merge", "-o", path("both"), file, other}), "");
  expect_success(run({"remove", path("both")}, "a\nb\n"), "");
  expect_success(run({"check", path("both")}, "a\nb\nc\n"), "b\nc\n");
  const std::string growing = make("growing");
  expect_failure(run({"merge", "-o", path("x"), growing, growing}), "can be merged");
  expect_failure(run({"merge", "-o", path("x"), file, growing}), "holds a growing filter");
}

TEST_F(family, a_plain_filter_says_that_it_cannot_forget) {
  expect_success(run({"create", "-n", "10", "-p", "0.1", "-o", path("plain")}), "");
  expect_failure(run({"remove", path("plain")}, "a\n"), "cannot forget a line");
  expect_failure(run({"remove", make("growing")}, "a\n"), "--counting or --cuckoo");
}

TEST_F(family, a_filter_is_of_one_kind_and_sized_in_its_way) {
  expect_failure(run({"create", "--growing", "--cuckoo", "-n", "10", "-p", "0.1", "-o", path("x")}),
                 "of one kind");
  expect_failure(run({"create", "--cuckoo", "--blocks", "10", "-k", "3", "-o", path("x")}),
                 "sized by -n and -p");
  expect_failure(run({"create", "--growing", "--blocks", "10", "-k", "3", "-o", path("x")}),
                 "sized by -n and -p");
  expect_success(run({"create", "--counting", "--blocks", "10", "-k", "3", "-o", path("x")}), "");
}

TEST_F(family, dedup_of_a_pipe_grows_by_itself) {
  const std::string lines = numbered_lines("line", 50'000);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  running_command command({"dedup", "--summary", "--save", path("grown")},
                          {.stdin_descriptor = ends[0]});
  close(ends[0]);
  const std::string twice = lines + lines;
  for (std::size_t at = 0; at < twice.size();) {
    const ssize_t put = write(ends[1], twice.data() + at, twice.size() - at);
    ASSERT_GT(put, 0);
    at += static_cast<std::size_t>(put);
  }
  close(ends[1]);
  const outcome result = command.wait();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out == lines, true);
  EXPECT_EQ(info(path("grown")).at("kind"), "growing");
  expect_success(run({"dedup", "--filter", path("grown")}, "line7\nnew\n"), "new\n");
}

TEST_F(family, dedup_grows_beyond_a_plan_that_was_too_small) {
  const std::string lines = numbered_lines("https://example.org/page/", 100'000);
  const outcome plain = run({"dedup", "-n", "2000", "-p", "0.0001"}, lines);
  EXPECT_EQ(plain.status, 0);
  EXPECT_LT(count_lines(plain.out), 50'000u);
  EXPECT_NE(plain.err.find("planned for 2,000 keys"), std::string::npos) << plain.err;

  for (const std::string threads : {"1", "2", "7"}) {
    const outcome grown = run({"dedup", "-n", "2000", "-p", "0.0001", "--on-full", "grow", "-j",
                               threads, "--report", path("report")},
                              lines);
    EXPECT_EQ(grown.status, 0);
    EXPECT_EQ(grown.err, "");
    EXPECT_GE(count_lines(grown.out), 100'000u - 30);
    const auto report = nlohmann::json::parse(read_file(path("report")));
    EXPECT_LE(report.at("expected_fpr"), 0.0001);
    EXPECT_LE(report.at("expected_lost"), 10.0);
    EXPECT_GT(report.at("expected_lost"), 0.0);
  }
}

TEST_F(family, dedup_with_a_window_of_lines_forgets) {
  const std::string lines = numbered_lines("a", 100) + numbered_lines("b", 300);
  // The first hundred come again: right away they are repeats, after 300 others they are not.
  const std::string again = numbered_lines("a", 100);
  expect_success(
      run({"dedup", "--window", "150"}, again + again + lines.substr(again.size()) + again),
      again + lines.substr(again.size()) + again);
}

TEST_F(family, dedup_with_a_window_of_time_goes_on_from_its_file) {
  expect_success(run({"dedup", "--window", "12h", "-n", "1000", "--save", path("w")}, "a\nb\na\n"),
                 "a\nb\n");
  const nlohmann::json told = info(path("w"));
  EXPECT_EQ(told.at("kind"), "windowed");
  EXPECT_EQ(told.at("window_seconds"), 43'200.0);
  expect_success(run({"dedup", "--filter", path("w")}, "b\nc\n"), "c\n");
}

TEST_F(family, windows_of_time_can_be_merged_and_windows_of_lines_cannot) {
  const auto window = [&](const std::string& name, const std::string& lines,
                          const std::string& keys = "1000") {
    expect_success(run({"dedup", "--window", "12h", "-n", keys, "--save", path(name)}, lines),
                   lines);
    return path(name);
  };
  const std::string a = window("a", "a\nb\n");
  const std::string b = window("b", "b\nc\n");
  expect_success(run({"merge", "-o", path("both"), a, b}), "");
  EXPECT_EQ(info(path("both")).at("inserted_keys"), 4);
  expect_success(run({"dedup", "--filter", path("both")}, "a\nb\nc\nd\n"), "d\n");
  const std::string before = read_file(path("both"));
  expect_failure(run({"merge", "-o", path("both"), a, window("other", "d\n", "1001")}),
                 "planned keys 1000 against 1001");
  EXPECT_TRUE(read_file(path("both")) == before);
  expect_success(run({"dedup", "--window", "100", "--save", path("lines")}, "a\n"), "a\n");
  expect_failure(run({"merge", "-o", path("x"), path("lines"), path("lines")}), "no common order");
  expect_failure(run({"merge", "-o", path("x"), a, path("lines")}), "no common order");
}

TEST_F(family, a_burst_of_the_planned_lines_fits_a_window_of_time) {
  const std::string lines = numbered_lines("line ", 1'000'000);
  const outcome result = run({"dedup", "--window", "10min", "-n", "1M"}, lines);
  expect_success(result, result.out);
  EXPECT_GE(count_lines(result.out), 999'997u);  // 0.4 are expected to be lost
}

TEST_F(family, dedup_prints_a_line_again_when_its_last_print_is_old) {
  // Lines come in one go, so that they are of one time; a window of 2 s is over after 2.5 at most.
  const std::string lines = numbered_lines("a", 20'000) + numbered_lines("a", 20'000);
  write_file(path("lines"), lines);
  for (const std::string threads : {"1", "3"}) {
    const outcome result =
        run({"-c", "(cat '" + path("lines") + "'; sleep 3; echo a7; echo b; echo a7) | '" +
                       OCTOBLOOM_COMMAND "' dedup --every 2s -n 100K -j " + threads},
            {.program = "sh"});
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(result.out == numbered_lines("a", 20'000) + "a7\nb\n", true);
  }
}

TEST_F(family, seeing_a_line_puts_off_its_next_print_in_a_window_only) {
  const auto count = [](const std::string& option) {
    const auto start = std::chrono::steady_clock::now();
    const outcome result = run(
        {"-c", "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do echo a; sleep 0.25; done | '" +
                   std::string(OCTOBLOOM_COMMAND "' dedup ") + option + " -n 10"},
        {.program = "sh"});
    EXPECT_EQ(result.err, "");
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::pair(count_lines(result.out), seconds);
  };
  const auto [printed, seconds] = count("--every 1s");
  EXPECT_GE(printed, 3u) << "in 4 seconds";
  EXPECT_LE(static_cast<double>(printed), 1 + seconds);
  EXPECT_EQ(count("--window 1min").first, 1u);
  EXPECT_EQ(count("--every 1min").first, 1u);
}

TEST_F(family, dedup_every_goes_on_from_its_file) {
  expect_success(run({"dedup", "--every", "12h", "-n", "1000", "--save", path("w")}, "a\nb\na\n"),
                 "a\nb\n");
  EXPECT_EQ(info(path("w")).at("kind"), "windowed");
  EXPECT_EQ(info(path("w")).at("window_seconds"), 43'200.0);
  expect_success(run({"dedup", "--filter", path("w"), "--every", "12h"}, "b\nc\n"), "c\n");
  expect_failure(run({"dedup", "--filter", path("w"), "--every", "10min"}, "b\n"),
                 "is not the time");
  expect_failure(run({"dedup", "--filter", make("growing"), "--every", "12h"}, "b\n"), "no window");
}

TEST_F(family, dedup_refuses_an_every_that_makes_no_sense) {
  expect_failure(run({"dedup", "--every", "10min"}, "a\n"), "needs -n");
  expect_failure(run({"dedup", "--every", "5m", "-n", "10"}, "a\n"), "write 5min");
  expect_failure(run({"dedup", "--every", "1M", "-n", "10"}, "a\n"), "is no time");
  expect_failure(run({"dedup", "--every", "1h", "--window", "1h", "-n", "10"}, "a\n"),
                 "exclude each other");
  expect_failure(run({"dedup", "--every", "1h", "-n", "10", "-m", "1M"}, "a\n"), "--every");
}

TEST_F(family, a_window_of_lines_is_never_called_full) {
  std::string lines;
  for (int i = 0; i < 20'000; ++i) lines += std::to_string(i) + "\n";
  for (const std::string seed : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
    run({"dedup", "--seed", seed, "--window", "1000", "--save", path("w")}, lines);
    EXPECT_EQ(run({"info", "--json", path("w")}).json().at("verdict"), "fine") << seed;
    expect_success(run({"insert", path("w")}, ""), "");
  }
}

TEST_F(family, dedup_refuses_windows_that_make_no_sense) {
  expect_failure(run({"dedup", "--window", "0"}, "a\n"), "'0' is no window");
  expect_failure(run({"dedup", "--window", "5lightyears"}, "a\n"), "--window");
  expect_failure(run({"dedup", "--window", "1m"}, "a\n"), "write 1min or 1M");
  expect_failure(run({"dedup", "--window", "5m", "-n", "100"}, "a\n"), "write 5min or 5M");
  expect_failure(run({"dedup", "--window", "5M", "-n", "100"}, "a\n"), "a number of lines");
  expect_success(run({"dedup", "--window", "5min", "-n", "100"}, "a\na\n"), "a\n");
  expect_success(run({"dedup", "--window", "5k"}, "a\na\n"), "a\n");
  expect_failure(run({"dedup", "--window", "99999d"}, "a\n"), "hundred years");
  expect_failure(run({"dedup", "--window", "10s"}, "a\n"), "needs -n");
  expect_failure(run({"dedup", "--window", "10", "-n", "5"}, "a\n"), "-n does not go with it");
  expect_failure(run({"dedup", "--window", "10", "--on-full", "grow"}, "a\n"), "does not grow");
  expect_failure(run({"dedup", "--window", "10", "-m", "1M"}, "a\n"),
                 "-m does not go with --window");
  expect_failure(run({"dedup", "-m", "1M", "--on-full", "grow"}, "a\n"), "give one of them");
  expect_success(run({"create", "-n", "10", "-p", "0.1", "-o", path("plain")}), "");
  expect_failure(run({"dedup", "--filter", path("plain"), "--on-full", "grow"}, "a\n"),
                 "cannot grow");
  expect_failure(run({"dedup", "--filter", path("plain"), "--window", "10"}, "a\n"),
                 "does not go with it");
  expect_failure(run({"dedup", "--filter", make("counting")}, "a\n"), "holds a counting filter");
}
