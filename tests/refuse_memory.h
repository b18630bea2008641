// Memory that is refused, in one program: include it once.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <octobloom/error.h>

namespace octobloom::test {

inline std::atomic<long> calls_left{-1};  // below 0: nothing is refused

inline void* take(std::size_t size, std::size_t alignment) {
  if (calls_left >= 0 && calls_left-- == 0) throw std::bad_alloc();
  const std::size_t whole = (size + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace octobloom::test

// Not inlined: a compiler that sees free() behind a delete takes it for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return octobloom::test::take(size, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return octobloom::test::take(size, static_cast<std::size_t>(alignment));
}
// A sanitizer's own would not ask the one above.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace octobloom::test {

/// Refuses the first request of `act`, then the second, and so on until `act` succeeds; after each
/// refusal `check`. Returns how often memory was refused.
template <class Act, class Check>
int refuse_each(Act act, Check check) {
  for (int n = 0; n < 10'000; ++n) {
    bool failed = false;
    calls_left = n;
    try {
      act();
    } catch (const std::bad_alloc&) {
      failed = true;
    } catch (const error& problem) {
      failed = true;
      EXPECT_EQ(problem.code(), error_code::out_of_memory) << problem.what();
    }
    calls_left = -1;
    if (!failed) return n;
    check();
  }
  ADD_FAILURE() << "it never succeeds";
  return 0;
}

}  // namespace octobloom::test
