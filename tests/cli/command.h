#pragma once

#include <concepts>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "process.h"

/// Runs the real command.
namespace octobloom_test {

struct command_outcome : outcome {
  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// The command, begun, unless the setup names another program.
class running_command : public running {
 public:
  running_command(const std::vector<std::string>& arguments, const setup& s)
      : running(arguments, s.program.empty() ? with_command(s) : s) {}

 private:
  static setup with_command(setup s) {
    s.program = OCTOBLOOM_COMMAND;
    return s;
  }
};

/// Runs the command to its end.
inline command_outcome run(const std::vector<std::string>& arguments,
                           const running::setup& setup = {}) {
  return {running_command(arguments, setup).wait()};
}
template <std::convertible_to<std::string> Text>
command_outcome run(const std::vector<std::string>& arguments, const Text& input) {
  return run(arguments, running::setup{.input = input});
}

/// The command ended with status 2, printed nothing, and said something with `words` in it.
inline void expect_failure(const outcome& result, const std::string& words) {
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find(words), std::string::npos)
      << "expected '" << words << "' in: " << result.err;
  EXPECT_EQ(result.err.rfind("octobloom: ", 0), 0u) << result.err;
}

inline void expect_success(const outcome& result, const std::string& out) {
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, out);
  EXPECT_EQ(result.err, "");
}

}  // namespace octobloom_test
