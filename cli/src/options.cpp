#include "options.h"

#include <algorithm>
#include <thread>

#include <CLI/CLI.hpp>

#include <octobloom/engines.h>

#include "numbers.h"

namespace octobloom::cli {

namespace {

constexpr std::uint64_t max_threads = 1024;

void require_file_name(const std::string& text, dash meaning) {
  if (text.empty()) throw std::invalid_argument("the name of the file is empty");
  if (text == "-" && meaning == dash::refused) {
    throw std::invalid_argument(
        "'-' cannot stand for standard input or output here; a file of that name is ./-");
  }
}

}  // namespace

unsigned common_options::thread_count() const {
  return threads != 0 ? static_cast<unsigned>(threads)
                      : std::max(1u, std::thread::hardware_concurrency());
}

const octobloom::engine& common_options::chosen_engine() const {
  return engine.empty() ? choose_engine() : find_engine(engine);
}

void line_options::settle() {
  if (nul && crlf) throw usage_error("-z and --crlf exclude each other");
  if (inputs.empty()) inputs.emplace_back("-");
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

void option_list::declared::required() {
  option_->required();
}

option_list::declared option_list::add(const std::string& names, const std::string& type,
                                       const std::string& help, const setter& set) {
  const std::string first = names.substr(0, names.find(','));
  CLI::Option* option = app_.add_option(
      names,
      [set, first](const CLI::results_t& results) {
        try {
          for (const std::string& result : results) set(result);
        } catch (const std::invalid_argument& problem) {
          throw CLI::ValidationError(first, problem.what());
        }
        return true;
      },
      help);
  option->type_name(type);
  return declared(option);
}

void option_list::flag(const std::string& names, bool& target, const std::string& help) {
  app_.add_flag_function(
      names, [&target](std::int64_t) { target = true; }, help);
}

void option_list::flag(const std::string& names, std::string& target, const std::string& value,
                       const std::string& help) {
  app_.add_flag_function(
      names, [&target, value](std::int64_t) { target = value; }, help);
}

option_list::declared option_list::count(const std::string& names,
                                         std::optional<std::uint64_t>& target,
                                         const std::string& help, std::uint64_t low,
                                         std::uint64_t high) {
  return add(names, "COUNT", help, [&target, low, high](const std::string& text) {
    const std::uint64_t value = parse_count(text);
    if (value < low || value > high) {
      throw std::invalid_argument(
          "'" + text + "' is outside the range from " + std::to_string(low) +
          (high == UINT64_MAX ? std::string(" up") : " to " + std::to_string(high)));
    }
    target = value;
  });
}

option_list::declared option_list::size(const std::string& names,
                                        std::optional<std::uint64_t>& target,
                                        const std::string& help) {
  return add(names, "SIZE", help, [&target](const std::string& text) {
    target = parse_size(text);
    if (*target < 64) {
      throw std::invalid_argument("'" + text + "' is less than the 64 bytes of the least filter");
    }
  });
}

option_list::declared option_list::window(const std::string& names,
                                          std::optional<window_size>& target,
                                          const std::string& help) {
  return add(names, "COUNT|TIME", help,
             [&target](const std::string& text) { target = parse_window(text); });
}

option_list::declared option_list::time(const std::string& names,
                                        std::optional<std::chrono::nanoseconds>& target,
                                        const std::string& help) {
  return add(names, "TIME", help,
             [&target](const std::string& text) { target = parse_time(text); });
}

option_list::declared option_list::rate(const std::string& names, std::optional<double>& target,
                                        const std::string& help) {
  return add(names, "RATE", help,
             [&target](const std::string& text) { target = parse_rate(text); });
}

option_list::declared option_list::seed(std::optional<std::uint64_t>& target,
                                        const std::string& help) {
  return add("--seed", "SEED", help,
             [&target](const std::string& text) { target = parse_seed(text); });
}

option_list::declared option_list::file(const std::string& names, std::string& target,
                                        const std::string& help, dash meaning) {
  return add(names, "FILE", help, [&target, meaning](const std::string& text) {
    require_file_name(text, meaning);
    target = text;
  });
}

option_list::declared option_list::files(const std::string& name, std::vector<std::string>& target,
                                         const std::string& help, dash meaning) {
  const declared result = add(name, "FILE", help, [&target, meaning](const std::string& text) {
    require_file_name(text, meaning);
    target.push_back(text);
  });
  app_.get_option(name)->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args();
  return result;
}

option_list::declared option_list::choice(const std::string& names, std::string& target,
                                          const std::vector<std::string>& values,
                                          const std::string& help) {
  const std::string type = CLI::detail::join(values, "|");
  return add(names, type, help, [&target, values, type](const std::string& text) {
    if (std::find(values.begin(), values.end(), text) == values.end()) {
      throw std::invalid_argument("'" + text + "' is not one of " + type);
    }
    target = text;
  });
}

void option_list::common(common_options& target) {
  add("-j,--threads", "COUNT", "threads to work on; 0, the default, is one a core",
      [&target](const std::string& text) {
        target.threads = parse_count(text);
        if (target.threads > max_threads) {
          throw std::invalid_argument("'" + text + "' is outside the range from 0 to " +
                                      std::to_string(max_threads));
        }
      });
  choice("--engine", target.engine, {engine_names().begin(), engine_names().end()},
         "who does the work; default: $OCTOBLOOM_ENGINE, otherwise auto");
  flag("-q,--quiet", target.quiet, "no progress and no summary; warnings stay");
}

void option_list::no_verify(bool& verify_body) {
  app_.add_flag_function(
      "--no-verify", [&verify_body](std::int64_t) { verify_body = false; },
      "do not compare the body of a filter file with its checksum");
}

void option_list::force(bool& target) {
  flag("--force", target, "let the filter take the place of a file that is none");
}

void option_list::any_keys(bool& target) {
  flag("--any-keys", target,
       "go on with a filter that tells of other keys than lines, of integers for instance");
}

void option_list::lines(line_options& target) {
  flag("-z,--zero-terminated", target.nul, "lines end with a NUL byte, not with a newline");
  flag("--crlf", target.crlf, "a carriage return at the end of a line is no part of it");
  files("INPUT", target.inputs, "files to read lines from; '-' or none: standard input",
        dash::standard);
}

}  // namespace octobloom::cli
