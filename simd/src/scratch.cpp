#include "scratch.h"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace octobloom::simd {

namespace {

std::mutex guard;
storage& waiting() {
  static storage block;
  return block;
}

storage take_waiting(std::uint64_t words) {
  const std::lock_guard lock(guard);
  storage block = std::move(waiting());
  if (block.size() >= words) return block;
  return {};
}

}  // namespace

scratch::scratch(std::uint64_t bytes) {
  const std::uint64_t words = std::max<std::uint64_t>(1, bytes / sizeof(std::uint64_t));
  memory_ = take_waiting(words);
  if (memory_.size() == 0) memory_ = storage(words);
}

scratch::~scratch() {
#if defined(MADV_FREE)
  // Only whole pages of a mapping of our own: smaller blocks come from the heap.
  if (memory_.size() * sizeof(std::uint64_t) >= std::uint64_t{2} << 20) {
    madvise(memory_.words(), used_ / 4096 * 4096, MADV_FREE);  // advice: nothing depends on it
  }
#endif
  const std::lock_guard lock(guard);
  if (memory_.size() > waiting().size()) std::swap(memory_, waiting());
}

void scratch::release() noexcept {
  const std::lock_guard lock(guard);
  waiting() = storage();
}

}  // namespace octobloom::simd
