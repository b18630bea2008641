// Families of keys, --any-keys, create --like, the plan of a file.
#include <gtest/gtest.h>

#include <octobloom/counting_filter.h>
#include <octobloom/cuckoo_filter.h>
#include <octobloom/filter.h>
#include <octobloom/growing_filter.h>
#include <octobloom/windowed_filter.h>

#include "cli/command.h"

using namespace octobloom_test;
using namespace octobloom;

namespace {

class key_families_of : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }

  /// A file of every kind that holds integers.
  [[nodiscard]] std::vector<std::string> files_of_integers() const {
    const auto save = [&](auto f, const std::string& name) {
      for (int i = 0; i < 50; ++i) (void)f.insert(i);
      f.save(path(name));
      return path(name);
    };
    return {save(filter::with_fpr(100, 0.01), "plain"), save(growing_filter(100, 0.01), "growing"),
            save(counting_filter::with_fpr(100, 0.01), "counting"),
            save(cuckoo_filter::with_fpr(100, 0.01), "cuckoo"),
            save(windowed_filter::last_events(100, 0.01), "windowed")};
  }

  [[nodiscard]] static nlohmann::json families(const std::string& file) {
    return run({"info", "--json", file}).json().at("families");
  }

  temporary_folder folder_;
};

}  // namespace

TEST_F(key_families_of, integers_are_told_when_lines_are_asked_for) {
  for (const std::string& file : files_of_integers()) {
    const std::string before = read_file(file);
    EXPECT_EQ(families(file), nlohmann::json({"integers"})) << file;
    for (const std::string verb : {"check", "remove"}) {
      const auto told = run({verb, file}, "1\n2\n");
      EXPECT_EQ(told.status, 2) << verb << " " << file;
      EXPECT_EQ(told.out, "");
      EXPECT_NE(told.err.find("its keys are integers"), std::string::npos) << told.err;
      EXPECT_NE(told.err.find("--any-keys"), std::string::npos) << told.err;
    }
    EXPECT_NE(run({"check", "--any-keys", "-c", file}, "1\n2\n").status, 2) << file;
    EXPECT_EQ(read_file(file), before);
    // Inserting lines is no mistake, and from then on they can be asked for.
    expect_success(run({"insert", file}, "1\n"), "");
    EXPECT_EQ(families(file), nlohmann::json({"integers", "strings"})) << file;
    expect_success(run({"check", file}, "1\n"), "1\n");
  }
}

TEST_F(key_families_of, lines_that_are_removed_all_the_same) {
  const std::vector<std::string> files = files_of_integers();
  for (const std::string& file : {files[2], files[3]}) {
    EXPECT_EQ(run({"remove", "-q", "--any-keys", file}, "no such line\n").status, 0) << file;
  }
}

TEST_F(key_families_of, a_filter_that_dedup_goes_on_with) {
  const std::vector<std::string> files = files_of_integers();
  for (const std::string& file : {files[0], files[1], files[4]}) {
    const auto told = run({"dedup", "--filter", file}, "a\na\n");
    EXPECT_EQ(told.status, 2) << file;
    EXPECT_EQ(told.out, "");
    EXPECT_NE(told.err.find("--any-keys"), std::string::npos) << told.err;
    expect_success(run({"dedup", "--any-keys", "--filter", file, "--save", file}, "a\na\n"), "a\n");
    EXPECT_EQ(families(file), nlohmann::json({"integers", "strings"})) << file;
    expect_success(run({"dedup", "--filter", file}, "b\n"), "b\n");
  }
}

TEST_F(key_families_of, files_that_do_not_say_are_never_reported) {
  const std::string unknown = golden_path("one-block-families-unknown.octobloom");
  EXPECT_EQ(families(unknown), nlohmann::json::array());
  EXPECT_NE(run({"check", "-c", unknown}, "1\n").status, 2);
  const std::string text = run({"info", unknown}).out;
  EXPECT_NE(text.find("families          not known"), std::string::npos) << text;
  expect_success(run({"create", "-n", "10", "-p", "0.1", "-o", path("f")}), "");
  EXPECT_EQ(families(path("f")), nlohmann::json::array());
  EXPECT_EQ(run({"check", path("f")}, "1\n").status, 1);
}

TEST_F(key_families_of, create_like_makes_the_empty_twin_of_every_kind) {
  for (const std::string& file : files_of_integers()) {
    const std::string twin = file + ".twin";
    expect_success(run({"create", "--like", file, "-o", twin}), "");
    auto is = run({"info", "--json", twin}).json();
    auto was = run({"info", "--json", file}).json();
    for (const std::string key :
         {"kind", "k", "blocks", "bytes", "seed", "hash", "planned_keys", "target_fpr"}) {
      // A window takes memory as keys come.
      if (key == "bytes" && was.at("kind") == "windowed") continue;
      EXPECT_EQ(is.at(key), was.at(key)) << file << " " << key;
    }
    EXPECT_EQ(is.at("inserted_keys"), 0);
    EXPECT_EQ(is.at("families"), nlohmann::json::array());
    EXPECT_EQ(is.at("fill"), 0.0);
  }
  const std::string plain = path("plain");
  expect_success(run({"merge", "-o", path("sum"), plain, plain + ".twin"}), "");
  EXPECT_EQ(families(path("sum")), nlohmann::json({"integers"}));
  EXPECT_EQ(run({"create", "--like", plain, "-n", "5", "-p", "0.1", "-o", path("x")}).status, 2);
  EXPECT_EQ(run({"create", "--like", plain, "--seed", "5", "-o", path("x")}).status, 2);
  EXPECT_EQ(run({"create", "--like", path("absent"), "-o", path("x")}).status, 2);
}

TEST_F(key_families_of, the_plan_of_a_file_is_printed) {
  expect_success(run({"create", "-n", "1000000", "-p", "0.01", "-o", path("f")}), "");
  EXPECT_EQ(run({"plan", "--json", path("f")}).out,
            run({"plan", "-n", "1000000", "-p", "0.01", "--json"}).out);
  EXPECT_EQ(run({"plan", path("f")}).out, run({"plan", "-n", "1000000", "-p", "0.01"}).out);
  expect_success(run({"create", "--blocks", "10", "-k", "7", "-o", path("g")}), "");
  const auto unplanned = run({"plan", "--json", path("g")}).json();
  EXPECT_EQ(unplanned.at("blocks"), 10);
  EXPECT_EQ(unplanned.at("k"), 7);
  EXPECT_TRUE(unplanned.at("expected_fpr").is_null());
  EXPECT_TRUE(unplanned.at("classic_k").is_null());
  EXPECT_EQ(run({"plan", path("g")}).status, 0);
  const std::vector<std::string> files = files_of_integers();
  EXPECT_EQ(run({"plan", files[0]}).status, 0);
  EXPECT_EQ(run({"plan", files[2]}).status, 0);
  for (const std::string& file : {files[1], files[3], files[4]}) {
    const auto told = run({"plan", file});
    EXPECT_EQ(told.status, 2) << file;
    EXPECT_NE(told.err.find("create --like"), std::string::npos) << told.err;
  }
  EXPECT_EQ(run({"plan", "-n", "5", "-p", "0.1", path("f")}).status, 2);
}
