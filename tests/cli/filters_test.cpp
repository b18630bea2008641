// create, insert, check, merge, info: filter files from the command line.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <octobloom/file.h>
#include <octobloom/filter.h>

#include "cli/command.h"

using namespace octobloom_test;

namespace {

class filters : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }

  /// A filter of that name, with lines in it.
  std::string make(const std::string& name, const std::string& lines,
                   std::vector<std::string> size = {"-n", "10000", "-p", "0.001"}) const {
    std::vector<std::string> arguments{"create", "-o", path(name)};
    arguments.insert(arguments.end(), size.begin(), size.end());
    expect_success(run(arguments), "");
    if (!lines.empty()) expect_success(run({"insert", path(name)}, lines), "");
    return path(name);
  }

  [[nodiscard]] static nlohmann::json info(const std::string& file) {
    return run({"info", "--json", file}).json();
  }

  temporary_folder folder_;
};

std::string body_of(const std::string& file) {
  return read_file(file).substr(octobloom::file_header_bytes);
}

}  // namespace

TEST_F(filters, of_the_spam_list_have_the_golden_bytes) {
  std::string mails;
  for (int i = 0; i < 2000; ++i) mails += "spam" + std::to_string(i) + "@malicious.com\n";
  for (const std::string engine : {"reference", "auto"}) {
    for (const std::string threads : {"1", "2", "3", "8"}) {
      const std::string file = path("mails-" + engine + threads);
      expect_success(run({"create", "--blocks", "160", "-k", "7", "-o", file}), "");
      expect_success(run({"insert", "--engine", engine, "-j", threads, file}, mails), "");
      EXPECT_EQ(body_of(file), body_of(golden_path("mails-k7.octobloom")));
    }
  }
}

TEST_F(filters, are_created_empty) {
  const std::string file = make("f", "");
  const nlohmann::json made = info(file);
  EXPECT_EQ(made.at("kind"), "plain");
  EXPECT_EQ(made.at("version"), 1);
  EXPECT_EQ(made.at("hash"), "xxh64");
  EXPECT_EQ(made.at("seed"), 0);
  EXPECT_EQ(made.at("planned_keys"), 10'000);
  EXPECT_EQ(made.at("target_fpr"), 0.001);
  EXPECT_EQ(made.at("inserted_keys"), 0);
  EXPECT_EQ(made.at("fill"), 0.0);
  EXPECT_EQ(made.at("estimated_keys"), 0.0);
  EXPECT_EQ(made.at("current_fpr"), 0.0);
  EXPECT_EQ(made.at("verdict"), "fine");
  EXPECT_EQ(made.at("bytes"), 64 * made.at("blocks").get<std::uint64_t>());
  EXPECT_EQ(made.at("families"), nlohmann::json::array());
  EXPECT_EQ(made.size(), 15u);
  EXPECT_EQ(std::filesystem::file_size(file), made.at("bytes").get<std::uint64_t>() + 128);
}

TEST_F(filters, take_a_seed) {
  EXPECT_EQ(info(make("a", "", {"--blocks", "4", "-k", "8", "--seed", "42"})).at("seed"), 42);
  EXPECT_EQ(info(make("b", "", {"--blocks", "4", "-k", "8", "--seed", "0x2a"})).at("seed"), 42);
  const auto random = [&](const char* name) {
    return info(make(name, "", {"--blocks", "4", "-k", "8", "--seed", "random"})).at("seed");
  };
  EXPECT_NE(random("c"), random("d"));
  expect_failure(run({"insert", "--seed", "43", path("a")}, "x\n"), "has the seed 42");
  expect_success(run({"insert", "--seed", "42", path("a")}, "x\n"), "");
}

TEST_F(filters, tell_members_from_strangers) {
  const std::string file = make("f", numbered_lines("in", 10'000));
  expect_success(run({"check", file}, numbered_lines("in", 10'000)), numbered_lines("in", 10'000));
  EXPECT_EQ(run({"check", "-c", file}, numbered_lines("in", 10'000)).out, "10000\n");

  const std::string strangers = numbered_lines("out", 100'000);
  const outcome suspected = run({"check", file}, strangers);
  const outcome cleared = run({"check", "-v", file}, strangers);
  EXPECT_EQ(suspected.status, 0);
  EXPECT_EQ(cleared.status, 0);
  EXPECT_EQ(count_lines(suspected.out) + count_lines(cleared.out), 100'000u);
  EXPECT_EQ(run({"check", "-c", file}, strangers).out,
            std::to_string(count_lines(suspected.out)) + "\n");
  EXPECT_EQ(run({"check", "-vc", file}, strangers).out,
            std::to_string(count_lines(cleared.out)) + "\n");
  const double rate = static_cast<double>(count_lines(suspected.out)) / 100'000;
  EXPECT_NEAR(rate, 0.001, 5 * 0.0001);
  const nlohmann::json report = run({"check", "-c", "--json", file}, strangers).json();
  EXPECT_EQ(report.at("lines"), 100'000);
  EXPECT_EQ(report.at("count"), count_lines(suspected.out));
}

TEST_F(filters, check_the_same_lines_at_any_number_of_threads) {
  const std::string file = make("f", numbered_lines("in", 5'000));
  write_file(path("lines"), numbered_lines("in", 200'000));
  const outcome one = run({"check", "-j", "1", file, path("lines")});
  EXPECT_GE(count_lines(one.out), 5'000u);
  for (const std::string threads : {"2", "3", "8", "64"}) {
    EXPECT_EQ(run({"check", "-j", threads, file, path("lines")}).out, one.out) << threads;
  }
}

TEST_F(filters, that_know_nothing_give_status_1) {
  const std::string file = make("f", "a\n");
  EXPECT_EQ(run({"check", file}, "b\n").status, 1);
  EXPECT_EQ(run({"check", file}, "").status, 1);
  EXPECT_EQ(run({"check", "-c", file}, "b\n").status, 1);
  EXPECT_EQ(run({"check", "-c", file}, "b\n").out, "0\n");
  EXPECT_EQ(run({"check", "-v", file}, "a\n").status, 1);
  EXPECT_EQ(run({"check", "-v", file}, "b\n").status, 0);
}

TEST_F(filters, read_lines_by_the_rules) {
  const std::string file = make("f", "a\nb\r\nlast");
  EXPECT_EQ(run({"check", file}, "b\nlast\n").out, "last\n");
  EXPECT_EQ(run({"check", file}, "b\r\nlast").out, "b\r\nlast\n");
  EXPECT_EQ(run({"check", "--crlf", file}, "a\r\nb\r\n").out, "a\r\n");
  const std::string nul = make("z", "");
  using namespace std::string_literals;
  expect_success(run({"insert", "-z", nul}, "one\ntwo\0three\0four"s), "");
  EXPECT_EQ(info(nul).at("inserted_keys"), 3);
  expect_success(run({"check", "-z", nul}, "one\ntwo\0one\0four\0"s), "one\ntwo\0four\0"s);
}

TEST_F(filters, take_files_stdin_and_names_like_verbs) {
  const std::string file = make("f", "");
  write_file(path("check"), "from a file\n");
  expect_success(
      run({"insert", file, "check", "-"}, {.input = "from stdin\n", .folder = folder_.file("")}),
      "");
  expect_success(run({"check", file}, "from stdin\nfrom a file\n"), "from stdin\nfrom a file\n");
  write_file(path("-dash"), "dash\n");
  expect_success(run({"insert", file, "--", "-dash"}, {.folder = folder_.file("")}), "");
  expect_success(run({"check", file}, "dash\n"), "dash\n");
  EXPECT_EQ(info(file).at("inserted_keys"), 3);
}

TEST_F(filters, stay_as_they_are_after_an_error) {
  const std::string file = make("f", "a\n");
  const std::string before = read_file(file);
  expect_failure(run({"insert", file, path("missing")}), "missing: cannot be read");
  expect_failure(run({"insert", file, folder_.file("")}), "Is a directory");
  EXPECT_EQ(read_file(file), before);
  EXPECT_EQ(folder_.entries(), 1u);
  expect_failure(run({"insert", path("none")}, "a\n"), "none: cannot be opened");
  expect_failure(run({"check", path("none")}, "a\n"), "none: cannot be opened");
  expect_failure(run({"info", path("none")}), "none: cannot be opened");
  expect_failure(run({"create", "-n", "9", "-p", "0.1", "-o", path("no/f")}), "no/f");
  EXPECT_EQ(folder_.entries(), 1u);
}

TEST_F(filters, keep_their_mode_and_links) {
  const std::string file = make("f", "");
  ASSERT_EQ(chmod(file.c_str(), 0640), 0);
  std::filesystem::create_symlink(file, path("link"));
  expect_success(run({"insert", path("link")}, "a\n"), "");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  struct stat status {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0640u);
  EXPECT_EQ(info(file).at("inserted_keys"), 1);
}

TEST_F(filters, that_are_damaged_are_refused_by_every_verb) {
  const std::string good = make("good", numbered_lines("k", 1'000));
  const std::string bytes = read_file(good);
  const auto damaged = [&](const std::string& name, std::string content) {
    write_file(path(name), content);
    return path(name);
  };
  std::string flipped = bytes;
  flipped[5'000] = static_cast<char>(flipped[5'000] ^ 1);
  std::string header = bytes;
  header[16] = static_cast<char>(header[16] ^ 1);
  const std::vector<std::pair<std::string, std::string>> files{
      {damaged("flipped", flipped), "the body's checksum"},
      {damaged("header", header), "the header's checksum"},
      {damaged("cut", bytes.substr(0, bytes.size() - 1)), "cut off"},
      {damaged("short", bytes.substr(0, 100)), "100 bytes long"},
      {damaged("long", bytes + "x"), "appended"},
      {damaged("empty", ""), "0 bytes long"},
      {damaged("text", numbered_lines("text", 100)), "not a filter file"}};
  for (const auto& [file, words] : files) {
    const std::string before = read_file(file);
    expect_failure(run({"info", file}), words);
    expect_failure(run({"check", file}, "a\n"), words);
    expect_failure(run({"insert", file}, "a\n"), words);
    expect_failure(run({"merge", "-o", path("merged"), file, good}), words);
    expect_failure(run({"merge", "-o", path("merged"), good, file}), words);
    expect_failure(run({"dedup", "--filter", file}, "a\n"), words);
    EXPECT_EQ(read_file(file), before);
    EXPECT_FALSE(std::filesystem::exists(path("merged")));
  }
  EXPECT_EQ(run({"info", "--no-verify", path("flipped")}).status, 0);
  EXPECT_EQ(run({"check", "--no-verify", path("flipped")}, "k1\n").status, 0);
  EXPECT_EQ(run({"info", "--no-verify", path("header")}).status, 2);
  EXPECT_EQ(run({"info", folder_.file("")}).status, 2);
}

TEST_F(filters, of_hashes_take_no_lines) {
  octobloom::filter(octobloom::plan_with_blocks(4, 8), {.hashing = octobloom::key_hashing::caller})
      .save(path("hashes"));
  EXPECT_EQ(info(path("hashes")).at("hash"), "caller");
  for (const char* verb : {"insert", "check"}) {
    expect_failure(run({verb, path("hashes")}, "a\n"), "takes no lines");
  }
  expect_failure(run({"dedup", "--filter", path("hashes")}, "a\n"), "takes no lines");
}

TEST_F(filters, merge) {
  const std::string a = make("a", numbered_lines("a", 1'000));
  const std::string b = make("b", numbered_lines("b", 1'000));
  const std::string c = make("c", numbered_lines("c", 1'000));
  expect_success(run({"merge", "-o", path("all"), a, b, c}), "");
  const std::string lines =
      numbered_lines("a", 1'000) + numbered_lines("b", 1'000) + numbered_lines("c", 1'000);
  expect_success(run({"check", path("all")}, lines), lines);
  const nlohmann::json merged = info(path("all"));
  EXPECT_EQ(merged.at("inserted_keys"), 3'000);
  EXPECT_NEAR(merged.at("estimated_keys"), 3'000, 60);
  EXPECT_EQ(merged.at("planned_keys"), 10'000);
  expect_success(run({"merge", "-o", a, a, b, c}), "");
  EXPECT_EQ(read_file(a), read_file(path("all")));
}

TEST_F(filters, of_different_shape_do_not_merge) {
  const std::string a = make("a", "x\n", {"--blocks", "16", "-k", "8"});
  const std::string before = read_file(a);
  const auto other = [&](std::vector<std::string> size) { return make("other", "y\n", size); };
  const auto merge = [&](const std::string& file) { return run({"merge", "-o", a, a, file}); };
  expect_failure(merge(other({"--blocks", "17", "-k", "8"})), "blocks 16 against 17");
  expect_failure(merge(other({"--blocks", "16", "-k", "9"})), "k 8 against 9");
  expect_failure(merge(other({"--blocks", "16", "-k", "8", "--seed", "7"})), "seed 0 against 7");
  EXPECT_EQ(read_file(a), before);
}

TEST_F(filters, say_when_they_are_too_full) {
  const std::string file = make("f", "", {"-n", "1000", "-p", "0.01"});
  expect_success(run({"insert", file}, numbered_lines("k", 900)), "");
  const outcome over = run({"insert", "-q", file}, numbered_lines("k", 20'000));
  EXPECT_EQ(over.status, 0);
  EXPECT_NE(over.err.find("over-full"), std::string::npos) << over.err;
  EXPECT_NE(over.err.find("planned for 1,000 keys"), std::string::npos) << over.err;
  const nlohmann::json state = info(file);
  EXPECT_EQ(state.at("verdict"), "over-full");
  EXPECT_GT(state.at("current_fpr"), 0.9);

  // Every bit of one block set: no estimate any more.
  const std::string tiny = make("tiny", "", {"--blocks", "1", "-k", "8"});
  (void)run({"insert", tiny}, numbered_lines("k", 100'000));
  EXPECT_TRUE(info(tiny).at("estimated_keys").is_null());
  EXPECT_EQ(info(tiny).at("fill"), 1.0);
  EXPECT_EQ(info(tiny).at("verdict"), "over-full");
  EXPECT_NE(run({"info", tiny}).out.find("every bit is set"), std::string::npos);
}

TEST_F(filters, take_no_other_files_place_unless_told_to) {
  const std::string filter = make("filter", "", {"-n", "100", "-p", "0.01"});
  const std::string notes = path("notes.txt");
  // As long as a filter's header, or shorter.
  for (const std::string& text : {std::string("milk\n"), std::string(500, 'x')}) {
    write_file(notes, text);
    const std::vector<std::vector<std::string>> commands{
        {"create", "-n", "10", "-p", "0.1", "-o", notes},
        {"create", "--growing", "-n", "10", "-p", "0.1", "-o", notes},
        {"merge", "-o", notes, filter, filter},
        {"dedup", "-n", "10", "--save", notes}};
    for (std::vector<std::string> command : commands) {
      expect_failure(run(command, "a\n"), "--force");
      EXPECT_EQ(read_file(notes) == text, true) << command.front();
      command.emplace_back("--force");
      EXPECT_EQ(run(command, "a\n").status, 0);
      EXPECT_EQ(run({"info", notes}).status, 0) << command.front();
      // A filter that is there is replaced.
      command.pop_back();
      EXPECT_EQ(run(command, "a\n").status, 0);
      write_file(notes, text);
    }
  }
  // Nothing is lost with an empty file, and what is no file is written as ever.
  write_file(path("empty"), "");
  expect_success(run({"create", "-n", "10", "-p", "0.1", "-o", path("empty")}), "");
  expect_success(run({"create", "-n", "10", "-p", "0.1", "-o", "/dev/null"}), "");
  EXPECT_EQ(run({"create", "-n", "10", "-p", "0.1", "-o", "/dev/stdout"}).out.substr(0, 8),
            "OCTOBLM\n");
}

TEST_F(filters, do_not_feed_a_command_with_its_own_output) {
  const std::string filter = make("filter", "", {"-n", "100", "-p", "0.01"});
  const std::string members = path("members");
  expect_success(run({"create", "--counting", "-n", "100", "-p", "0.01", "-o", members}), "");
  const std::string lines = path("lines");
  write_file(lines, numbered_lines("k", 10));
  expect_success(run({"insert", filter, lines}), "");
  ASSERT_EQ(link(lines.c_str(), path("same").c_str()), 0);
  const auto appended = [&](const std::string& arguments, const std::string& redirection) {
    return run({"-c", "timeout 20 '" OCTOBLOOM_COMMAND "' " + arguments + " " + redirection},
               {.program = "sh"});
  };
  for (const std::string& command : {"check '" + filter + "'", "check -v '" + filter + "'",
                                     "remove --missing '" + members + "'", std::string("dedup")}) {
    for (const std::string& name : {lines, path("same")}) {
      for (const std::string& input : {" '" + lines + "'", " - < '" + lines + "'"}) {
        expect_failure(appended(command + input, ">> '" + name + "'"), "input and output at once");
      }
    }
  }
  expect_failure(appended("check '" + filter + "' '" + lines + "'", ">> '" + filter + "'"),
                 "input and output at once");
  EXPECT_EQ(read_file(lines), numbered_lines("k", 10));
  // A number that comes last feeds nothing.
  expect_success(appended("check -c '" + filter + "' '" + lines + "'", ">> '" + lines + "'"), "");
  EXPECT_EQ(read_file(lines), numbered_lines("k", 10) + "10\n");
}

TEST_F(filters, lose_nothing_to_two_inserts_at_once) {
  const std::string file = make("f", "", {"-n", "400000", "-p", "1e-6"});
  std::vector<std::unique_ptr<running_command>> writers;
  std::string all;
  for (int i = 0; i < 8; ++i) {
    const std::string lines = numbered_lines("writer" + std::to_string(i) + "-", 20'000);
    all += lines;
    writers.push_back(std::make_unique<running_command>(std::vector<std::string>{"insert", file},
                                                        running::setup{.input = lines}));
  }
  for (const auto& writer : writers) expect_success(writer->wait(), "");
  EXPECT_EQ(info(file).at("inserted_keys"), 160'000);
  EXPECT_EQ(run({"check", "-c", file}, all).out, "160000\n");
  EXPECT_EQ(folder_.entries(), 1u);
}
