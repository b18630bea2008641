#include <octobloom/detail/team.h>

#include <algorithm>
#include <atomic>
#include <exception>

namespace octobloom::detail {

namespace {

/// Tasks that threads take one after the other.
class task_list {
 public:
  task_list(std::size_t tasks, const task_reference& task) : tasks_(tasks), task_(task) {}
  void work() noexcept {
    for (std::size_t i = next_++; i < tasks_; i = next_++) task_(i);
  }

 private:
  std::atomic<std::size_t> next_{0};
  std::size_t tasks_;
  task_reference task_;
};

/// Fewer than wanted where the system refuses: the others do their share.
template <class Thread, class Work>
void start(std::vector<Thread>& threads, std::size_t wanted, Work work) noexcept {
  try {
    while (threads.size() < wanted) threads.emplace_back(work);
  } catch (const std::exception&) {
  }
}

}  // namespace

unsigned thread_count(unsigned wanted) noexcept {
  return wanted != 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
}

void run_tasks(unsigned threads, std::size_t tasks, const task_reference& task) noexcept {
  task_list list(tasks, task);
  std::vector<std::jthread> others;
  const std::size_t workers = std::min<std::size_t>(threads, tasks);
  if (workers > 1) start(others, workers - 1, [&] { list.work(); });
  list.work();
}

struct team::call : task_list {
  using task_list::task_list;
};

team::team(unsigned threads) {
  if (threads > 1) start(others_, threads - 1, [this] { serve(); });
}

team::~team() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (std::thread& one : others_) one.join();
}

void team::run(std::size_t tasks, const task_reference& task) noexcept {
  call now(tasks, task);
  {
    const std::lock_guard lock(mutex_);
    call_ = &now;
    ++calls_;
    at_work_ = others_.size();
  }
  changed_.notify_all();
  now.work();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return at_work_ == 0; });
}

void team::serve() {
  std::uint64_t served = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || calls_ != served; });
    if (ends_) return;
    served = calls_;
    call* const now = call_;
    lock.unlock();
    now->work();
    lock.lock();
    if (--at_work_ == 0) changed_.notify_all();
  }
}

}  // namespace octobloom::detail
