#pragma once

#include <octobloom/c.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <octobloom/error.h>

/// What stands between C++ and C: no exception passes, and nothing that is null or unknown comes
/// in.
namespace octobloom::c {

/// Remembers the message for this thread.
octobloom_status failed(octobloom_status status, std::string_view message) noexcept;

/// Of what is being thrown.
octobloom_status current_failure() noexcept;

/// Runs `action` and turns what it throws into a status.
template <class Action>
octobloom_status guarded(Action action) noexcept {
  try {
    action();
    return OCTOBLOOM_OK;
  } catch (...) {
    return current_failure();
  }
}

/// The same for answers of one key: 1, 0 or the negative status.
template <class Action>
std::int32_t guarded_answer(Action action) noexcept {
  bool answer = false;
  const octobloom_status status = guarded([&] { answer = action(); });
  return status == OCTOBLOOM_OK ? std::int32_t{answer} : -static_cast<std::int32_t>(status);
}

[[noreturn]] void refuse(const std::string& message);

template <class T>
T& deref(T* pointer, const char* name) {
  if (pointer == nullptr) refuse(std::string(name) + " is null");
  return *pointer;
}

template <class T>
void give(const T& value, T* out) noexcept {
  if (out != nullptr) *out = value;
}

}  // namespace octobloom::c
