// A file is what it is, whatever its name: who waits for whom, pipes in the place of files, files
// that are cut short, names of any length.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "cli/command.h"

using namespace octobloom_test;
using namespace std::chrono_literals;

namespace {

class files : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] running::setup here() const { return {.folder = path("")}; }
  [[nodiscard]] running::setup with_input(int descriptor) const {
    return {.stdin_descriptor = descriptor, .folder = path("")};
  }
  outcome run_here(const std::vector<std::string>& arguments, const std::string& input = "") const {
    outcome result = run(arguments, running::setup{.input = input, .folder = path("")});
    EXPECT_EQ(result.status, 0) << result.err;
    return result;
  }

  [[nodiscard]] bool is_locked(const std::string& name) const {
    const int file = ::open(path(name).c_str(), O_RDONLY | O_CLOEXEC);
    const bool locked = flock(file, LOCK_EX | LOCK_NB) != 0;
    ::close(file);
    return locked;
  }
  /// Waits until something is so; false when it never is.
  template <class Condition>
  static bool eventually(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(2ms);
    }
    return true;
  }

  temporary_folder folder_;
};

/// A pipe whose ends the test closes when it likes.
class line {
 public:
  line() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  }
  line(const line&) = delete;
  line& operator=(const line&) = delete;
  ~line() {
    close_reader();
    close_writer();
  }
  [[nodiscard]] int reader() const { return ends_[0]; }
  void write(const std::string& text) const {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close_reader() { close_end(ends_[0]); }
  void close_writer() { close_end(ends_[1]); }

 private:
  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  std::array<int, 2> ends_{};
};

/// A writer to the filter f, and the lines of "mine\nother\n" that are in f when it came second.
struct writer {
  const char* name;
  std::vector<std::string> arguments;
  std::string lines;
};

class writers : public files, public testing::WithParamInterface<writer> {
 protected:
  writers() {
    for (const char* const name : {"f", "other"}) {
      run_here({"create", "--counting", "-n", "1000", "-p", "1e-6", "-o", name});
    }
    run_here({"insert", "other"}, "other\n");
    std::filesystem::create_symlink("f", path("link"));
    std::filesystem::create_hard_link(path("f"), path("hard"));
  }
};

}  // namespace

TEST_P(writers, wait_for_the_one_before_them_and_lose_nothing) {
  if (GetParam().arguments.front() == "dedup")
    run_here({"create", "-n", "1000", "-p", "1e-6", "-o", "f"});
  line first_input;
  running_command first({"insert", "./f"}, with_input(first_input.reader()));
  first_input.close_reader();
  ASSERT_TRUE(eventually([&] { return is_locked("f"); }));

  running_command second(GetParam().arguments, {.input = "other\n", .folder = path("")});
  EXPECT_TRUE(eventually([&] { return second.said("is locked by another program"); }));
  first_input.write("mine\n");
  first_input.close_writer();
  EXPECT_EQ(first.wait().status, 0);
  const outcome result = second.wait();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(
      run({"check", "f"}, running::setup{.input = "mine\nother\nthird\n", .folder = path("")}).out,
      GetParam().lines);
}

TEST_P(writers, can_be_interrupted_while_they_wait) {
  if (GetParam().arguments.front() == "dedup")
    run_here({"create", "-n", "1000", "-p", "1e-6", "-o", "f"});
  const int held = ::open(path("f").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(held, LOCK_EX), 0);
  const std::string before = read_file(path("f"));
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    running_command waiting(GetParam().arguments, {.input = "other\n", .folder = path("")});
    EXPECT_TRUE(eventually([&] { return waiting.said("is locked by another program"); }));
    waiting.signal(number);
    EXPECT_EQ(waiting.wait().status, 128 + number);
  }
  ::close(held);
  EXPECT_EQ(read_file(path("f")), before);
  EXPECT_EQ(folder_.entries(), 4u);
}

INSTANTIATE_TEST_SUITE_P(
    all, writers,
    testing::Values(
        writer{"insert", {"insert", "link"}, "mine\nother\n"},
        writer{"remove", {"remove", "-q", "f"}, "mine\n"},
        writer{"merge", {"merge", "-o", "f", "link", "other"}, "mine\nother\n"},
        writer{"merge_second", {"merge", "-o", "link", "other", "f"}, "mine\nother\n"},
        writer{"merge_over", {"merge", "-o", "./f", "other"}, "other\n"},
        writer{"create", {"create", "-n", "9", "-p", "0.1", "-o", "link"}, ""},
        writer{"dedup", {"dedup", "--filter", "f", "--save", "./f"}, "mine\nother\n"},
        writer{"dedup_links", {"dedup", "--filter", "link", "--save", "f"}, "mine\nother\n"},
        writer{"dedup_anew", {"dedup", "-n", "100", "--save", "f"}, "other\n"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(files, the_issues_pairs_of_writers_lose_nothing) {
  write_file(path("mine"), numbered_lines("mine", 1000));
  write_file(path("other"), numbered_lines("other", 1000));
  run_here({"create", "-n", "100k", "-p", "1e-6", "-o", "known"});
  for (int round = 0; round < 10; ++round) {
    run_here({"create", "-n", "100k", "-p", "1e-6", "-o", "f"});
    {
      running_command one({"dedup", "--filter", "f", "--save", "./f", "mine"}, here());
      running_command two({"dedup", "--filter", "./f", "--save", "f", "other"}, here());
    }
    EXPECT_EQ(run_here({"check", "-c", "f", "mine", "other"}).out, "2000\n");
    {
      running_command one({"merge", "-o", "known", "known", "f"}, here());
      running_command two({"insert", "known"}, {.input = "third\n", .folder = path("")});
    }
    EXPECT_EQ(run_here({"check", "-c", "known"}, "third\n").out, "1\n");
    run_here({"create", "-n", "100k", "-p", "1e-6", "-o", "known"});
  }
}

TEST_F(files, a_pipe_is_no_filter) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  run_here({"create", "-n", "100", "-p", "0.01", "-o", "f"});
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"info", "pipe"},
        {"check", "pipe"},
        {"insert", "pipe"},
        {"remove", "pipe"},
        {"merge", "-o", "x", "pipe", "f"},
        {"merge", "-o", "x", "f", "pipe"},
        {"dedup", "--filter", "pipe"},
        {"dedup", "--filter", "pipe", "--save", "pipe"}}) {
    expect_failure(run(arguments, running::setup{.input = "a\n", .folder = path("")}),
                   "pipe: is no file with a filter but a pipe");
  }
  expect_failure(run({"info", "."}, here()), "a directory");
  expect_failure(run({"info", "/dev/null"}, here()), "a device");
  expect_failure(run({"insert", "/dev/null"}, here()), "a device");
  EXPECT_FALSE(std::filesystem::exists(path("x")));
}

TEST_F(files, a_pipe_that_nobody_reads_can_be_given_up) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  run_here({"create", "-n", "100", "-p", "0.01", "-o", "f"});
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"create", "-n", "100", "-p", "0.01", "-o", "pipe"},
        {"merge", "-o", "pipe", "f"},
        {"dedup", "-n", "9", "--save", "pipe"},
        {"dedup", "-n", "9", "-o", "pipe"},
        {"dedup", "-n", "9", "--report", "pipe"}}) {
    for (const int number : {SIGINT, SIGTERM}) {
      running_command waiting(arguments, {.input = "a\n", .folder = path("")});
      std::this_thread::sleep_for(100ms);
      waiting.signal(number);
      EXPECT_EQ(waiting.wait().status, 128 + number) << arguments.front();
    }
  }
  EXPECT_EQ(folder_.entries(), 2u);
}

TEST_F(files, pipes_bring_lines_and_take_what_is_written) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const auto sh = [&](const std::string& script) {
    return run({"-c", script}, running::setup{.environment = {{"O", OCTOBLOOM_COMMAND}},
                                              .program = "bash",
                                              .folder = path("")});
  };
  EXPECT_EQ(sh("cat pipe > got & $O create -n 100 -p 0.01 -o pipe && wait && "
               "printf 'a\\nb\\n' | $O insert got && $O check got <(echo b) <(echo c)")
                .out,
            "b\n");
  EXPECT_EQ(sh("(sleep 0.1; printf 'a\\na\\nb' > pipe) & $O dedup -n 10 pipe").out, "a\nb\n");
  EXPECT_EQ(sh("(: > pipe) & $O dedup -n 10 <(echo x) pipe <(true) <(echo y)").out, "x\ny\n");
  EXPECT_EQ(sh("cat pipe & $O dedup -n 10 -o pipe <<< x; wait").out, "x\n");
}

TEST_F(files, who_waits_for_a_pipes_writer_stops_when_the_reader_has_gone) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  write_file(path("lines"), numbered_lines("k", 100'000));
  const outcome result =
      run({"-c", "\"$O\" dedup -j 4 -n 1M lines pipe | head -n 1; echo ${PIPESTATUS[0]}"},
          running::setup{
              .environment = {{"O", OCTOBLOOM_COMMAND}}, .program = "bash", .folder = path("")});
  EXPECT_EQ(result.out, "k0\n141\n");
}

TEST_F(files, a_mapped_filter_that_is_cut_short_ends_the_command_with_words) {
  struct cut {
    const char* blocks;
    std::uintmax_t left;
  };
  // Nothing, or half a page less: of that one the rest reads as zeros.
  for (const cut& c : {cut{"100000", 0}, {"1000", 0}, {"1", 0}, {"1", 150}, {"1000", 4096 + 300}}) {
    run_here({"create", "--force", "--blocks", c.blocks, "-k", "8", "-o", "f"});
    run_here({"insert", "f"}, "a\n");
    line input;
    auto setup = with_input(input.reader());
    // What ends at a signal's handler joins no threads.
    setup.environment["TSAN_OPTIONS"] = "report_thread_leaks=0";
    running_command checking({"check", "f"}, setup);
    input.close_reader();
    std::this_thread::sleep_for(200ms);
    std::filesystem::resize_file(path("f"), c.left);
    input.write(numbered_lines("k", 1000));
    input.close_writer();
    expect_failure(checking.wait(), "f: was made shorter by another program while it was in use");
  }
}

TEST_F(files, names_are_as_long_as_the_system_takes) {
  for (const std::size_t length : {250u, 255u}) {
    const std::string name(length, 'n');
    run_here({"create", "-n", "100", "-p", "0.01", "-o", name});
    run_here({"insert", name}, "a\n");
    run_here({"dedup", "-n", "100", "-o", name}, "a\na\n");
    EXPECT_EQ(read_file(path(name)), "a\n");
  }
  EXPECT_EQ(folder_.entries(), 2u);
}

TEST_F(files, a_kill_leaves_the_old_file_or_the_new_one_and_nothing_for_long) {
  run_here({"create", "--blocks", "20000", "-k", "8", "-o", "f"});
  random_numbers random(5);
  for (int round = 0; round < 25; ++round) {
    {
      running_command killed({"insert", "f"}, {.input = "a\n", .folder = path("")});
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
      killed.signal(SIGKILL);
    }
    EXPECT_EQ(run({"info", "f"}, here()).status, 0);
  }
  run_here({"insert", "f"}, "b\n");
  EXPECT_EQ(folder_.entries(), 1u);
}

TEST_F(files, two_names_of_one_file_to_be_are_one) {
  std::filesystem::create_symlink("new", path("link"));
  for (const char* const other : {"./new", "link"}) {
    const outcome result = run({"dedup", "-n", "9", "-o", "new", "--report", other}, here());
    expect_failure(result, "name the same file");
  }
  EXPECT_FALSE(std::filesystem::exists(path("new")));
}
