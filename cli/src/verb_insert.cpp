#include <memory>

#include "filters.h"
#include "line_filter.h"
#include "line_pipeline.h"
#include "numbers.h"
#include "process.h"
#include "terminal.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

int run(lines_and_filter& options) {
  options.lines.settle();
  const engine& e = options.common.chosen_engine();

  const announced_lock lock(options.filter);
  options.any_keys = true;  // another family is no mistake here
  const auto target = options.open(access::write, e);
  const line_totals totals =
      run_lines({.lines = options.lines,
                 .engine = e,
                 .seed = target->seed(),
                 .threads = options.common.thread_count(),
                 .show_progress = !options.common.quiet,
                 .mark = [&](text_chunk& chunk) { target->insert(chunk.hashes()); }});
  target->save(options.filter);

  warn_if_full(*target, options.filter);
  if (!options.common.quiet && stderr_is_terminal()) {
    note(grouped(totals.lines) + " lines inserted into " + options.filter);
  }
  return exit_done;
}

std::function<int()> declare(option_list& list) {
  auto options = std::make_shared<lines_and_filter>();
  options->declare(list, "the filter file, which is replaced when all is done");
  return [options] { return run(*options); };
}

}  // namespace

extern const verb insert_verb;
const verb insert_verb{"insert", "adds lines to a filter file",
                       "octobloom insert seen.octobloom events.log # adds every line of a file\n"
                       "cut -f1 events.tsv | octobloom insert seen.octobloom # adds what a pipe "
                       "brings",
                       declare};

}  // namespace octobloom::cli
