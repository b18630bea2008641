#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

/// Pages made from the command line's definition: manual and completions.
namespace octobloom::cli {

/// Declares the option, hidden in the help, that asks for a page: `format` receives its name.
void add_pages_option(CLI::App& app, std::string& format);

/// The page of that format ("man", "bash", "zsh", "fish").
[[nodiscard]] std::string page(const CLI::App& app, const std::string& format);

}  // namespace octobloom::cli
