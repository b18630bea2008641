#include <octobloom/detail/team.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace octobloom::detail {

unsigned thread_count(unsigned wanted) noexcept {
  return wanted != 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
}

void run_tasks(unsigned threads, std::size_t tasks, const task_reference& task) noexcept {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks; i = next++) task(i);
  };
  std::vector<std::jthread> others;
  const std::size_t wanted = std::min<std::size_t>(threads, tasks);
  try {
    for (std::size_t i = 1; i < wanted; ++i) others.emplace_back(work);
  } catch (const std::exception&) {
    // Fewer threads, the same tasks.
  }
  work();
}

}  // namespace octobloom::detail
