#include <memory>
#include <string>

#include "filters.h"
#include "line_filter.h"
#include "line_pipeline.h"
#include "numbers.h"
#include "output.h"
#include "process.h"
#include "terminal.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

struct remove_options : lines_and_filter {
  bool missing = false;
};

int run(remove_options& options) {
  options.lines.settle();
  const engine& e = options.common.chosen_engine();

  const announced_lock lock(options.filter);
  const auto target = options.open(access::write, e);
  const output out;
  if (options.missing) require_other_output(out, options.files());
  std::uint64_t removed = 0;
  const line_totals totals = run_lines(
      {.lines = options.lines,
       .engine = e,
       .seed = target->seed(),
       .threads = options.common.thread_count(),
       .show_progress = !options.common.quiet,
       .mark = [&](text_chunk& chunk) { removed += target->remove(chunk.hashes(), chunk.marks()); },
       .out = options.missing ? &out : nullptr,
       .wanted = false});
  target->save(options.filter);

  warn_if_full(*target, options.filter);
  if (const std::uint64_t strangers = totals.lines - removed; strangers > 0 && !options.missing) {
    warn(grouped(strangers) + " of the " + grouped(totals.lines) + " lines were not in " +
         options.filter + ", and nothing was taken out for them");
  }
  if (!options.common.quiet && stderr_is_terminal()) {
    note(grouped(removed) + " lines removed from " + options.filter);
  }
  return exit_done;
}

std::function<int()> declare(option_list& list) {
  auto options = std::make_shared<remove_options>();
  list.flag("--missing", options->missing, "print the lines that were not in it");
  options->declare_any_keys(list);
  options->declare(list, "the filter file, which is replaced when all is done");
  return [options] { return run(*options); };
}

}  // namespace

extern const verb remove_verb;
const verb remove_verb{
    "remove", "takes lines out of a counting or cuckoo filter",
    "octobloom remove members.octobloom left.txt # only lines that were inserted\n"
    "octobloom remove --missing members.octobloom left.txt # prints those that were not there",
    declare};

}  // namespace octobloom::cli
