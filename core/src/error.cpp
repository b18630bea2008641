#include <octobloom/error.h>

namespace octobloom {

std::string_view to_string(error_code code) noexcept {
  switch (code) {
    case error_code::invalid_argument:
      return "invalid_argument";
    case error_code::out_of_memory:
      return "out_of_memory";
    case error_code::io:
      return "io";
    case error_code::bad_file:
      return "bad_file";
    case error_code::mismatch:
      return "mismatch";
    case error_code::wrong_key:
      return "wrong_key";
    case error_code::engine_unavailable:
      return "engine_unavailable";
    case error_code::full:
      return "full";
    case error_code::device:
      return "device";
  }
  return "unknown";
}

}  // namespace octobloom
