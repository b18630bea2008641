#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace octobloom {

/// What kind of thing went wrong. The sentence in `error::what()` says which thing, and what to do.
/// The numbers are stable: the C ABI returns them.
enum class error_code : int {
  invalid_argument = 1,    ///< a parameter is outside its range
  out_of_memory = 2,       ///< more memory than the machine or its control group has
  io = 3,                  ///< the operating system refused to read, write, lock or rename
  bad_file = 4,            ///< not a filter file, damaged, truncated, or of an unknown version
  mismatch = 5,            ///< two filters of different shape, seed or hash
  wrong_key = 6,           ///< this filter takes other keys (hashes only, for instance)
  engine_unavailable = 7,  ///< a forced engine or target is not built in, or not on this machine
  full = 8,                ///< a structure of bounded capacity can take no more
  device = 9,              ///< an accelerator reported an error
};

/// The name of a code, for messages and logs: "bad_file".
std::string_view to_string(error_code code) noexcept;

/// What octobloom throws on purpose, besides std::bad_alloc. After either, targets are as they were
/// before the call; but many keys go in chunk by chunk, and then the first of them may be in.
class error : public std::runtime_error {
 public:
  error(error_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] error_code code() const noexcept { return code_; }

 private:
  error_code code_;
};

}  // namespace octobloom
