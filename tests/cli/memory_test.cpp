// dedup holds its filter and at most 64 MiB, whatever comes.
#include <gtest/gtest.h>

#include <fstream>

#include "cli/command.h"

using namespace octobloom_test;

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t allowed = 64 * mebibyte;

struct shape_of_input {
  const char* name;
  std::uint64_t bytes;
  std::uint64_t line_length;  ///< 0: all lines are empty
  const char* threads;
};

class memory : public testing::TestWithParam<shape_of_input> {};

/// Written piece by piece, so that this process stays small: what it holds would count for the
/// command that it starts.
void write_lines(const std::string& path, std::uint64_t bytes, std::uint64_t line_length) {
  std::ofstream file(path, std::ios::binary);
  const std::string filling(std::min<std::uint64_t>(line_length, mebibyte), 'x');
  std::uint64_t id = 0;
  for (std::uint64_t written = 0; written < bytes;) {
    const std::string key = line_length == 0 ? "" : std::to_string(id++ % 1'000);
    file << key;
    for (std::uint64_t rest = line_length; rest > 0;) {
      const std::uint64_t piece = std::min<std::uint64_t>(rest, filling.size());
      file.write(filling.data(), static_cast<std::streamsize>(piece));
      rest -= piece;
    }
    file << '\n';
    written += key.size() + line_length + 1;
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace

TEST_P(memory, stays_within_filter_and_64_MiB_and_a_long_line) {
#ifdef OCTOBLOOM_TEST_SLOW_BUILD
  GTEST_SKIP() << "sanitizers and debug builds have memory of their own";
#endif
  temporary_folder folder;
  const shape_of_input shape = GetParam();
  write_lines(folder.file("in"), shape.bytes, shape.line_length);
  const std::uint64_t own_length = shape.line_length > mebibyte ? shape.line_length : 0;
  for (const bool pipe : {false, true}) {
    const std::string input = pipe ? "cat '" + folder.file("in") + "' |" : "";
    const outcome result = run(
        {"-c", input + " '" OCTOBLOOM_COMMAND "' dedup -n 1M -j " + shape.threads + " --report '" +
                   folder.file("r") + "' " + (pipe ? "" : folder.file("in")) + " > /dev/null"},
        {.program = "sh"});
    ASSERT_EQ(result.status, 0) << result.err;
    const nlohmann::json report = nlohmann::json::parse(read_file(folder.file("r")));
    const std::uint64_t bound =
        report.at("filter_bytes").get<std::uint64_t>() + allowed + own_length;
    EXPECT_LT(report.at("peak_bytes"), bound);
    EXPECT_LT(result.peak_bytes, bound) << "as the system counts it";
    EXPECT_GT(result.peak_bytes, report.at("filter_bytes")) << "something was measured";
  }
}

INSTANTIATE_TEST_SUITE_P(
    inputs, memory,
    testing::Values(shape_of_input{"usual_lines_8MiB", 8 * mebibyte, 28, "2"},
                    shape_of_input{"usual_lines_64MiB", 64 * mebibyte, 28, "2"},
                    shape_of_input{"usual_lines_256MiB", 256 * mebibyte, 28, "2"},
                    shape_of_input{"usual_lines_one_thread", 64 * mebibyte, 28, "1"},
                    shape_of_input{"usual_lines_64_threads", 64 * mebibyte, 28, "64"},
                    shape_of_input{"empty_lines", 32 * mebibyte, 0, "8"},
                    shape_of_input{"lines_of_70KB", 128 * mebibyte, 70'000, "8"},
                    shape_of_input{"lines_of_1MiB", 128 * mebibyte, mebibyte, "8"},
                    shape_of_input{"lines_of_48MiB", 384 * mebibyte, 48 * mebibyte, "8"},
                    shape_of_input{"one_line_of_300MB", 300'000'000, 300'000'000, "2"}),
    [](const auto& test) { return std::string(test.param.name); });
