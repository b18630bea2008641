#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace octobloom::emulated_device {

/// As many as a program needs to mix them up.
inline constexpr int devices = 2;

/// Of digits alone; nothing when it is something else, or too large.
[[nodiscard]] std::optional<std::uint64_t> whole_number(const std::string& text);

class stream_queue;

/// A piece of work in a stream.
struct operation {
  std::function<void()> work;
  std::vector<std::shared_ptr<operation>> after;  ///< of other streams
  stream_queue* queue = nullptr;
  bool done = false;
  std::chrono::steady_clock::time_point finished;
};
using operation_ptr = std::shared_ptr<operation>;

/// A stream: its work is done in its order.
class stream_queue {
 public:
  explicit stream_queue(int its_device, bool waits) : device(its_device), blocking(waits) {}

  int device;
  /// Whether it waits for its device's default stream, and that for it.
  bool blocking;
  bool destroyed = false;
  std::deque<operation_ptr> waiting;
  operation_ptr last;                     ///< the newest, done or not
  std::vector<operation_ptr> next_after;  ///< what the next one has to wait for
};

/// All streams of the device, and the order in which their work is done: any that CUDA allows.
class stream_scheduler {
 public:
  /// `late`, `early` or a number.
  explicit stream_scheduler(const std::string& schedule) {
    set_order(schedule);
    for (int device = 0; device < devices; ++device) create(device, true);
  }
  void set_order(const std::string& schedule);
  [[nodiscard]] static bool is_order(const std::string& schedule);
  static constexpr const char* orders = "late, early or a number from 0 to 2^64 - 1";
  stream_scheduler(const stream_scheduler&) = delete;
  stream_scheduler& operator=(const stream_scheduler&) = delete;

  stream_queue& create(int device, bool blocking);
  /// What is in it is still done.
  void destroy(stream_queue& queue);
  [[nodiscard]] stream_queue& default_stream(int device) {
    return *queues_[static_cast<std::size_t>(device)];
  }
  /// Null is the default stream of `device`. Ends the program when there is no such stream.
  [[nodiscard]] stream_queue& checked(void* handle, int device);
  /// Those that were created and not destroyed.
  [[nodiscard]] std::size_t in_use() const;

  operation_ptr add(stream_queue& queue, std::function<void()> work);
  void finish(const operation_ptr& until);
  void finish(stream_queue& queue);
  /// Of one device, or of all.
  void finish_device(int device);
  void finish_all();

 private:
  void do_next(stream_queue& queue);
  void do_some();
  [[nodiscard]] std::vector<stream_queue*> busy();

  enum class order { late, early, mixed } order_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<stream_queue>> queues_;
};

}  // namespace octobloom::emulated_device
