#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <octobloom/error.h>

#include "filters.h"
#include "line_filter.h"
#include "options.h"
#include "output.h"
#include "process.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

struct merge_options {
  common_options common;
  std::string output;
  std::vector<std::string> filters;
  bool verify_body = true;
  bool force = false;
};

int run(const merge_options& options) {
  if (!options.force) require_replaceable(options.output);
  const load_options loading{.verify_body = options.verify_body};
  const std::string& first = options.filters.front();
  // One of them may be the output: nobody may write to that between its reading and its replacing.
  const bool in_place =
      std::any_of(options.filters.begin(), options.filters.end(),
                  [&](const std::string& path) { return is_same_file(path, options.output); });
  const announced_lock lock(
      options.output, in_place ? file_lock::if_impossible::fail : file_lock::if_impossible::go_on);
  line_filter target(first, access::write, loading);
  for (std::size_t i = 1; i < options.filters.size(); ++i) {
    const std::string& path = options.filters[i];
    try {
      target.merge(path, loading);
    } catch (const error& problem) {
      if (problem.code() != error_code::mismatch) throw;
      throw error(error_code::mismatch, first + " and " + path + ": " + problem.what());
    }
  }
  target.save(options.output);
  warn_if_full(target, options.output);
  return exit_done;
}

std::function<int()> declare(option_list& list) {
  auto options = std::make_shared<merge_options>();
  list.file("-o,--output", options->output,
            "the filter file that holds what any of them holds; may be one of them")
      .required();
  list.files(
          "FILTER", options->filters,
          "plain, counting or windowed filter files of one size, k and seed; the plan of the first "
          "one is kept")
      .required();
  list.force(options->force);
  list.no_verify(options->verify_body);
  list.common(options->common);
  return [options] { return run(*options); };
}

}  // namespace

extern const verb merge_verb;
const verb merge_verb{
    "merge", "makes one filter of several",
    "octobloom merge -o week.octobloom monday.octobloom tuesday.octobloom # both days in one",
    declare};

}  // namespace octobloom::cli
