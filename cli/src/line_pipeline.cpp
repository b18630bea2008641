#include "line_pipeline.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "reader.h"
#include "terminal.h"

namespace octobloom::cli {

namespace {

constexpr std::size_t largest_chunk = std::size_t{256} << 10;
constexpr std::size_t all_chunks = std::size_t{2} << 20;
constexpr unsigned most_threads = 32;  // more would only wait for the steps that go in order

/// Thrown in threads whose work is pointless since another one failed.
struct abandoned {};

/// Lets the chunks through in the order of their numbers, one at a time.
class turnstile {
 public:
  /// Waits until every chunk before `number` has passed. Throws abandoned.
  void enter(std::uint64_t number) {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [&] { return closed_ || number == passed_; });
    if (closed_) throw abandoned{};
  }
  void pass() {
    const std::scoped_lock lock(mutex_);
    ++passed_;
    moved_.notify_all();
  }
  /// Nobody gets through any more.
  void close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    moved_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable moved_;
  std::uint64_t passed_ = 0;
  bool closed_ = false;
};

class line_pipeline {
 public:
  explicit line_pipeline(const line_job& job)
      : job_(job),
        threads_(std::clamp(job.threads, 1u, most_threads)),
        chunk_bytes_(std::min(largest_chunk, all_chunks / threads_)),
        reader_(job.lines, chunk_bytes_),
        progress_(job.show_progress, total_size(job.lines.inputs)) {}

  line_totals run() {
    {
      std::vector<std::jthread> helpers;
      try {
        for (unsigned i = 1; i < threads_; ++i) helpers.emplace_back([this] { work(); });
      } catch (const std::exception&) {  // no more threads, or no memory for them: fewer do it too
      }
      work();
    }
    if (failure_) std::rethrow_exception(failure_);
    return {lines_, reader_.bytes_read()};
  }

 private:
  void work() noexcept {
    try {
      text_chunk chunk(chunk_bytes_);
      while (carry(chunk)) {
      }
    } catch (const abandoned&) {
      return;
    } catch (...) {
      fail(std::current_exception());
    }
  }

  /// Takes one chunk through all steps; false at the end.
  bool carry(text_chunk& chunk) {
    std::uint64_t number = 0;
    {
      const std::scoped_lock lock(reading_);
      number = chunks_;
      // Only one line at a time may be longer than a chunk, so the others go first.
      if (!reader_.next(chunk, [&] { writing_.enter(number); })) return false;
      ++chunks_;
    }
    chunk.hash_lines(job_.lines, job_.engine, job_.seed);
    if (job_.in_order) marking_.enter(number);
    job_.mark(chunk);
    if (job_.in_order) marking_.pass();
    if (job_.out != nullptr) chunk.keep(job_.wanted);

    writing_.enter(number);
    if (job_.out != nullptr) job_.out->write(chunk.text());
    lines_ += chunk.lines();
    chunk.reset();
    progress_.update(reader_.bytes_read());
    writing_.pass();
    return true;
  }

  void fail(std::exception_ptr failure) noexcept {
    const std::scoped_lock lock(failing_);
    if (!failure_) failure_ = std::move(failure);
    reader_.stop();
    marking_.close();
    writing_.close();
  }

  const line_job& job_;
  unsigned threads_;
  std::size_t chunk_bytes_;
  text_reader reader_;
  std::mutex reading_;
  std::uint64_t chunks_ = 0;  // read so far; guarded by reading_
  turnstile marking_;
  turnstile writing_;
  progress progress_;        // used between enter() and pass() of writing_
  std::uint64_t lines_ = 0;  // the same
  std::mutex failing_;
  std::exception_ptr failure_;
};

}  // namespace

line_totals run_lines(const line_job& job) {
  return line_pipeline(job).run();
}

}  // namespace octobloom::cli
