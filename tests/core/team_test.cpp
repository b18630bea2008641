#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include <octobloom/detail/team.h>

namespace octobloom::test {
namespace {

std::vector<int> times_done(std::size_t tasks, const auto& run) {
  std::vector<std::atomic<int>> done(tasks);
  run([&](std::size_t i) { ++done.at(i); });
  return {done.begin(), done.end()};
}

TEST(Team, DoesEveryTaskOnce) {
  for (const unsigned threads : {0u, 1u, 2u, 7u}) {
    for (const std::size_t tasks : {0u, 1u, 2u, 3u, 1000u}) {
      EXPECT_EQ(
          times_done(tasks, [&](const auto& task) { detail::run_tasks(threads, tasks, task); }),
          std::vector<int>(tasks, 1));
    }
  }
}

TEST(Team, DoesCallAfterCall) {
  for (const unsigned threads : {0u, 1u, 2u, 7u}) {
    detail::team team(threads);
    for (std::size_t call = 0; call < 300; ++call) {
      const std::size_t tasks = call * 7 % 40;
      ASSERT_EQ(times_done(tasks, [&](const auto& task) { team.run(tasks, task); }),
                std::vector<int>(tasks, 1))
          << "call " << call << ", threads " << threads;
    }
  }
}

TEST(Team, WorksOnSeveralThreads) {
  // Two tasks that wait for each other end only when two threads have them.
  detail::team team(2);
  for (int call = 0; call < 50; ++call) {
    std::atomic<int> arrived{0};
    team.run(2, [&](std::size_t) {
      ++arrived;
      while (arrived < 2) std::this_thread::yield();
    });
    EXPECT_EQ(arrived, 2);
  }
}

}  // namespace
}  // namespace octobloom::test
