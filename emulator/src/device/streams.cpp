#include "device/streams.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "device/misuse.h"

namespace octobloom::emulated_device {

std::optional<std::uint64_t> whole_number(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, number);
  if (text.empty() || status != std::errc() || stop != end) return std::nullopt;
  return number;
}

bool stream_scheduler::is_order(const std::string& schedule) {
  return schedule == "late" || schedule == "early" || whole_number(schedule).has_value();
}

void stream_scheduler::set_order(const std::string& schedule) {
  if (!is_order(schedule)) misuse("the schedule \"" + schedule + "\"; it takes " + orders);
  order_ = schedule == "late" ? order::late : schedule == "early" ? order::early : order::mixed;
  if (order_ == order::mixed) random_.seed(*whole_number(schedule));
}

stream_queue& stream_scheduler::create(int device, bool blocking) {
  queues_.push_back(std::make_unique<stream_queue>(device, blocking));
  return *queues_.back();
}

void stream_scheduler::destroy(stream_queue& queue) {
  if (&queue == &default_stream(queue.device)) misuse("the default stream is destroyed");
  queue.destroyed = true;
}

stream_queue& stream_scheduler::checked(void* handle, int device) {
  if (handle == nullptr) return default_stream(device);
  for (const auto& one : queues_) {
    if (one.get() == handle && !one->destroyed) return *one;
  }
  misuse("a stream is used that was not created, or is destroyed");
}

std::size_t stream_scheduler::in_use() const {
  const auto used = std::count_if(queues_.begin(), queues_.end(),
                                  [](const auto& one) { return !one->destroyed; });
  return static_cast<std::size_t>(used - devices);  // their default streams are always there
}

operation_ptr stream_scheduler::add(stream_queue& queue, std::function<void()> work) {
  auto added = std::make_shared<operation>();
  added->work = std::move(work);
  added->queue = &queue;
  added->after = std::exchange(queue.next_after, {});
  const stream_queue& default_queue = default_stream(queue.device);
  if (&queue == &default_queue) {
    for (const auto& other : queues_) {
      if (other->device == queue.device && other->blocking && other.get() != &queue &&
          other->last != nullptr) {
        added->after.push_back(other->last);
      }
    }
  } else if (queue.blocking && default_queue.last != nullptr) {
    added->after.push_back(default_queue.last);
  }
  queue.waiting.push_back(added);
  queue.last = added;
  do_some();
  return added;
}

void stream_scheduler::do_next(stream_queue& queue) {
  const operation_ptr next = queue.waiting.front();
  for (const operation_ptr& earlier : next->after) finish(earlier);
  if (next->done) return;
  queue.waiting.pop_front();
  next->done = true;
  next->work();
  next->work = nullptr;
  next->after.clear();
  next->finished = std::chrono::steady_clock::now();
}

void stream_scheduler::finish(const operation_ptr& until) {
  while (!until->done) do_next(*until->queue);
}

void stream_scheduler::finish(stream_queue& queue) {
  for (const operation_ptr& earlier : std::exchange(queue.next_after, {})) finish(earlier);
  if (queue.last != nullptr) finish(queue.last);
  if (&queue != &default_stream(queue.device)) return;
  for (const auto& other : queues_) {
    if (other->device == queue.device && other->blocking && other->last != nullptr) {
      finish(other->last);
    }
  }
}

void stream_scheduler::finish_device(int device) {
  for (const auto& queue : queues_) {
    if (queue->device == device) finish(*queue);
  }
}

void stream_scheduler::finish_all() {
  for (const auto& queue : queues_) finish(*queue);
}

std::vector<stream_queue*> stream_scheduler::busy() {
  std::vector<stream_queue*> found;
  for (const auto& queue : queues_) {
    if (!queue->waiting.empty()) found.push_back(queue.get());
  }
  return found;
}

void stream_scheduler::do_some() {
  if (order_ == order::late) return;
  if (order_ == order::early) return finish_all();
  for (auto steps = random_() % 4; steps > 0; --steps) {
    const auto queues = busy();
    if (queues.empty()) return;
    do_next(*queues[random_() % queues.size()]);
  }
}

}  // namespace octobloom::emulated_device
