#include "pages.h"

#include <array>
#include <vector>

#include <CLI/CLI.hpp>

#include <octobloom/version.h>

#include "options.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

using option = CLI::Option;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return CLI::detail::find_and_replace(std::move(text), from, to);
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  return CLI::detail::join(words, between);
}

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// Options with names, as the help shows them.
std::vector<const option*> options_of(const CLI::App& app) {
  return app.get_options(
      [](const option* o) { return o->nonpositional() && !o->get_group().empty(); });
}

std::vector<const option*> positionals_of(const CLI::App& app) {
  return app.get_options([](const option* o) { return o->get_positional(); });
}

std::vector<std::string> names_of(const option& o) {
  std::vector<std::string> names;
  for (const std::string& name : o.get_snames()) names.push_back("-" + name);
  for (const std::string& name : o.get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_file(const option& o) {
  return o.get_type_name() == "FILE";
}

/// The words that an option takes, when it takes one of a list. A type in capitals is no word, but
/// stands for what it names.
std::vector<std::string> choices_of(const option& o) {
  const std::string type = o.get_type_name();
  if (type.find('|') == std::string::npos || type.front() < 'a') return {};
  return CLI::detail::split(type, '|');
}

// --- manual ---

std::string roff(std::string text) {
  text = replaced(std::move(text), "\\", "\\e");
  text = replaced(std::move(text), "-", "\\-");
  text = replaced(std::move(text), "'", "\\(aq");
  if (text.starts_with('.')) text.insert(0, "\\&");
  return replaced(std::move(text), "\n.", "\n\\&.");
}

std::string man_options(const CLI::App& app) {
  std::string text;
  for (const option* o : options_of(app)) {
    std::vector<std::string> names;
    for (const std::string& name : names_of(*o)) names.push_back("\\fB" + roff(name) + "\\fR");
    text += ".TP\n" + joined(names, ", ");
    if (takes_value(*o)) text += " \\fI" + roff(o->get_type_name()) + "\\fR";
    text += "\n" + roff(o->get_description()) + ".\n";
  }
  return text;
}

std::string man_verb(const CLI::App& app) {
  std::string text = ".SS \"octobloom " + app.get_name();
  text += " [OPTION]...";
  for (const option* o : positionals_of(app)) {
    std::string name = o->get_name(true);
    if (o->get_items_expected_max() > 1) name += "...";
    text += o->get_required() ? " " + name : " [" + name + "]";
  }
  text += "\"\n" + roff(app.get_description()) + ".\n";
  for (const option* o : positionals_of(app)) {
    text += ".TP\n\\fI" + roff(o->get_name(true)) + "\\fR\n" + roff(o->get_description()) + ".\n";
  }
  return text + man_options(app);
}

std::string man_examples() {
  std::string text;
  for (const verb* v : all_verbs()) {
    for (const std::string& line : CLI::detail::split(v->examples, '\n')) {
      const auto hash = line.find(" # ");
      text += ".PP\n" + roff(line.substr(hash + 3)) + ":\n.PP\n.RS 4\n.nf\n" +
              roff(line.substr(0, hash)) + "\n.fi\n.RE\n";
    }
  }
  return text;
}

std::string man(const CLI::App& app) {
  std::string text = ".TH OCTOBLOOM 1 \"\" \"octobloom " OCTOBLOOM_VERSION "\" \"User Commands\"\n";
  text += ".SH NAME\noctobloom \\- Bloom filters for many lines\n";
  text += ".SH SYNOPSIS\n.B octobloom\n\\fIVERB\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n";
  text += ".SH DESCRIPTION\n" + roff(app.get_description()) + "\n";
  text +=
      ".PP\nA Bloom filter takes about ten bits for each key and answers whether it has seen one. "
      "It never says no of a key that it has seen; of a key that it has not seen it says yes at a "
      "small rate that its size decides. Lines are bytes up to the newline; data goes to standard "
      "output, and all other words to standard error.\n";
  text +=
      ".PP\nNumbers may be written 1000000, 10M or 1e6 (powers of 1000), sizes 512M or 2G (powers "
      "of 1024).\n";
  text += ".SH OPTIONS\n" + man_options(app);
  text += ".SH VERBS\n";
  for (const CLI::App* sub : verbs_of(app)) text += man_verb(*sub);
  text += ".SH \"EXIT STATUS\"\n";
  for (const auto& [status, meaning] : std::array<std::pair<const char*, const char*>, 3>{
           {{"0", "all was done"},
            {"1", "check printed nothing"},
            {"2", "an error, which standard error tells in words"}}}) {
    text += std::string(".TP\n") + status + "\n" + meaning + ".\n";
  }
  text += ".SH ENVIRONMENT\n";
  text +=
      ".TP\nOCTOBLOOM_ENGINE\nThe engine that works unless \\fB\\-\\-engine\\fR names one; one "
      "that "
      "cannot run here is an error.\n";
  text +=
      ".TP\nOCTOBLOOM_TARGET\nThe instruction set that the simd engine uses; one that is not there "
      "is an error.\n";
  text += ".TP\nNO_COLOR\nSet and not empty: no colours.\n";
  return text + ".SH EXAMPLES\n" + man_examples();
}

// --- completions ---

std::vector<std::string> verb_words(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* sub : verbs_of(app)) words.push_back(sub->get_name());
  return words;
}

std::vector<std::string> option_words(const CLI::App& app) {
  std::vector<std::string> words;
  for (const option* o : options_of(app)) {
    for (const std::string& name : names_of(*o)) words.push_back(name);
  }
  return words;
}

/// What bash completes after an option: "case" branches of "verb:option".
std::string bash_values(const CLI::App& app) {
  std::string text;
  for (const option* o : options_of(app)) {
    if (!takes_value(*o)) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : names_of(*o)) patterns.push_back(app.get_name() + ":" + name);
    std::string action = "COMPREPLY=()";
    if (takes_file(*o)) action = "COMPREPLY=($(compgen -f -- \"$word\"))";
    if (const auto choices = choices_of(*o); !choices.empty()) {
      action = "COMPREPLY=($(compgen -W \"" + joined(choices, " ") + "\" -- \"$word\"))";
    }
    text += "    " + joined(patterns, "|") + ") " + action + "; return ;;\n";
  }
  return text;
}

std::string bash(const CLI::App& app) {
  std::string text = "# bash completion of octobloom " OCTOBLOOM_VERSION "\n";
  text += "_octobloom() {\n  local word=${COMP_WORDS[COMP_CWORD]} before= verb= i\n";
  text += "  ((COMP_CWORD > 0)) && before=${COMP_WORDS[COMP_CWORD - 1]}\n";
  text += "  for ((i = 1; i < COMP_CWORD; ++i)); do\n    case ${COMP_WORDS[i]} in\n      ";
  text += joined(verb_words(app), "|") + ") verb=${COMP_WORDS[i]}; break ;;\n    esac\n  done\n";
  text += "  case $verb:$before in\n";
  for (const CLI::App* sub : verbs_of(app)) text += bash_values(*sub);
  text += "  esac\n  case $verb:$word in\n";
  for (const CLI::App* sub : verbs_of(app)) {
    text += "    " + sub->get_name() + ":-*) COMPREPLY=($(compgen -W \"" +
            joined(option_words(*sub), " ") + "\" -- \"$word\")) ;;\n";
  }
  text += "    :-*) COMPREPLY=($(compgen -W \"" + joined(option_words(app), " ") +
          "\" -- \"$word\")) ;;\n";
  text += "    :*) COMPREPLY=($(compgen -W \"" + joined(verb_words(app), " ") +
          "\" -- \"$word\")) ;;\n";
  text += "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n  esac\n}\n";
  return text + "complete -o filenames -F _octobloom octobloom\n";
}

std::string zsh_text(std::string text) {
  for (const char* special : {"\\", "[", "]", ":"}) {
    text = replaced(std::move(text), special, std::string("\\") + special);
  }
  return replaced(std::move(text), "'", "'\\''");
}

std::string zsh_action(const option& o) {
  if (takes_file(o)) return "_files";
  return "(" + joined(choices_of(o), " ") + ")";
}

std::string zsh_options(const CLI::App& app, const std::string& indent) {
  std::string text;
  for (const option* o : options_of(app)) {
    const std::vector<std::string> names = names_of(*o);
    for (const std::string& name : names) {
      text += indent + "'(" + joined(names, " ") + ")" + name;
      if (takes_value(*o) && name.starts_with("--")) text += "=";
      text += "[" + zsh_text(o->get_description()) + "]";
      if (takes_value(*o)) {
        const std::string type = choices_of(*o).empty() ? o->get_type_name() : "choice";
        text += ":" + zsh_text(type) + ":" +
                (choices_of(*o).empty() && !takes_file(*o) ? std::string(" ") : zsh_action(*o));
      }
      text += "' \\\n";
    }
  }
  return text;
}

std::string zsh(const CLI::App& app) {
  std::string text = "#compdef octobloom\n# zsh completion of octobloom " OCTOBLOOM_VERSION "\n";
  text += "_octobloom() {\n  local curcontext=$curcontext state line\n  _arguments -C \\\n";
  text += zsh_options(app, "    ");
  text += "    '1: :->verb' '*:: :->rest' && return\n";
  text += "  case $state in\n    verb)\n      local -a verbs=(\n";
  for (const CLI::App* sub : verbs_of(app)) {
    text += "        '" + sub->get_name() + ":" + zsh_text(sub->get_description()) + "'\n";
  }
  text += "      )\n      _describe verb verbs ;;\n    rest)\n      case ${line[1]} in\n";
  for (const CLI::App* sub : verbs_of(app)) {
    text += "        " + sub->get_name() + ")\n          _arguments \\\n" +
            zsh_options(*sub, "            ") + "            '*:file:_files' ;;\n";
  }
  return text + "      esac ;;\n  esac\n}\n_octobloom \"$@\"\n";
}

std::string fish_text(std::string text) {
  text = replaced(std::move(text), "\\", "\\\\");
  return replaced(std::move(text), "'", "\\'");
}

std::string fish_options(const CLI::App& app, const std::string& condition) {
  std::string text;
  for (const option* o : options_of(app)) {
    text += "complete -c octobloom -n '" + condition + "'";
    for (const std::string& name : o->get_snames()) text += " -s " + name;
    for (const std::string& name : o->get_lnames()) text += " -l " + name;
    if (takes_value(*o)) text += takes_file(*o) ? " -r -F" : " -x";
    if (const auto choices = choices_of(*o); !choices.empty()) {
      text += " -a '" + joined(choices, " ") + "'";
    }
    text += " -d '" + fish_text(o->get_description()) + "'\n";
  }
  return text;
}

std::string fish(const CLI::App& app) {
  std::string text = "# fish completion of octobloom " OCTOBLOOM_VERSION "\n";
  for (const CLI::App* sub : verbs_of(app)) {
    text += "complete -c octobloom -f -n __fish_use_subcommand -a " + sub->get_name() + " -d '" +
            fish_text(sub->get_description()) + "'\n";
  }
  text += fish_options(app, "__fish_use_subcommand");
  for (const CLI::App* sub : verbs_of(app)) {
    text += fish_options(*sub, "__fish_seen_subcommand_from " + sub->get_name());
  }
  return text;
}

struct page_format {
  const char* name;
  std::string (*make)(const CLI::App&);
};

constexpr std::array<page_format, 4> formats{
    {{"man", man}, {"bash", bash}, {"zsh", zsh}, {"fish", fish}}};

}  // namespace

void add_pages_option(CLI::App& app, std::string& format) {
  std::vector<std::string> names;
  names.reserve(formats.size());
  for (const page_format& f : formats) names.emplace_back(f.name);
  option_list(app).choice("--generate", format, names, "print the manual or a shell's completions");
  app.get_option("--generate")->group("");
}

std::string page(const CLI::App& app, const std::string& format) {
  for (const page_format& f : formats) {
    if (format == f.name) return f.make(app);
  }
  throw std::logic_error("a page of no format");
}

}  // namespace octobloom::cli
