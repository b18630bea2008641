#include <atomic>
#include <memory>

#include <nlohmann/json.hpp>

#include "filters.h"
#include "line_filter.h"
#include "line_pipeline.h"
#include "options.h"
#include "output.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

struct check_options : lines_and_filter {
  bool invert = false;
  bool count = false;
  bool json = false;
};

int run(check_options& options) {
  options.lines.settle();
  if (options.json && !options.count) throw usage_error("--json goes with -c");
  const engine& e = options.common.chosen_engine();

  const auto filter = options.open(access::read, e);
  warn_if_full(*filter, options.filter, reading::sample);
  const output out;
  if (!options.count) require_other_output(out, options.files());
  std::atomic<std::uint64_t> contained = 0;
  const line_totals totals =
      run_lines({.lines = options.lines,
                 .engine = e,
                 .seed = filter->seed(),
                 .threads = options.common.thread_count(),
                 .show_progress = !options.common.quiet,
                 .mark =
                     [&](text_chunk& chunk) {
                       contained += filter->may_contain(chunk.hashes(), chunk.marks());
                     },
                 .in_order = false,
                 .out = options.count ? nullptr : &out,
                 .wanted = !options.invert});
  const std::uint64_t found = options.invert ? totals.lines - contained : contained.load();
  if (options.json) {
    const nlohmann::ordered_json report{{"lines", totals.lines}, {"count", found}};
    print(report.dump(2) + "\n");
  } else if (options.count) {
    print(std::to_string(found) + "\n");
  }
  return found > 0 ? exit_done : exit_nothing_found;
}

std::function<int()> declare(option_list& list) {
  auto options = std::make_shared<check_options>();
  list.flag("-v,--invert-match", options->invert, "those lines that are not in it");
  list.flag("-c,--count", options->count, "only how many there are");
  list.flag("--json", options->json, "for machines, with -c");
  options->declare_any_keys(list);
  options->declare(list, "the filter file");
  return [options] { return run(*options); };
}

}  // namespace

extern const verb check_verb;
const verb check_verb{
    "check", "prints the lines that may be in a filter",
    "octobloom check spam.octobloom senders.txt # who is on the list, or very rarely is not\n"
    "octobloom check -v spam.octobloom senders.txt # who certainly is not on the list\n"
    "octobloom check -c seen.octobloom today.log # how many lines were seen before",
    declare};

}  // namespace octobloom::cli
