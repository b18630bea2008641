#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace octobloom::detail {

/// The number of threads that `wanted` means: 0 is one a core that this process may use.
[[nodiscard]] unsigned thread_count(unsigned wanted) noexcept;

/// A callable that is borrowed for the length of a call.
class task_reference {
 public:
  template <class Task>
  task_reference(const Task& task) noexcept  // implicit, as std::function is
      : task_(&task),
        call_([](const void* t, std::size_t i) { (*static_cast<const Task*>(t))(i); }) {}
  void operator()(std::size_t i) const { call_(task_, i); }

 private:
  const void* task_;
  void (*call_)(const void*, std::size_t);
};

/// Runs task(0) to task(tasks - 1) on up to `threads` threads, the caller's among them, each task
/// once; returns when all are done. Threads live for the call, so nothing idles or spins between
/// calls, and a fork in between is harmless. Where the system refuses a thread, the others do its
/// share. Tasks must not throw.
void run_tasks(unsigned threads, std::size_t tasks, const task_reference& task) noexcept;

/// The same by threads that wait for the next call, for calls that follow one another faster than
/// threads start. One call at a time.
class team {
 public:
  /// Of `threads` threads, the caller's among them; fewer where the system refuses.
  explicit team(unsigned threads);
  team(const team&) = delete;
  team& operator=(const team&) = delete;
  ~team();

  void run(std::size_t tasks, const task_reference& task) noexcept;

 private:
  struct call;
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  call* call_ = nullptr;     ///< what there is to do
  std::uint64_t calls_ = 0;  ///< so far
  std::size_t at_work_ = 0;  ///< threads, without the caller's
  bool ends_ = false;
  std::vector<std::thread> others_;
};

}  // namespace octobloom::detail
