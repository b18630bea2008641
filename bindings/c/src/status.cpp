#include <algorithm>
#include <array>
#include <cstring>

#include <octobloom/statistics.h>
#include <octobloom/version.h>

#include "guard.h"

namespace octobloom::c {

namespace {

static_assert(OCTOBLOOM_INVALID_ARGUMENT == static_cast<int>(error_code::invalid_argument));
static_assert(OCTOBLOOM_DEVICE == static_cast<int>(error_code::device));
static_assert(OCTOBLOOM_VERDICT_OVER_FULL == static_cast<int>(saturation::over_full));

thread_local std::array<char, 1024> last_message{};

}  // namespace

octobloom_status failed(octobloom_status status, std::string_view message) noexcept {
  const std::size_t size = std::min(message.size(), last_message.size() - 1);
  std::memcpy(last_message.data(), message.data(), size);
  last_message[size] = '\0';
  return status;
}

octobloom_status current_failure() noexcept {
  try {
    throw;
  } catch (const error& e) {
    return failed(static_cast<octobloom_status>(e.code()), e.what());
  } catch (const std::bad_alloc&) {
    return failed(OCTOBLOOM_OUT_OF_MEMORY, "the system refused memory");
  } catch (const std::exception& e) {
    return failed(OCTOBLOOM_INTERNAL, e.what());
  } catch (...) {
    return failed(OCTOBLOOM_INTERNAL, "unknown exception");
  }
}

void refuse(const std::string& message) {
  throw error(error_code::invalid_argument, message);
}

}  // namespace octobloom::c

const char* octobloom_message(void) {
  return octobloom::c::last_message.data();
}

const char* octobloom_status_name(octobloom_status status) {
  if (status == OCTOBLOOM_OK) return "ok";
  if (status == OCTOBLOOM_INTERNAL) return "internal";
  return octobloom::to_string(static_cast<octobloom::error_code>(status)).data();
}

const char* octobloom_verdict_name(octobloom_verdict verdict) {
  return octobloom::to_string(static_cast<octobloom::saturation>(verdict)).data();
}

const char* octobloom_version(void) {
  return OCTOBLOOM_VERSION;
}
