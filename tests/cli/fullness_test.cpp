// Every door of the command by every kind of filter: what is full is told, what is fine is not.
#include <gtest/gtest.h>

#include <octobloom/hash.h>

#include "cli/command.h"

using namespace octobloom_test;

namespace {

struct kind_row {
  std::string kind;
  std::vector<std::string> creation;
  bool removes = false;
  bool merges = false;
  bool dedups = false;
};

const std::vector<kind_row> kinds{
    {"plain", {"create", "-n", "1000", "-p", "0.01"}, false, true, true},
    {"counting", {"create", "--counting", "-n", "1000", "-p", "0.01"}, true, true, false},
    {"cuckoo", {"create", "--cuckoo", "-n", "1000", "-p", "0.01"}, true, false, false},
    {"growing", {"create", "--growing", "-n", "1000", "-p", "0.01"}, false, false, true},
    {"windowed", {"dedup", "--window", "12h", "-n", "1000", "-p", "0.01"}, false, true, true},
};

class fullness : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }

  /// A new filter of that kind, with so many keys in it.
  [[nodiscard]] std::string make(const kind_row& row, std::size_t keys,
                                 const std::string& name = "f") const {
    const std::string file = path(name);
    std::filesystem::remove(file);
    std::vector<std::string> arguments = row.creation;
    arguments.insert(arguments.end(), {row.kind == "windowed" ? "--save" : "-o", file});
    expect_success(run(arguments, ""), "");
    EXPECT_EQ(run({"insert", file}, numbered_lines("k", keys)).status, 0) << row.kind;
    return file;
  }

  [[nodiscard]] static nlohmann::json info(const std::string& file) {
    return run({"info", "--json", "--no-verify", file}).json();
  }

  /// Sets every bit, or every slot, and leaves all counts as they were; the checksums fit.
  static void lie(const std::string& file) {
    const std::uint64_t bits = info(file).at("bytes");
    const bool counts = info(file).at("kind") == "counting";
    std::string bytes = read_file(file);
    const std::size_t first = counts ? 128 : bytes.size() - bits;
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(first), bytes.end(), '\xFF');
    const auto put = [&bytes](std::size_t at, std::uint64_t value) {
      for (std::size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
    };
    put(64, octobloom::xxh64(bytes.data() + 128, bytes.size() - 128));
    put(120, octobloom::xxh64(bytes.data(), 120));
    write_file(file, bytes);
  }

  /// Each verb that takes such a file says `verdict`, or nothing when it is "fine".
  void expect_verdict(const kind_row& row, const std::string& file, const std::string& verdict,
                      bool verify = true) {
    SCOPED_TRACE(row.kind + " " + verdict);
    EXPECT_EQ(info(file).at("verdict"), verdict);
    EXPECT_NE(run({"info", "--no-verify", file}).out.find("verdict           " + verdict),
              std::string::npos);
    const auto expect_word = [&](const outcome& result, const std::string& name) {
      EXPECT_LE(result.status, 1) << result.err;  // whether k1 is found is not asked here
      if (verdict == "fine") {
        EXPECT_EQ(result.err, "");
      } else {
        EXPECT_NE(result.err.find("warning: " + name + " is " + verdict + ": "), std::string::npos)
            << result.err;
        EXPECT_NE(result.err.find("% of unknown keys are taken for known ones"), std::string::npos);
      }
    };
    const auto with = [&](std::vector<std::string> arguments) {
      if (!verify) arguments.emplace_back("--no-verify");
      return arguments;
    };
    expect_word(run(with({"check", "-q", file}), "k1\n"), file);
    const std::string copy = path("copy");
    const auto fresh_copy = [&] {
      std::filesystem::copy_file(file, copy, std::filesystem::copy_options::overwrite_existing);
      return copy;
    };
    expect_word(run(with({"insert", "-q", fresh_copy()}), ""), copy);
    if (row.removes) expect_word(run(with({"remove", "-q", fresh_copy()}), ""), copy);
    if (row.merges) {
      std::filesystem::remove(copy);
      expect_word(run(with({"merge", "-o", copy, file, file})), copy);
    } else {
      std::filesystem::remove(copy);
      EXPECT_EQ(run(with({"merge", "-o", copy, file, file})).status, 2);
    }
    if (!row.dedups) {
      EXPECT_EQ(run({"dedup", "--filter", file}, "k1\n").status, 2);
      return;
    }
    expect_word(run(with({"dedup", "-q", "--filter", file}), "k1\n"), file);
    const outcome strict =
        run(with({"dedup", "--filter", file, "--on-full", "error", "-o", path("out")}), "k1\n");
    if (verdict == "fine") {
      EXPECT_EQ(strict.status, 0) << strict.err;
    } else {
      expect_failure(strict, "--on-full error");
      EXPECT_FALSE(std::filesystem::exists(path("out")));
      const outcome printed = run({"dedup", "--filter", file, "--on-full", "error"}, "new\n");
      EXPECT_EQ(printed.out, "") << "nothing is written first";
    }
    std::filesystem::remove(path("out"));
  }

  temporary_folder folder_;
};

}  // namespace

TEST_F(fullness, of_a_fine_filter_is_no_word) {
  for (const kind_row& row : kinds) {
    expect_verdict(row, make(row, row.kind == "windowed" ? 200 : 900), "fine");
  }
}

TEST_F(fullness, beyond_the_plan_is_told_by_every_verb) {
  expect_verdict(kinds[0], make(kinds[0], 1'100), "full");
  expect_verdict(kinds[1], make(kinds[1], 1'100), "full");
  expect_verdict(kinds[2], make(kinds[2], 1'055), "full");
  expect_verdict(kinds[0], make(kinds[0], 2'500), "over-full");
  expect_verdict(kinds[1], make(kinds[1], 2'500), "over-full");
  expect_verdict(kinds[4], make(kinds[4], 20'000), "over-full");
  expect_verdict(kinds[3], make(kinds[3], 20'000), "fine");
}

TEST_F(fullness, goes_by_the_bits_when_the_header_lies) {
  for (const kind_row& row : kinds) {
    const std::string file = make(row, 5);
    lie(file);
    if (row.kind == "cuckoo") {
      // Its keys are counted when it is checked, and otherwise when it is judged.
      EXPECT_EQ(run({"info", file}).status, 2);
      expect_verdict(row, file, "over-full", false);
    } else {
      expect_verdict(row, file, "over-full");
      EXPECT_LE(info(file).at("inserted_keys"), 5);
    }
  }
}

TEST_F(fullness, of_unplanned_filters_is_told_without_a_plan) {
  const kind_row unplanned{"plain", {"create", "--blocks", "10", "-k", "8"}, false, true, true};
  expect_verdict(unplanned, make(unplanned, 500), "fine");
  const std::string file = make(unplanned, 2'000);
  expect_verdict(unplanned, file, "over-full");
  const outcome told = run({"dedup", "--filter", file}, "x\n");
  EXPECT_NE(told.err.find("unplanned: its bits are "), std::string::npos) << told.err;
  EXPECT_EQ(told.err.find("planned for"), std::string::npos) << told.err;
}

TEST_F(fullness, of_a_window_is_told_while_it_lasts) {
  const std::string lines = numbered_lines("k", 100'000);
  const outcome loud = run({"dedup", "-q", "--window", "10min", "-n", "1000"}, lines);
  EXPECT_EQ(loud.status, 0);
  EXPECT_NE(loud.err.find("warning: the window is over-full"), std::string::npos) << loud.err;
  EXPECT_LE(count_lines(loud.err), 8u);
  const outcome strict = run({"dedup", "--window", "10min", "-n", "1000", "--on-full", "error",
                              "-o", path("out"), "--save", path("saved")},
                             lines);
  expect_failure(strict, "--on-full error");
  EXPECT_EQ(folder_.entries(), 0u);
  expect_success(run({"dedup", "--window", "10min", "-n", "1000", "--on-full", "warn"}, "a\na\n"),
                 "a\n");
  expect_success(run({"dedup", "--window", "1000", "-p", "0.001", "--on-full", "error"}, "a\na\n"),
                 "a\n");
}
