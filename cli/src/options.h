#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <octobloom/engine.h>

#include "numbers.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
class Option;
}  // namespace CLI

namespace octobloom::cli {

/// Options that are fine each and make no sense together. Ends the command with status 2 and a
/// pointer to the help.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What every verb takes.
struct common_options {
  std::uint64_t threads = 0;  ///< as given; 0: all cores
  std::string engine;         ///< empty: the environment's choice, or the fastest
  bool quiet = false;

  [[nodiscard]] unsigned thread_count() const;
  /// Throws error{engine_unavailable}.
  [[nodiscard]] const octobloom::engine& chosen_engine() const;
};

/// How lines are read.
struct line_options {
  std::vector<std::string> inputs;  ///< "-" is stdin
  bool nul = false;
  bool crlf = false;

  /// Once parsed: no input means stdin. Throws usage_error.
  void settle();

  [[nodiscard]] char separator() const noexcept { return nul ? '\0' : '\n'; }
};

/// Whether an option is followed by a value; a flag is not.
[[nodiscard]] bool takes_value(const CLI::Option& option);

/// What "-" means where a file is named: standard input or output, or nothing.
enum class dash { standard, refused };

/// Declares the options of a verb. Targets must outlive the parsing; a target keeps its value when
/// the option is not given.
class option_list {
 public:
  explicit option_list(CLI::App& app) : app_(app) {}

  /// An option that was just declared.
  class declared {
   public:
    explicit declared(CLI::Option* option) : option_(option) {}
    void required();

   private:
    CLI::Option* option_;
  };

  void flag(const std::string& names, bool& target, const std::string& help);
  /// A flag that sets `target` to `value`.
  void flag(const std::string& names, std::string& target, const std::string& value,
            const std::string& help);
  /// A count from `low` to `high`.
  declared count(const std::string& names, std::optional<std::uint64_t>& target,
                 const std::string& help, std::uint64_t low = 0, std::uint64_t high = UINT64_MAX);
  declared size(const std::string& names, std::optional<std::uint64_t>& target,
                const std::string& help);
  declared window(const std::string& names, std::optional<window_size>& target,
                  const std::string& help);
  declared time(const std::string& names, std::optional<std::chrono::nanoseconds>& target,
                const std::string& help);
  declared rate(const std::string& names, std::optional<double>& target, const std::string& help);
  declared seed(std::optional<std::uint64_t>& target, const std::string& help);
  declared file(const std::string& names, std::string& target, const std::string& help,
                dash meaning = dash::refused);
  declared files(const std::string& name, std::vector<std::string>& target, const std::string& help,
                 dash meaning = dash::refused);
  declared choice(const std::string& names, std::string& target,
                  const std::vector<std::string>& values, const std::string& help);

  void common(common_options& target);
  void no_verify(bool& verify_body);
  /// --any-keys.
  void any_keys(bool& target);
  void force(bool& target);
  /// -z, --crlf, and the inputs.
  void lines(line_options& target);

 private:
  using setter = std::function<void(const std::string&)>;
  declared add(const std::string& names, const std::string& type, const std::string& help,
               const setter& set);

  CLI::App& app_;
};

}  // namespace octobloom::cli
