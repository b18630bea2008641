#pragma once

#include <cstddef>

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

}  // namespace octobloom::detail
