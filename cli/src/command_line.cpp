#include "command_line.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <octobloom/version.h>

#include "options.h"
#include "output.h"
#include "pages.h"
#include "process.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

constexpr const char* about =
    "Bloom filters for many lines: removes repeats, remembers what was seen, in one file format.";

std::string examples_text(const std::string& examples) {
  std::string text = "Examples:\n";
  for (const std::string& line : CLI::detail::split(examples, '\n')) {
    const auto hash = line.find(" # ");
    text += "  # " + line.substr(hash + 3) + "\n  " + line.substr(0, hash) + "\n";
  }
  text.pop_back();
  return text;
}

std::string verb_names() {
  std::string text;
  for (const verb* v : all_verbs()) text += std::string(" ") + v->name;
  return text;
}

std::string no_such_verb(const std::string& word) {
  return "there is no verb '" + word + "'; there are:" + verb_names();
}

const CLI::App* chosen_verb(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? nullptr : verbs.front();
}

/// CLI11's own search for an option is one that must not throw, and takes memory.
const CLI::Option* find_option(const CLI::App& verb, const std::string& word) {
  const auto found = verb.get_options([&](const CLI::Option* o) { return o->check_name(word); });
  return found.empty() ? nullptr : found.front();
}

/// Whether the argument after `word` is its value.
bool awaits_value(const CLI::App& verb, const std::string& word) {
  if (word.starts_with("--")) {
    const CLI::Option* option = find_option(verb, word);
    return option != nullptr && takes_value(*option);
  }
  // Letters in one word: the first that takes a value takes the rest of the word.
  for (std::size_t i = 1; i < word.size(); ++i) {
    const CLI::Option* option = find_option(verb, {'-', word[i]});
    if (option == nullptr) return false;
    if (takes_value(*option)) return i + 1 == word.size();
  }
  return false;
}

/// The arguments with their names written so that CLI11 takes them for names, and without the mark
/// `--`. At that mark CLI11 2.1 ends a verb that has all the names it needs, at `++` it ends any
/// verb, and `[a,b]` is two names to it.
std::vector<std::string> with_plain_names(const CLI::App& app, std::vector<std::string> arguments) {
  const auto verbs = app.get_subcommands([&](const CLI::App* verb) {
    return !arguments.empty() && verb->get_name() == arguments.front();
  });
  if (verbs.empty()) {
    // CLI11 would look for it by what must not throw, and takes memory for a long word.
    if (!arguments.empty() && !arguments.front().starts_with('-')) {
      throw usage_error(no_such_verb(arguments.front()));
    }
    return arguments;
  }
  std::vector<std::string> plain;
  bool only_names = false;
  bool is_value = false;
  for (std::string& word : arguments) {
    const bool is_mark = !only_names && !is_value && word == "--";
    only_names = only_names || is_mark;
    if (is_mark) continue;
    const bool is_option = !only_names && !is_value && word.starts_with('-');
    const bool is_misread = word == "++" || (word.starts_with('[') && word.ends_with(']')) ||
                            (only_names && word.starts_with('-') && word != "-");
    if (!is_value && is_misread) word.insert(0, "./");
    is_value = is_option && awaits_value(*verbs.front(), word);
    plain.push_back(std::move(word));
  }
  return plain;
}

}  // namespace

command_line::command_line() : app_(std::make_unique<CLI::App>(about, "octobloom")) {
  app_->get_formatter()->label("SUBCOMMAND", "VERB");
  app_->get_formatter()->label("Subcommands", "Verbs");
  app_->get_formatter()->column_width(34);
  app_->set_help_flag("-h,--help", "this text");
  app_->set_version_flag("--version", "octobloom " OCTOBLOOM_VERSION, "the version");
  add_pages_option(*app_, page_);
  app_->require_subcommand(0, 1);
  app_->footer(
      "'octobloom VERB --help' says more, with examples.\n"
      "Exit status: 0 done, 1 nothing found (check), 2 an error.");
  for (const verb* v : all_verbs()) {
    CLI::App* sub = app_->add_subcommand(v->name, v->summary);
    sub->group("Verbs");
    sub->footer("");
    sub->footer([v] { return examples_text(v->examples); });
    option_list options(*sub);
    actions_[sub] = v->declare(options);
  }
}

command_line::~command_line() = default;

int command_line::run(int argc, char** argv) {
  try {
    std::vector<std::string> arguments =
        with_plain_names(*app_, {argv + std::min(argc, 1), argv + argc});
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes the last first
    app_->parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    const std::string help = app_->help();
    require_no_refusal();
    print(help);
    return exit_done;
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + "\n");
    return exit_done;
  } catch (const CLI::ExtrasError& problem) {
    throw usage_error(unknown_argument(problem.what()));
  } catch (const CLI::ParseError& problem) {
    throw usage_error(problem.what());
  }
  if (!page_.empty()) {
    const std::string text = page(*app_, page_);
    require_no_refusal();
    print(text);
    return exit_done;
  }
  const CLI::App* chosen = chosen_verb(*app_);
  if (chosen == nullptr) throw usage_error("no verb is given; there are:" + verb_names());
  return actions_.at(chosen)();
}

std::string command_line::unknown_argument(const std::string& message) const {
  if (chosen_verb(*app_) != nullptr) return message;
  const std::vector<std::string> unknown = app_->remaining();
  if (unknown.empty() || unknown.front().starts_with('-')) return message;
  return no_such_verb(unknown.front());
}

std::string command_line::place() const {
  const CLI::App* chosen = chosen_verb(*app_);
  return chosen == nullptr ? "" : chosen->get_name() + ": ";
}

std::string command_line::help_command() const {
  const CLI::App* chosen = chosen_verb(*app_);
  return "octobloom " + (chosen == nullptr ? "" : chosen->get_name() + " ") + "--help";
}

}  // namespace octobloom::cli
