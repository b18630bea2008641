// octobloom-bench and the page that tools/bench-report makes: that they work, not how fast.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "process.h"
#include "support.h"

namespace {

using octobloom_test::outcome;
using octobloom_test::read_file;
using octobloom_test::run_program;
using octobloom_test::temporary_folder;
using octobloom_test::write_file;
using testing::HasSubstr;

class Bench : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(OCTOBLOOM_BENCH).empty()) GTEST_SKIP() << "built without the SIMD engine";
  }
};

outcome bench(const std::vector<std::string>& arguments) {
  return run_program(arguments, {.program = OCTOBLOOM_BENCH});
}

TEST_F(Bench, QuickRunNamesEveryWorkload) {
  const temporary_folder folder;
  const std::string file = folder.file("bench.json");
  // The contenders that need no other library. Gathers compare their answers with the reference's.
  const std::string filter =
      "--benchmark_filter=who:(floor|simd|simd_plain|simd_k8|vertical|vertical_k8|reference)/";
  const outcome run = bench({"--quick", "--largest=1", "--rounds=2", "--benchmark_min_time=0.001",
                             filter, "--benchmark_out=" + file, "--benchmark_out_format=json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const std::string json = read_file(file);
  const auto times = [&](const std::string& what, const std::string& who,
                         const std::string& threads = "1") {
    const std::string name = "\"name\": \"what:" + what + "/who:" + who +
                             "/MiB:1/bits:10/hits:50/keys:integers/threads:" + threads + "/";
    int found = 0;
    for (std::size_t at = json.find(name); at != std::string::npos; at = json.find(name, at + 1)) {
      ++found;
    }
    return found;
  };
  for (const char* who :
       {"floor", "simd", "simd_plain", "simd_k8", "vertical", "vertical_k8", "reference"}) {
    EXPECT_EQ(times("may_contain", who), 2) << who;
  }
  for (const char* who : {"floor", "simd", "simd_plain", "simd_k8", "reference"}) {
    EXPECT_EQ(times("insert", who), 2) << who;
  }
  for (const char* who : {"simd", "simd_plain", "simd_k8", "reference"}) {
    EXPECT_EQ(times("insert_new", who), 2) << who;
  }
  EXPECT_EQ(times("may_contain", "simd", "all"), 2);
  EXPECT_EQ(times("insert", "simd", "all"), 2);
  for (const char* counter : {"\"ns_per_key\"", "\"fpr\"", "\"bytes\"", "\"octobloom_target\""}) {
    EXPECT_THAT(json, HasSubstr(counter));
  }
}

TEST_F(Bench, RefusesBadOptions) {
  for (const std::string option : {"--largest=", "--largest=x", "--largest=0", "--rounds=1.5"}) {
    const outcome run = bench({option});
    EXPECT_EQ(run.status, 2) << option;
    EXPECT_THAT(run.err, HasSubstr("takes a number from 1 on")) << option;
  }
  EXPECT_EQ(bench({"--quick", "--full"}).status, 2);
  EXPECT_EQ(bench({"--no-such-option"}).status, 2);
}

/// The Python of tools/bench-report, or any other that can draw; empty for none.
std::string drawing_python() {
  for (const char* python : {OCTOBLOOM_SOURCE "/build/bench-report/venv/bin/python", "python3"}) {
    const std::string ask =
        "import sys; from importlib.util import find_spec; sys.exit(not find_spec('matplotlib'))";
    if (run_program({"-c", ask}, {.program = python}).status == 0) return python;
  }
  return {};
}

class BenchReport : public testing::Test {
 protected:
  void SetUp() override {
    if (python_.empty()) GTEST_SKIP() << "no Python with matplotlib (tools/bench-report gets one)";
  }
  outcome report(const std::string& json, const std::string& out) const {
    return run_program({"-m", "bench_report", "--from", json, "--out", out},
                       {.environment = {{"PYTHONPATH", OCTOBLOOM_SOURCE "/tools"},
                                        {"PYTHONDONTWRITEBYTECODE", "1"}},
                        .program = python_});
  }
  temporary_folder folder_;

 private:
  std::string python_ = drawing_python();
};

TEST_F(BenchReport, MakesThePageOfASample) {
  const outcome run = report(OCTOBLOOM_TEST_DATA "/bench/sample.json", folder_.file("page"));
  ASSERT_EQ(run.status, 0) << run.err;
  const std::string text = read_file(folder_.file("page") + "/report.md");
  const std::string expected = read_file(OCTOBLOOM_TEST_DATA "/bench/sample_goals.md");
  ASSERT_FALSE(expected.empty());
  EXPECT_THAT(text, HasSubstr(expected));
  const std::string page = read_file(folder_.file("page") + "/index.html");
  std::size_t pictures = 0;
  for (std::size_t at = page.find("<svg"); at != std::string::npos;
       at = page.find("<svg", at + 1)) {
    ++pictures;
  }
  EXPECT_EQ(pictures, 3u);
  EXPECT_THAT(page, HasSubstr("A &lt;machine&gt;"));
}

TEST_F(BenchReport, RefusesWhatIsNoResult) {
  const auto refuses = [&](const std::string& content, const std::string& why) {
    write_file(folder_.file("bad.json"), content);
    const outcome run = report(folder_.file("bad.json"), folder_.file("page"));
    EXPECT_EQ(run.status, 2) << content;
    EXPECT_THAT(run.err, HasSubstr(why));
    EXPECT_THAT(run.err, testing::Not(HasSubstr("Traceback")));
  };
  refuses("", "not JSON");
  refuses("[]", "no list 'benchmarks'");
  refuses(R"({"benchmarks": []})", "no measurement");
  refuses(R"({"benchmarks": [{"name": "BM_other/8"}]})", "not the name of a benchmark");
  const outcome run = report(folder_.file("missing.json"), folder_.file("page"));
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("missing.json"));
}

}  // namespace
