// Signals that come while a filter is saved wait until the file is whole.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>

#include "cli/command.h"

using namespace octobloom_test;

namespace {

struct saving_verb {
  const char* name;
  std::vector<std::string> arguments;  ///< what replaces the filter saved/f
};

class saving : public testing::TestWithParam<saving_verb> {
 protected:
  saving() {
    std::filesystem::create_directory(path("saved"));
    // Large enough that a signal sent when the temporary file appears comes before the end.
    run_here({"create", "--blocks", "262144", "-k", "7", "-o", "old"});
    run_here({"create", "--blocks", "262144", "-k", "7", "-o", "other"});
    run_here({"insert", "other"});
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] running::setup here() const { return {.input = "a\n", .folder = path("")}; }
  void run_here(const std::vector<std::string>& arguments) const {
    EXPECT_EQ(run(arguments, here()).status, 0);
  }

  void put_old() const {
    std::filesystem::copy_file(path("old"), path("saved/f"),
                               std::filesystem::copy_options::overwrite_existing);
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path("saved")), {}));
  }
  [[nodiscard]] ino_t inode() const {
    struct stat status {};
    return stat(path("saved/f").c_str(), &status) == 0 ? status.st_ino : 0;
  }

  temporary_folder folder_;
};

}  // namespace

TEST_P(saving, is_finished_when_a_signal_comes) {
  put_old();
  run_here(GetParam().arguments);
  const std::string whole = read_file(path("saved/f"));
  ASSERT_NE(whole, read_file(path("old")));
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    bool in_time = false;
    for (int attempt = 0; attempt < 20 && !in_time; ++attempt) {
      put_old();
      const ino_t before = inode();
      running_command command(GetParam().arguments, here());
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!command.has_temporary_file_in(path("saved")) && inode() == before &&
             std::chrono::steady_clock::now() < deadline) {
      }
      command.signal(number);
      in_time = inode() == before;
      const int status = command.wait().status;
      EXPECT_TRUE(!in_time || status == 128 + number) << status;
      EXPECT_EQ(files(), 1u) << "a temporary file is left";
      EXPECT_TRUE(read_file(path("saved/f")) == whole);
      if (HasFailure()) return;
    }
    EXPECT_TRUE(in_time) << "no signal came while the file was written";
  }
}

INSTANTIATE_TEST_SUITE_P(
    all, saving,
    testing::Values(saving_verb{"create",
                                {"create", "--blocks", "262144", "-k", "8", "-o", "saved/f"}},
                    saving_verb{"insert", {"insert", "saved/f"}},
                    saving_verb{"merge", {"merge", "-o", "saved/f", "old", "other"}},
                    saving_verb{"dedup", {"dedup", "-n", "5M", "--save", "saved/f"}}),
    [](const auto& test) { return std::string(test.param.name); });
