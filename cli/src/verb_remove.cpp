#include <memory>
#include <optional>
#include <string>

#include <octobloom/file.h>

#include "filters.h"
#include "line_filter.h"
#include "line_pipeline.h"
#include "numbers.h"
#include "options.h"
#include "output.h"
#include "reader.h"
#include "terminal.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

struct remove_options {
  common_options common;
  line_options lines;
  std::string filter;
  std::optional<std::uint64_t> seed;
  bool missing = false;
  bool verify_body = true;
};

int run(remove_options& options) {
  options.lines.settle();
  const engine& e = options.common.chosen_engine();
  require_readable(options.lines.inputs);

  const file_lock lock(options.filter);
  const auto target =
      open_filter(options.filter, access::write, {.verify_body = options.verify_body});
  require_lines(target->hashing(), options.filter);
  require_seed(options.seed, target->seed(), options.filter);
  const output out;
  std::uint64_t removed = 0;
  const line_totals totals = run_lines(
      {.lines = options.lines,
       .engine = e,
       .seed = target->seed(),
       .threads = options.common.thread_count(),
       .show_progress = !options.common.quiet,
       .judge =
           [&](text_chunk& chunk) { removed += target->remove(chunk.hashes(), chunk.marks()); },
       .out = options.missing ? &out : nullptr,
       .wanted = false});
  target->save(options.filter);

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
  list.file("FILTER", options->filter, "the filter file, which is replaced when all is done")
      .required();
  list.lines(options->lines);
  list.flag("--missing", options->missing, "print the lines that were not in it");
  list.seed(options->seed, "the seed that the file has to have");
  list.no_verify(options->verify_body);
  list.common(options->common);
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
