#pragma once

#include <functional>
#include <span>

namespace octobloom::cli {

class option_list;

/// Exit statuses of the command.
inline constexpr int exit_done = 0;
inline constexpr int exit_nothing_found = 1;
inline constexpr int exit_error = 2;

/// One verb of the command: its words, and what it does.
struct verb {
  const char* name;
  const char* summary;
  const char* examples;  ///< one a line: the command, " # ", what it does

  /// Declares the options of the verb and returns what runs once they are parsed, giving the exit
  /// status.
  std::function<int()> (*declare)(option_list& options);
};

/// Every verb, in the order of the help.
[[nodiscard]] std::span<const verb* const> all_verbs() noexcept;

}  // namespace octobloom::cli
