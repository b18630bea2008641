#include <memory>
#include <optional>
#include <string>

#include <octobloom/file.h>

#include "filters.h"
#include "line_filter.h"
#include "line_pipeline.h"
#include "numbers.h"
#include "options.h"
#include "reader.h"
#include "terminal.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

struct insert_options {
  common_options common;
  line_options lines;
  std::string filter;
  std::optional<std::uint64_t> seed;
  bool verify_body = true;
};

int run(insert_options& options) {
  options.lines.settle();
  const engine& e = options.common.chosen_engine();
  require_readable(options.lines.inputs);

  const file_lock lock(options.filter);
  const auto target =
      open_filter(options.filter, access::write, {.verify_body = options.verify_body});
  require_lines(target->hashing(), options.filter);
  require_seed(options.seed, target->seed(), options.filter);
  const line_totals totals =
      run_lines({.lines = options.lines,
                 .engine = e,
                 .seed = target->seed(),
                 .threads = options.common.thread_count(),
                 .show_progress = !options.common.quiet,
                 .judge = [&](text_chunk& chunk) { target->insert(chunk.hashes()); }});
  target->save(options.filter);

  warn_if_full(*target, options.filter);
  if (!options.common.quiet && stderr_is_terminal()) {
    note(grouped(totals.lines) + " lines inserted into " + options.filter);
  }
  return exit_done;
}

std::function<int()> declare(option_list& list) {
  auto options = std::make_shared<insert_options>();
  list.file("FILTER", options->filter, "the filter file, which is replaced when all is done")
      .required();
  list.lines(options->lines);
  list.seed(options->seed, "the seed that the file has to have");
  list.no_verify(options->verify_body);
  list.common(options->common);
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
