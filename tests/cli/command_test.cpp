// The command line itself: verbs, numbers, errors, where words and data go.
#include <gtest/gtest.h>

#include "cli/command.h"

using namespace octobloom_test;

namespace {

const std::vector<std::string> verbs{"plan",  "create", "insert", "check",
                                     "dedup", "merge",  "info",   "bench"};

}  // namespace

TEST(command, every_verb_explains_itself_with_examples) {
  for (const std::string& verb : verbs) {
    const outcome help = run({verb, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_EQ(help.err, "");
    EXPECT_NE(help.out.find("Usage: octobloom " + verb), std::string::npos) << help.out;
    EXPECT_NE(help.out.find("Examples:\n"), std::string::npos) << help.out;
    EXPECT_EQ(run({verb, "-h"}).out, help.out);
  }
}

TEST(command, help_lists_every_verb) {
  const outcome help = run({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const std::string& verb : verbs) {
    EXPECT_NE(help.out.find("\n  " + verb + " "), std::string::npos) << verb;
  }
}

TEST(command, version) {
  const outcome version = run({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.rfind("octobloom ", 0), 0u);
}

TEST(command, no_verb_and_unknown_verbs_are_errors) {
  expect_failure(run({}), "there are: plan create insert remove check dedup");
  expect_failure(run({"deduplicate"}), "there is no verb 'deduplicate'");
  expect_failure(run({"--deduplicate"}), "--deduplicate");
}

struct bad_line {
  std::vector<std::string> arguments;
  const char* words;
};

class bad_command_line : public testing::TestWithParam<bad_line> {};

TEST_P(bad_command_line, is_an_error_that_names_the_option) {
  expect_failure(run(GetParam().arguments), GetParam().words);
}

INSTANTIATE_TEST_SUITE_P(
    numbers, bad_command_line,
    testing::Values(bad_line{{"plan", "-n", "-5", "-p", "0.01"}, "-n: '-5' is negative"},
                    bad_line{{"plan", "-n", "1.5", "-p", "0.01"}, "-n: '1.5' is not a whole"},
                    bad_line{{"plan", "-n", "1e-3", "-p", "0.01"}, "-n: '1e-3' is not a whole"},
                    bad_line{{"plan", "-n", "0", "-p", "0.01"}, "-n: '0' is outside"},
                    bad_line{{"plan", "-n", "ten", "-p", "0.01"}, "-n: 'ten' is not a number"},
                    bad_line{{"plan", "-n", "10Q", "-p", "0.01"}, "-n: '10Q' is not a number"},
                    bad_line{{"plan", "-n", "10MM", "-p", "0.01"}, "-n: '10MM' is not a number"},
                    bad_line{{"plan", "-n", "1e", "-p", "0.01"}, "-n: '1e' is not a number"},
                    bad_line{{"plan", "-n", "", "-p", "0.01"}, "-n: '' is not a number"},
                    bad_line{{"plan", "-n", "1e400", "-p", "0.01"}, "-n: '1e400' is too large"},
                    bad_line{{"plan", "-n", "99999999999999999999", "-p", "0.01"}, "too large"},
                    bad_line{{"plan", "-n", "99999999T", "-p", "0.01"}, "too large"},
                    bad_line{{"plan", "-n", "1e18", "-p", "0.01"}, "blocks"},
                    bad_line{{"plan", "-n", "1e10", "-p", "1e-10"}, "-p: '1e-10' is outside"},
                    bad_line{{"plan", "-n", "10", "-p", "0"}, "-p: '0' is outside"},
                    bad_line{{"plan", "-n", "10", "-p", "1"}, "-p: '1' is outside"},
                    bad_line{{"plan", "-n", "10", "-p", "2"}, "-p: '2' is outside"},
                    bad_line{{"plan", "-n", "10", "-p", "-0.1"}, "-p: '-0.1' is outside"},
                    bad_line{{"plan", "-n", "10", "-p", "nan"}, "-p: 'nan' is outside"},
                    bad_line{{"plan", "-n", "10", "-p", "inf"}, "-p: 'inf' is outside"},
                    bad_line{{"plan", "-n", "10", "-p", "1e-320"}, "-p: '1e-320' is outside"},
                    bad_line{{"plan", "-n", "10", "-p", "1%"}, "-p: '1%' is not a rate"},
                    bad_line{{"dedup", "-m", "-1G"}, "-m: '-1G' is negative"},
                    bad_line{{"dedup", "-m", "1.5G"}, "-m: '1.5G' is not a whole"},
                    bad_line{{"dedup", "-m", "10"}, "-m: '10' is less than"},
                    bad_line{{"dedup", "-m", "2GB"}, "-m: '2GB' is not a number"},
                    bad_line{{"dedup", "-j", "-1"}, "-j: '-1' is negative"},
                    bad_line{{"dedup", "-j", "1e9"}, "-j: '1e9' is outside"},
                    bad_line{{"dedup", "-j", "two"}, "-j: 'two' is not a number"},
                    bad_line{{"dedup", "--seed", "x"}, "--seed: 'x' is not a seed"},
                    bad_line{{"dedup", "--seed", "0x1ffffffffffffffff"}, "more than 64 bits"},
                    bad_line{{"create", "-o", "f", "--blocks", "0", "-k", "7"}, "--blocks: '0'"},
                    bad_line{{"create", "-o", "f", "--blocks", "5G", "-k", "7"}, "--blocks: '5G'"},
                    bad_line{{"create", "-o", "f", "--blocks", "5", "-k", "0"}, "-k: '0' is"},
                    bad_line{{"create", "-o", "f", "--blocks", "5", "-k", "25"}, "-k: '25' is"}));

INSTANTIATE_TEST_SUITE_P(
    options, bad_command_line,
    testing::Values(bad_line{{"plan"}, "give -n and -p, or --table"},
                    bad_line{{"plan", "-n", "10"}, "-n and -p go together"},
                    bad_line{{"plan", "-p", "0.1"}, "-n and -p go together"},
                    bad_line{{"plan", "-n", "10", "-p", "0.1", "--table"}, "--table goes without"},
                    bad_line{{"plan", "-n", "10", "-n", "11", "-p", "0.1"}, "--keys: At Most 1"},
                    bad_line{{"plan", "--no-such-thing"}, "--no-such-thing"},
                    bad_line{{"plan", "a_file"}, "a_file"},
                    bad_line{{"create", "-n", "10", "-p", "0.1"}, "-o"},
                    bad_line{{"create", "-o", "f"}, "give -n and -p, or --blocks and -k"},
                    bad_line{{"create", "-o", "f", "-n", "10"}, "give -n and -p"},
                    bad_line{{"create", "-o", "f", "-k", "7"}, "--blocks and -k go together"},
                    bad_line{{"create", "-o", "f", "-n", "9", "-k", "7"}, "two ways"},
                    bad_line{{"create", "-o", "", "-n", "9", "-p", "0.1"}, "is empty"},
                    bad_line{{"insert"}, "FILTER"}, bad_line{{"check"}, "FILTER"},
                    bad_line{{"check", "f", "--json"}, "--json goes with -c"},
                    bad_line{{"check", "f", "-z", "--crlf"}, "exclude each other"},
                    bad_line{{"info"}, "FILTER"}, bad_line{{"merge", "-o", "f"}, "FILTER"},
                    bad_line{{"merge", "f"}, "-o"},
                    bad_line{{"dedup", "-n", "9", "--filter", "f"}, "--filter brings its own size"},
                    bad_line{{"dedup", "-p", "0.1", "--filter", "f"}, "--filter brings its own"},
                    bad_line{{"dedup", "--on-full", "explode"}, "--on-full: 'explode'"},
                    bad_line{{"dedup", "--engine", "steam"}, "--engine: 'steam' is not one of"},
                    bad_line{{"dedup", "-n", "9", ""}, "is empty"},
                    bad_line{{"dedup", "--save", "-"}, "--save: '-' cannot stand for"},
                    bad_line{{"dedup", "--report", "-"}, "--report: '-' cannot stand for"},
                    bad_line{{"dedup", "--filter", "-"}, "--filter: '-' cannot stand for"},
                    bad_line{{"create", "-n9", "-p.1", "-o", "-"}, "-o: '-' cannot stand for"},
                    bad_line{{"merge", "-o", "-", "f"}, "-o: '-' cannot stand for"},
                    bad_line{{"merge", "-o", "f", "-"}, "FILTER: '-' cannot stand for"},
                    bad_line{{"insert", "--", "-"}, "FILTER: '-' cannot stand for"},
                    bad_line{{"bench", "--plot", "-"}, "--plot: '-' cannot stand for"},
                    bad_line{{"--generate", "pdf"}, "--generate: 'pdf'"}));

TEST(command, a_forced_engine_that_is_not_there_is_an_error) {
  const running::setup forced{.environment = {{"OCTOBLOOM_ENGINE", "steam"}}};
  expect_failure(run({"dedup", "-n", "10"}, forced), "no engine is called \"steam\"");
  // What is named on the command line wins.
  expect_success(run({"dedup", "-n", "10", "--engine", "reference"}, forced), "");
}

TEST(command, after_two_dashes_every_argument_is_a_name) {
  temporary_folder folder;
  const running::setup here{.input = "stdin\n", .folder = folder.file("")};
  for (const std::string name : {"a", "b", "-d", "-n", "--help", "--", "++", "[a]"}) {
    write_file(folder.file(name), name + "\n");
  }
  expect_success(run({"dedup", "--", "a", "b"}, here), "a\nb\n");
  expect_success(run({"dedup", "a", "--", "b"}, here), "a\nb\n");
  expect_success(run({"dedup", "a", "b", "--"}, here), "a\nb\n");
  expect_success(run({"dedup", "--", "-d", "a", "--help", "-n"}, here), "-d\na\n--help\n-n\n");
  expect_success(run({"dedup", "a", "--", "--", "-d"}, here), "a\n--\n-d\n");
  expect_success(run({"dedup", "a", "--", "-", "-d"}, here), "a\nstdin\n-d\n");
  expect_success(run({"dedup", "-qn", "9", "--", "-d"}, here), "-d\n");
  expect_success(run({"dedup", "-n9", "a", "--", "-n"}, here), "a\n-n\n");
  expect_success(run({"dedup", "a", "++", "[a]"}, here), "a\n++\n[a]\n");

  // After an option that takes a value it is that value.
  expect_success(run({"dedup", "-qo", "--", "a", "b"}, here), "");
  EXPECT_EQ(read_file(folder.file("--")), "a\nb\n");
  expect_success(run({"dedup", "--output", "--", "b", "--", "-d"}, here), "");
  EXPECT_EQ(read_file(folder.file("--")), "b\n-d\n");

  expect_success(run({"create", "-n9", "-p.1", "-o", "-f"}, here), "");
  expect_success(run({"insert", "--", "-f", "-d", "-n"}, here), "");
  expect_success(run({"check", "-v", "--", "-f", "a", "-d"}, here), "a\n");
  expect_success(run({"merge", "-o", "m", "./-f", "--", "-f"}, here), "");
  expect_success(run({"check", "m", "--", "-d", "-n"}, here), "-d\n-n\n");
  EXPECT_EQ(run({"info", "--", "-f"}, here).status, 0);
  expect_failure(run({"bench", "--", "-n", "9"}, here), "-n");
}

TEST(command, a_file_may_be_called_dash) {
  temporary_folder folder;
  const running::setup here{.input = "a\n", .folder = folder.file("")};
  expect_success(run({"create", "-n9", "-p.1", "-o", "./-"}, here), "");
  expect_success(run({"insert", "./-"}, here), "");
  expect_success(run({"dedup", "--filter", "./-", "-o", "-"}, here), "");
  expect_success(run({"dedup", "-o", "-"}, here), "a\n");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(command, names_in_messages_neither_begin_lines_nor_command_the_terminal) {
  const auto told = [](const std::string& name) { return run({"info", name}).err; };
  const auto expected = [](const std::string& name) {
    return "octobloom: info: " + name + ": cannot be opened: No such file or directory\n";
  };
  EXPECT_EQ(told("no\noctobloom: all is well"), expected("no\\noctobloom: all is well"));
  EXPECT_EQ(told("\033[2J\t\r\x7f"), expected("\\x1b[2J\\x09\\x0d\\x7f"));
  EXPECT_EQ(told("\u009b2J"), expected("\\xc2\\x9b2J"));
  EXPECT_EQ(told("\x9b\xff\xe2\x82"), expected("\\x9b\\xff\\xe2\\x82"));
  for (const std::string name :
       {"été", "\u00a0\u07ff\u0800\uffff\U00010000\U0010ffff", "a b~\\n"}) {
    EXPECT_EQ(told(name), expected(name));
  }

  const outcome usage = run({"dedup", "-n", "9\n\033"});
  EXPECT_EQ(count_lines(usage.err), 2u) << usage.err;
  EXPECT_EQ(usage.err.find('\033'), std::string::npos);
  temporary_folder folder;
  const std::string filter = folder.file("\033f");
  ASSERT_EQ(run({"create", "--blocks", "1", "-k", "1", "-o", filter}).status, 0);
  const outcome warning = run({"insert", filter}, numbered_lines("k", 5'000));
  EXPECT_NE(warning.err.find("/\\x1bf is over-full"), std::string::npos) << warning.err;
}

TEST(command, numbers_are_read_as_people_write_them) {
  const auto keys = [](const std::string& text) {
    return run({"plan", "--json", "-p", "0.01", "-n", text}).json().at("expected_keys");
  };
  EXPECT_EQ(keys("1000000"), 1'000'000);
  EXPECT_EQ(keys("1M"), 1'000'000);
  EXPECT_EQ(keys("1m"), 1'000'000);
  EXPECT_EQ(keys("1e6"), 1'000'000);
  EXPECT_EQ(keys("1E+6"), 1'000'000);
  EXPECT_EQ(keys("25K"), 25'000);
  EXPECT_EQ(keys("1G"), 1'000'000'000);
}

TEST(command, a_full_disk_is_an_error) {
  temporary_folder folder;
  const std::string filter = folder.file("f");
  ASSERT_EQ(run({"create", "-n", "100", "-p", "0.01", "-o", filter}).status, 0);
  ASSERT_EQ(run({"insert", filter}, "a\n").status, 0);
  const running::setup full{.input = "a\n", .stdout_file = "/dev/full"};
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"},
                                                    {"--version"},
                                                    {"--generate", "man"},
                                                    {"plan", "--table"},
                                                    {"info", filter},
                                                    {"check", filter},
                                                    {"check", "-c", filter},
                                                    {"dedup", "-n", "100"},
                                                    {"bench", "-n", "1000"},
                                                    {"dedup", "-n", "100", "-o", "/dev/full"}}) {
    const command_outcome result = run(arguments, full);
    EXPECT_EQ(result.status, 2) << arguments.front();
    EXPECT_NE(result.err.find("No space left on device"), std::string::npos) << result.err;
  }
}

TEST(command, a_closed_pipe_ends_it_quietly) {
  temporary_folder folder;
  write_file(folder.file("in"), numbered_lines("line", 200'000));
  for (const std::string threads : {"1", "2", "8"}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    running_command dedup(
        {"dedup", "-j", threads, "--save", folder.file("saved"), folder.file("in")},
        {.stdout_descriptor = ends[1]});
    close(ends[1]);
    char byte = 0;
    ASSERT_EQ(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    const outcome result = dedup.wait();
    EXPECT_EQ(result.status, 128 + SIGPIPE);
    EXPECT_EQ(result.err, "");
  }
  EXPECT_EQ(folder.entries(), 1u) << "nothing is saved after a closed pipe";
}

TEST(command, a_closed_pipe_is_noticed_while_waiting_for_input) {
  int input[2];
  int ends[2];
  ASSERT_EQ(pipe(input), 0);
  ASSERT_EQ(pipe(ends), 0);
  running_command dedup({"dedup", "-n", "100", "-j", "2"},
                        {.stdin_descriptor = input[0], .stdout_descriptor = ends[1]});
  close(input[0]);
  close(ends[1]);
  close(ends[0]);
  ASSERT_EQ(write(input[1], "a\nb\n", 4), 4);  // and the writer stays
  EXPECT_EQ(dedup.wait().status, 128 + SIGPIPE);
  close(input[1]);
}

TEST(command, lines_come_out_while_more_is_waited_for) {
  int input[2];
  int ends[2];
  ASSERT_EQ(pipe(input), 0);
  ASSERT_EQ(pipe(ends), 0);
  running_command dedup({"dedup", "-n", "100"},
                        {.stdin_descriptor = input[0], .stdout_descriptor = ends[1]});
  close(input[0]);
  close(ends[1]);
  ASSERT_EQ(write(input[1], "a\nb\na\npart", 10), 10);
  char bytes[16] = {};
  ASSERT_EQ(read(ends[0], bytes, sizeof bytes), 4);
  EXPECT_EQ(std::string(bytes), "a\nb\n");
  ASSERT_EQ(write(input[1], "ly", 2), 2);
  close(input[1]);
  ASSERT_EQ(read(ends[0], bytes, sizeof bytes), 7);
  EXPECT_EQ(std::string(bytes, 7), "partly\n");
  close(ends[0]);
  EXPECT_EQ(dedup.wait().status, 0);
}

TEST(command, a_closed_output_is_an_error_and_no_other_file_takes_its_place) {
  temporary_folder folder;
  write_file(folder.file("in"), "a\n");
  const std::string dedup = "'" OCTOBLOOM_COMMAND "' dedup '" + folder.file("in") + "'";
  const outcome closed = run({"-c", dedup + " >&-"}, {.program = "sh"});
  EXPECT_EQ(closed.status, 2);
  EXPECT_NE(closed.err.find("standard output: cannot be written"), std::string::npos) << closed.err;
  EXPECT_EQ(run({"-c", "'" OCTOBLOOM_COMMAND "' dedup -n 9 <&-"}, {.program = "sh"}).status, 2);
  EXPECT_EQ(read_file(folder.file("in")), "a\n");
}

TEST(command, progress_is_for_terminals_only) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  const int other_end = ::open(ptsname(terminal), O_RDWR | O_NOCTTY);
  ASSERT_GE(other_end, 0);
  const auto written = [&](const std::vector<std::string>& arguments,
                           std::map<std::string, std::string> environment) {
    int input[2];
    EXPECT_EQ(pipe(input), 0);
    running_command dedup(arguments, {.stdin_descriptor = input[0],
                                      .stderr_descriptor = other_end,
                                      .environment = std::move(environment)});
    close(input[0]);
    for (const char* line : {"a\n", "b\n"}) {
      EXPECT_EQ(write(input[1], line, 2), 2);
      usleep(700'000);  // progress is shown from half a second on
    }
    EXPECT_EQ(write(input[1], "c\n", 2), 2);
    close(input[1]);
    EXPECT_EQ(dedup.wait().out, "a\nb\nc\n");
    EXPECT_EQ(write(other_end, "|", 1), 1);  // where the command's words end
    std::string words;
    while (!words.ends_with('|')) {
      char bytes[256];
      const ssize_t got = read(terminal, bytes, sizeof bytes);
      if (got <= 0) break;
      words.append(bytes, static_cast<std::size_t>(got));
    }
    return words;
  };
  const std::string usual = written({"dedup", "-n", "100"}, {});
  EXPECT_NE(usual.find(" MB/s"), std::string::npos) << usual;
  EXPECT_NE(usual.find("3 lines in, 3 out"), std::string::npos) << usual;
  EXPECT_EQ(written({"dedup", "-n", "100", "-q"}, {}), "|");

  const auto warning = [&](std::map<std::string, std::string> environment) {
    return written({"dedup", "-q", "-n", "1"}, std::move(environment));
  };
  EXPECT_NE(warning({}).find("\033[1;33mwarning:\033[0m"), std::string::npos);
  const std::string plain = warning({{"NO_COLOR", "1"}});
  EXPECT_NE(plain.find("warning:"), std::string::npos);
  EXPECT_EQ(plain.find('\033'), std::string::npos) << plain;
  close(other_end);
  close(terminal);
}

TEST(plan, has_the_figures_of_the_field) {
  const command_outcome result = run({"plan", "-n", "1000000", "-p", "0.01", "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const nlohmann::json plan = result.json();
  EXPECT_EQ(plan.at("expected_keys"), 1'000'000);
  EXPECT_EQ(plan.at("target_fpr"), 0.01);
  EXPECT_EQ(plan.at("classic_bits"), 9'585'059);
  EXPECT_EQ(plan.at("classic_k"), 7);
  EXPECT_NEAR(plan.at("classic_fpr"), 0.01004, 0.000005);
  EXPECT_NEAR(plan.at("bits_per_key"), 9.9334, 0.005 * 9.9334);
  EXPECT_EQ(plan.at("k"), 6);
  EXPECT_LE(plan.at("expected_fpr"), 0.01);
  EXPECT_GT(plan.at("expected_fpr"), 0.00999);
  EXPECT_EQ(plan.at("bytes"), 64 * plan.at("blocks").get<std::uint64_t>());
  EXPECT_EQ(plan.size(), 10u);
}

TEST(plan, prints_the_ladder) {
  const nlohmann::json ladder = run({"plan", "--table", "--json"}).json();
  ASSERT_EQ(ladder.size(), 9u);
  for (const nlohmann::json& step : ladder) {
    const std::string keys = std::to_string(step.at("expected_keys").get<std::uint64_t>());
    std::ostringstream rate;
    rate << step.at("target_fpr").get<double>();
    EXPECT_EQ(step, run({"plan", "--json", "-n", keys, "-p", rate.str()}).json());
  }
  const outcome text = run({"plan", "--table"});
  EXPECT_EQ(count_lines(text.out), 10u);
  EXPECT_NE(text.out.find("9,585,059"), std::string::npos);
}

TEST(plan, of_a_large_filter_allocates_nothing) {
  const command_outcome result = run({"plan", "-n", "50G", "-p", "0.001", "--json"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_GT(result.json().at("bytes"), 90'000'000'000u);
}

TEST(bench, measures_every_engine_and_draws) {
  temporary_folder folder;
  const command_outcome result =
      run({"bench", "-n", "20000", "--json", "--plot", folder.file("bench.svg")});
  ASSERT_EQ(result.status, 0) << result.err;
  const nlohmann::json report = result.json();
  EXPECT_EQ(report.at("keys"), 20'000);
  bool reference = false;
  for (const nlohmann::json& engine : report.at("engines")) {
    if (!engine.at("available").get<bool>()) {
      EXPECT_NE(engine.at("why_unavailable"), "");
      continue;
    }
    reference = reference || engine.at("name") == "reference";
    EXPECT_TRUE(engine.at("identical").get<bool>());
    EXPECT_GT(engine.at("ns_per_key").at("insert"), 0);
    EXPECT_EQ(engine.at("ns_per_key").size(), 4u);
    EXPECT_NEAR(engine.at("measured_fpr"), 0.01, 0.004);
  }
  EXPECT_TRUE(reference);
  const std::string picture = read_file(folder.file("bench.svg"));
  EXPECT_EQ(picture.rfind("<svg ", 0), 0u);
  EXPECT_NE(picture.find(">reference</text>"), std::string::npos);
  EXPECT_NE(picture.find("</svg>"), std::string::npos);
}

TEST(bench, of_one_engine) {
  const nlohmann::json report =
      run({"bench", "-n", "1000", "--json", "--engine", "reference"}).json();
  ASSERT_EQ(report.at("engines").size(), 1u);
  EXPECT_EQ(report.at("engines").at(0).at("name"), "reference");
}
