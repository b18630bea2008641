#include <octobloom/octobloom.h>

#include "support.h"

namespace {

using namespace octobloom;
using octobloom_test::expect_error;

TEST(Engines, TheReferenceIsFirstAndEveryNameIsFound) {
  ASSERT_FALSE(all_engines().empty());
  EXPECT_EQ(all_engines().front(), &reference_engine());
  for (const engine* e : all_engines()) {
    if (e->why_unavailable().empty()) {
      EXPECT_EQ(&find_engine(e->name), e);
    } else {
      const error refused =
          expect_error(error_code::engine_unavailable, [&] { (void)find_engine(e->name); });
      EXPECT_NE(std::string(refused.what()).find(e->why_unavailable()), std::string::npos);
    }
  }
}

TEST(Engines, UnknownOnesAreRefusedWithTheNamesThereAre) {
  const error e = expect_error(error_code::engine_unavailable, [] { (void)find_engine("warp"); });
  EXPECT_NE(std::string(e.what()).find("reference"), std::string::npos);
  expect_error(error_code::engine_unavailable, [] { (void)find_engine(""); });
  expect_error(error_code::engine_unavailable, [] { (void)find_engine("SIMD"); });
}

TEST(Engines, AutoRunsOnThisMachine) {
  EXPECT_TRUE(find_engine("auto").why_unavailable().empty());
}

/// choose_engine() decides once, so every decision needs a process of its own.
void exit_with_engine(const char* forced) {
  setenv("OCTOBLOOM_ENGINE", forced, 1);
  try {
    std::fprintf(stderr, "engine %s", default_engine().name);
    std::exit(0);
  } catch (const error& e) {
    std::fprintf(stderr, "%s", e.what());
    std::exit(2);
  }
}

TEST(EnginesDeathTest, TheEnvironmentForcesOne) {
#ifdef OCTOBLOOM_TEST_EMULATED
  GTEST_SKIP() << "an emulated process cannot start itself again";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_with_engine("reference"), testing::ExitedWithCode(0), "^engine reference$");
  EXPECT_EXIT(exit_with_engine("warp"), testing::ExitedWithCode(2), "no engine is called");
  EXPECT_EXIT(exit_with_engine(""), testing::ExitedWithCode(0),
              std::string("^engine ") + find_engine("auto").name + "$");
}

}  // namespace
