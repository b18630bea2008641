#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <set>

#include <octobloom/octobloom.h>
#include <octobloom/simd_engine.h>
#include <octobloom/simd_hooks.h>

namespace octobloom::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct outcome {
  int status;
  std::string text;
};

/// Runs the probe with OCTOBLOOM_TARGET set.
outcome probe(const std::string& target) {
  const std::string command = "OCTOBLOOM_TARGET='" + target + "' " OCTOBLOOM_TARGET_PROBE;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, "popen failed"};
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
    text.push_back(static_cast<char>(c));
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

TEST(Targets, AreDistinctAndEndWithOneThatRunsAnywhere) {
  const std::vector<std::string> targets = simd_targets();
  ASSERT_FALSE(targets.empty());
  EXPECT_EQ(std::set(targets.begin(), targets.end()).size(), targets.size());
  for (const std::string& target : targets) EXPECT_NE(target, "Unknown");
}

TEST(Targets, TheEnvironmentForcesEachOne) {
  for (const std::string& target : simd_targets()) {
    const outcome result = probe(target);
    EXPECT_EQ(result.status, 0) << result.text;
    EXPECT_EQ(result.text, target + "\n");
  }
}

TEST(Targets, WithoutAWishTheBestOneRuns) {
  const outcome result = probe("");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.text, simd_targets().front() + "\n");
}

TEST(Targets, OneThatIsNotThereIsAnErrorThatNamesThoseThatAre) {
  for (const char* target : {"NEON", "SVE", "RVV", "avx2", "nonsense"}) {
    const std::vector<std::string> targets = simd_targets();
    if (std::find(targets.begin(), targets.end(), target) != targets.end()) continue;
    const outcome result = probe(target);
    EXPECT_EQ(result.status, 3) << result.text;
    EXPECT_THAT(result.text, AllOf(HasSubstr("OCTOBLOOM_TARGET"), HasSubstr(target),
                                   HasSubstr(targets.front()), HasSubstr(targets.back())));
  }
}

TEST(Targets, AnOverrideIsSeenByTheCodeThatRuns) {
  filter f = filter::with_blocks(10, 8);
  const std::vector<std::uint64_t> keys{1, 2, 3};
  const key_batch batch = key_batch::integers(std::span<const std::uint64_t>(keys));
  for (const std::string& target : simd_targets()) {
    const simd_override forced(target);
    simd_engine().insert(f.view(), batch, {});
    EXPECT_EQ(simd_last_target(), target);
    for (const std::string& inner : simd_targets()) {
      const simd_override nested(inner);
      EXPECT_EQ(simd_engine().may_contain(f.view(), batch, nullptr, {}), keys.size());
      EXPECT_EQ(simd_last_target(), inner);
    }
    EXPECT_EQ(simd_engine().insert_new(f.view(), batch, nullptr, {}), 0u);
    EXPECT_EQ(simd_last_target(), target);
  }
}

TEST(Targets, AnUnknownOverrideThrowsAndChangesNothing) {
  try {
    const simd_override forced("nonsense");
    FAIL() << "no error";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::engine_unavailable);
    EXPECT_THAT(e.what(), HasSubstr(simd_targets().front()));
  }
  filter f = filter::with_blocks(10, 8);
  const std::uint64_t key = 1;
  simd_engine().insert(f.view(), key_batch::integers(std::span(&key, 1)), {});
  EXPECT_EQ(simd_last_target(), simd_targets().front());
}

TEST(Engine, IsListedAndAvailable) {
  EXPECT_STREQ(simd_engine().name, "simd");
  EXPECT_EQ(simd_engine().why_unavailable(), "");
  EXPECT_EQ(&find_engine("simd"), &simd_engine());
}

TEST(Floor, LeavesTheFilterAsItWas) {
  filter f = filter::with_blocks(100, 8);
  std::vector<std::uint64_t> keys(1000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  const key_batch batch = key_batch::integers(std::span<const std::uint64_t>(keys));
  f.insert(batch);
  const std::vector<std::uint64_t> before(f.view().words(),
                                          f.view().words() + f.view().shape().word_count());
  simd_touch_lines(f.view(), batch, false);
  simd_touch_lines(f.view(), batch, true);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), f.view().words()));
}

}  // namespace
}  // namespace octobloom::test
