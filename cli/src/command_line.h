#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace octobloom::cli {

/// The whole command line: the verbs, what all of them share, and the pages made from it.
class command_line {
 public:
  command_line();
  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;
  ~command_line();

  /// Parses and runs; gives the exit status. Throws usage_error, closed_pipe, octobloom::error.
  int run(int argc, char** argv);

  /// "dedup: ", or nothing before a verb is known.
  [[nodiscard]] std::string place() const;
  /// "octobloom dedup --help".
  [[nodiscard]] std::string help_command() const;

 private:
  [[nodiscard]] std::string unknown_argument(const std::string& message) const;

  std::unique_ptr<CLI::App> app_;
  std::map<const CLI::App*, std::function<int()>> actions_;
  std::string page_;
};

}  // namespace octobloom::cli
