#pragma once

#include <cstddef>
#include <functional>

namespace octobloom::simd {

/// The number of threads that `wanted` means: 0 is one a core that this process may use.
[[nodiscard]] unsigned thread_count(unsigned wanted) noexcept;

/// Runs task(0) to task(tasks - 1) on up to `threads` threads, the caller's among them, each task
/// once; returns when all are done. Threads live for the call, so nothing idles or spins between
/// calls, and a fork in between is harmless. Where the system refuses a thread, the others do its
/// share. Tasks must not throw.
void run_tasks(unsigned threads, std::size_t tasks, const std::function<void(std::size_t)>& task);

}  // namespace octobloom::simd
