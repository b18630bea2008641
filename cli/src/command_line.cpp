#include "command_line.h"

#include <CLI/CLI.hpp>

#include <octobloom/version.h>

#include "options.h"
#include "output.h"
#include "pages.h"
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

const CLI::App* chosen_verb(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? nullptr : verbs.front();
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
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(app_->help());
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
    print(page(*app_, page_));
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
  return "there is no verb '" + unknown.front() + "'; there are:" + verb_names();
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
