#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <octobloom/atomic_file.h>
#include <octobloom/error.h>
#include <octobloom/file.h>
#include <octobloom/filter.h>
#include <octobloom/growing_filter.h>
#include <octobloom/plan.h>
#include <octobloom/windowed_filter.h>

#include "dedup_sizing.h"
#include "filters.h"
#include "known_lines.h"
#include "line_pipeline.h"
#include "numbers.h"
#include "options.h"
#include "output.h"
#include "process.h"
#include "reader.h"
#include "terminal.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

struct dedup_options {
  common_options common;
  line_options lines;
  sizing_request sizing;
  std::optional<std::uint64_t> seed;
  std::string filter;
  std::string save;
  std::string output = "-";
  std::string report;
  std::string on_full;  ///< empty: warn when the user said how many lines come, otherwise grow
  std::optional<window_size> window;
  std::optional<std::chrono::nanoseconds> every;
  bool summary = false;
  bool verify_body = true;
  bool any_keys = false;
  bool force = false;
};

/// What came of it.
struct dedup_result {
  line_totals totals;
  std::uint64_t lines_out = 0;
  knowledge known;
  double seconds = 0;

  [[nodiscard]] std::uint64_t repeats() const noexcept { return totals.lines - lines_out; }
};

/// What to do when there are more lines than the memory of them was made for.
struct when_full {
  bool is_error = false;
  bool is_guess = false;  ///< made for a number of lines that nobody told
  std::string name = "the filter";
  std::string advice = "Give -n the number of distinct lines, or --on-full grow";
};

/// Tells old lines from new ones, and says so when the memory of lines does not keep its rate or
/// gets more new ones than planned. Counting is cheap; the bits are looked at whenever the lines
/// are four times as many, or, in windows of time, as often as the planned keys may have come.
class deduplicator {
 public:
  deduplicator(known_lines& known, when_full when)
      : known_(known), when_full_(std::move(when)), warn_beyond_(known.capacity()) {}

  void mark(text_chunk& chunk) {
    lines_out_ += known_.insert_new(chunk.hashes(), chunk.marks());
    lines_ += chunk.lines();
    if (known_.held() > warn_beyond_ || lines_ >= look_at_) look();
  }

  [[nodiscard]] std::uint64_t lines_out() const noexcept { return lines_out_; }

  /// A look at the bits: from a sample.
  void look() {
    const filter_facts facts = known_.facts(reading::sample);
    look_at_ = next_look(facts);
    const clock::time_point now = clock::now();
    if (!is_full(facts)) {
      // Windows get well again, and full again: not every time is worth a word.
      if (now - told_at_ > between_warnings) told_ = saturation::fine;
      return;
    }
    if (facts.verdict <= told_ && known_.held() <= warn_beyond_) return;
    speak_up(facts);
    told_ = facts.verdict;
    told_at_ = now;
    warn_beyond_ = 2 * known_.held();
  }

  /// The last look, before anything is replaced, and from all bits.
  [[nodiscard]] knowledge conclude() {
    const filter_facts facts = known_.facts(reading::whole);
    if (is_full(facts) && told_lines_ != lines_) speak_up(facts);
    return known_.assess(facts, lines_ - lines_out_);
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr auto between_warnings = std::chrono::seconds(10);

  [[nodiscard]] bool is_full(const filter_facts& facts) const {
    return facts.verdict != saturation::fine || known_.held() > known_.capacity();
  }

  [[nodiscard]] std::uint64_t next_look(const filter_facts& facts) const {
    if (facts.window && facts.window->by_time) return lines_ + facts.planned_keys;
    // Levels, and parts of so many lines, take no more than they are planned for.
    if (facts.kind != filter_kind::plain) return UINT64_MAX;
    return 4 * std::max<std::uint64_t>(lines_, 1);
  }

  void speak_up(filter_facts facts) {
    const knowledge now = known_.assess(facts, lines_ - lines_out_);
    if (facts.estimated_keys) {
      const auto held = static_cast<double>(known_.held());
      facts.estimated_keys = std::max(*facts.estimated_keys, held);
    }
    std::string text = fullness_text(when_full_.name, facts, when_full_.is_guess);
    if (lines_ > 0) {
      text += (now.at_most ? ". Up to " : ". About ") + grouped(now.expected_lost) + " of the " +
              grouped(lines_) + " lines so far are lost, taken for repeats that they are not";
    }
    text += ". " + when_full_.advice;
    if (when_full_.is_error) throw error(error_code::full, text);
    warn(text);
    told_lines_ = lines_;
  }

  known_lines& known_;
  when_full when_full_;
  std::uint64_t warn_beyond_;
  std::uint64_t look_at_ = 1;
  saturation told_ = saturation::fine;
  clock::time_point told_at_{};
  std::uint64_t told_lines_ = UINT64_MAX;
  std::uint64_t lines_ = 0;
  std::uint64_t lines_out_ = 0;
};

void check_usage(const dedup_options& options) {
  if (!options.filter.empty() &&
      (options.sizing.keys || options.sizing.rate || options.sizing.memory)) {
    throw usage_error("--filter brings its own size: -n, -p and -m do not go with it");
  }
  if (options.sizing.memory && options.on_full == "grow") {
    throw usage_error("-m is a limit, which --on-full grow would pass: give one of them");
  }
  const named_file lines{"-o", options.output};
  const named_file save{"--save", options.save};
  const named_file report{"--report", options.report};
  const named_file known{"--filter", options.filter};
  require_distinct(std::array{lines, save, report});
  require_distinct(std::array{lines, known, report});
  for (const std::string& input : options.lines.inputs) {
    require_distinct(std::array{named_file{"the input", input}, save, report});
  }
  if (options.window && options.every) {
    throw usage_error(
        "--window and --every exclude each other: one counts from when a line came last, the other "
        "from when it was printed last");
  }
  if (!options.window && !options.every) return;
  const std::string option = options.window ? "--window" : "--every";
  if (options.window && !options.filter.empty()) {
    throw usage_error("--filter brings its own window: --window does not go with it");
  }
  if (options.on_full == "grow") {
    throw usage_error(
        "a window forgets and does not grow: give -n the most distinct lines of so long a time, "
        "and --on-full warn or error");
  }
  if (options.sizing.memory) {
    throw usage_error("a window is sized by its keys: -m does not go with " + option + ", give -n");
  }
  if (!options.filter.empty()) return;  // it has a size
  const bool by_lines = options.window && options.window->lines > 0;
  if (by_lines && options.sizing.keys) {
    throw usage_error("--window " + grouped(options.window->lines) +
                      " is a number of lines, which -n would only repeat: -n does not go with it. "
                      "(A time has its unit: 90s, 5min, 12h, 7d.)");
  }
  if (!by_lines && !options.sizing.keys) {
    throw usage_error(option + (options.window ? " with a time" : "") +
                      " needs -n, the distinct lines of so long a time");
  }
}

/// The memory of lines, and what to do when it is full.
struct beginning {
  std::unique_ptr<known_lines> known;
  when_full when;
};

std::unique_ptr<known_lines> start_window(const dedup_options& options, const window_size& size) {
  const engine& e = options.common.chosen_engine();
  const double rate = options.sizing.rate.value_or(default_dedup_fpr);
  const window_options window{.seed = options.seed.value_or(0)};
  const std::uint64_t keys = options.sizing.keys.value_or(0);
  if (options.every) {
    return remember_told_in(windowed_filter::last_duration(size.time, keys, rate, window), e);
  }
  return remember_in(size.lines > 0 ? windowed_filter::last_events(size.lines, rate, window)
                                    : windowed_filter::last_duration(size.time, keys, rate, window),
                     e);
}

/// When nobody tells how many lines come.
beginning start_from_guess(const dedup_options& options) {
  const engine& e = options.common.chosen_engine();
  const std::uint64_t seed = options.seed.value_or(0);
  const double rate = options.sizing.rate.value_or(default_dedup_fpr);
  const std::optional<guessed_size> size = guess_size(options.sizing, options.lines);
  if (!size) return {remember_in(grow_from_nothing(rate, seed), e), {}};
  filter first(size->first, {.seed = seed});
  if (!size->growing_rate) {
    if (options.on_full == "grow") {
      throw error(error_code::invalid_argument,
                  "at rate " + rate_text(rate) +
                      " a filter cannot grow far enough: give -n the number of distinct lines "
                      "without --on-full grow, or a higher rate");
    }
    return {remember_in(std::move(first), e, true),
            {.is_error = true,
             .is_guess = true,
             .advice =
                 "Give -n the number of distinct lines: at so low a rate the filter cannot grow"}};
  }
  const growing_options growing{.growth = size->growth};
  if (options.on_full == "grow") {
    return {remember_in(growing_filter(std::move(first), rate, growing), e), {}};
  }
  return {remember_in(std::move(first), e, rate, growing), {}};
}

beginning start_anew(const dedup_options& options) {
  const engine& e = options.common.chosen_engine();
  if (options.window || options.every) {
    const window_size size = options.window.value_or(
        window_size{.time = options.every.value_or(std::chrono::seconds(0))});
    return {start_window(options, size),
            {.name = "the window",
             .advice = size.lines > 0 ? "Start a new one"
                                      : "Give -n the most distinct lines of so long a time"}};
  }
  const std::uint64_t seed = options.seed.value_or(0);
  const sizing_request& sizing = options.sizing;
  const bool is_told = sizing.keys || sizing.memory;
  if (!is_told && (options.on_full.empty() || options.on_full == "grow")) {
    return start_from_guess(options);
  }
  if (options.on_full == "grow") {
    const double rate = sizing.rate.value_or(default_dedup_fpr);
    return {remember_in(growing_filter(sizing.keys.value_or(0), rate, {.seed = seed}), e), {}};
  }
  when_full when{.is_guess = !sizing.keys};
  if (sizing.memory) when.advice = "Give a larger -m, or -n, the number of distinct lines";
  return {remember_in(filter(size_for(sizing, options.lines), {.seed = seed}), e, true), when};
}

/// The filter of an earlier run, of a kind that tells new lines from old ones.
template <class Filter>
std::unique_ptr<known_lines> go_on_with(const dedup_options& options) {
  const engine& e = options.common.chosen_engine();
  Filter yesterday = Filter::load(options.filter, {.verify_body = options.verify_body});
  require_lines(yesterday.hashing(), options.filter);
  require_seed(options.seed, yesterday.seed(), options.filter);
  if (!options.any_keys) require_line_family(yesterday.families(), options.filter);
  if constexpr (std::is_same_v<Filter, windowed_filter>) {
    if (!options.every) return remember_in(std::move(yesterday), e);
    if (yesterday.by_time() &&
        yesterday.window() == static_cast<std::uint64_t>(options.every->count())) {
      return remember_told_in(std::move(yesterday), e);
    }
    throw error(error_code::invalid_argument,
                options.filter + ": its window is not the time of --every");
  } else {
    return remember_in(std::move(yesterday), e);
  }
}

beginning start_with_filter(const dedup_options& options) {
  const std::string& path = options.filter;
  const filter_kind kind = filter_reader(path).header().kind;
  when_full when{.name = path, .advice = "Start a new one for more lines, or one that grows"};
  const auto refuse = [&](const char* why) {
    throw error(error_code::invalid_argument, path + why);
  };
  if (kind == filter_kind::windowed) {
    if (options.on_full == "grow") {
      refuse(": holds a window, which forgets and does not grow: start a new one with a larger -n");
    }
    return {go_on_with<windowed_filter>(options), when};
  }
  if (options.every) refuse(": holds no window, so --every does not go with it");
  if (kind == filter_kind::growing) return {go_on_with<growing_filter>(options), when};
  if (options.on_full == "grow") {
    refuse(
        ": is of one size and cannot grow; start one with create --growing, or with dedup "
        "--on-full grow --save");
  }
  return {go_on_with<filter>(options), when};
}

beginning start(const dedup_options& options) {
  beginning result = options.filter.empty() ? start_anew(options) : start_with_filter(options);
  if (options.on_full == "error") {
    result.when.is_error = true;
    result.when.advice += " (--on-full error)";
  }
  return result;
}

void write_report(const std::string& path, const dedup_result& result, const known_lines& known,
                  const engine& e) {
  const nlohmann::ordered_json report{{"lines_in", result.totals.lines},
                                      {"lines_out", result.lines_out},
                                      {"duplicates", result.repeats()},
                                      {"expected_fpr", result.known.expected_fpr},
                                      {"expected_lost", result.known.expected_lost},
                                      {"seconds", result.seconds},
                                      {"filter_bytes", known.bytes()},
                                      {"peak_bytes", peak_memory()},
                                      {"engine", e.name}};
  write_whole_file(path, report.dump(2) + "\n");
}

void summarize(const dedup_result& result, const known_lines& known, const engine& e) {
  const double megabytes = static_cast<double>(result.totals.bytes) / 1e6;
  note(grouped(result.totals.lines) + " lines in, " + grouped(result.lines_out) + " out, " +
       grouped(result.repeats()) + " repeats; " +
       (result.known.expected_lost < 0.5 ? "expected lost " + rate_text(result.known.expected_lost)
                                         : "expected lost " + grouped(result.known.expected_lost)));
  note("filter " + size_text(known.bytes()) + " at rate " + rate_text(result.known.expected_fpr) +
       ", peak memory " + size_text(peak_memory()) + ", " + fixed(result.seconds, 2) + " s, " +
       fixed(megabytes / result.seconds, 0) + " MB/s, engine " + e.name);
}

int run(dedup_options& options) {
  using clock = std::chrono::steady_clock;
  const clock::time_point began = clock::now();
  options.lines.settle();
  check_usage(options);
  const engine& e = options.common.chosen_engine();
  require_readable(options.lines.inputs);
  if (!options.save.empty() && !options.force) require_replaceable(options.save);

  std::optional<announced_lock> lock;
  if (is_same_file(options.filter, options.save)) lock.emplace(options.save);
  beginning begun = start(options);
  const std::unique_ptr<known_lines> known = std::move(begun.known);
  deduplicator dedup(*known, std::move(begun.when));
  if (!options.filter.empty()) dedup.look();

  std::optional<atomic_file> file;
  std::optional<output> out;
  std::optional<removal_on_signal> removal;
  if (options.output == "-") {
    out.emplace();
    std::vector<std::string> read = options.lines.inputs;
    if (!options.filter.empty()) read.push_back(options.filter);
    require_other_output(*out, read);
  } else {
    file.emplace(options.output);
    removal.emplace(file->temporary());
    out.emplace(*file, options.output);
  }

  dedup_result result;
  result.totals = run_lines({.lines = options.lines,
                             .engine = e,
                             .seed = known->seed(),
                             .threads = options.common.thread_count(),
                             .show_progress = !options.common.quiet,
                             .mark = [&](text_chunk& chunk) { dedup.mark(chunk); },
                             .out = &*out});
  result.lines_out = dedup.lines_out();
  result.known = dedup.conclude();
  if (file) {
    std::optional<held_signals> held;
    if (is_replaceable(options.output)) held.emplace();
    file->commit();
    removal.reset();  // a name that is not ours any more
  }
  if (!options.save.empty()) known->save(options.save);

  result.seconds = std::chrono::duration<double>(clock::now() - began).count();
  if (!options.report.empty()) write_report(options.report, result, *known, e);
  if (options.summary || (!options.common.quiet && stderr_is_terminal())) {
    summarize(result, *known, e);
  }
  return exit_done;
}

std::function<int()> declare(option_list& list) {
  auto options = std::make_shared<dedup_options>();
  list.lines(options->lines);
  list.count("-n,--keys", options->sizing.keys,
             "distinct lines to plan for; default: an estimate from the files' lengths, which the "
             "filter outgrows when it was too low",
             1);
  list.rate("-p,--fpr", options->sizing.rate,
            "share of new lines that may be lost, at -n lines; default 1e-6");
  list.size("-m,--memory", options->sizing.memory,
            "the most memory for the filter: takes the best rate that fits");
  list.file("--filter", options->filter, "start from a saved filter: its lines are known already");
  list.file("--save", options->save, "save the filter at the end, for the next run's --filter");
  list.file("-o,--output", options->output,
            "write here instead of standard output, all or nothing; may be an input",
            dash::standard);
  list.file("--report", options->report, "write the figures of the run here, as JSON");
  list.choice("--on-full", options->on_full, {"warn", "error", "grow"},
              "what to do when there are more distinct lines than planned; default warn with -n or "
              "-m, and grow without");
  list.window("--window", options->window,
              "only lines seen within the last so many lines (100K, 1M), or so long a time (90s, "
              "5min, 12h, 7d), are repeats: a line comes out again when it stayed away for all of "
              "that");
  list.time("--every", options->every,
            "a line comes out again, however often it comes, when its last print is so long ago "
            "(90s, 5min, 12h, 7d), or up to a quarter more");
  list.flag("--summary", options->summary,
            "the figures of the run on standard error, also when that is no terminal");
  list.seed(options->seed, "seed of the hash: a number, or 'random'; default 0");
  list.force(options->force);
  list.any_keys(options->any_keys);
  list.no_verify(options->verify_body);
  list.common(options->common);
  return [options] { return run(*options); };
}

}  // namespace

extern const verb dedup_verb;
const verb dedup_verb{
    "dedup", "prints first occurrences, in order",
    "octobloom dedup events.log -o unique.log # sizes itself by the file's length\n"
    "zcat events.gz | octobloom dedup # a pipe has no length: the filter grows with it\n"
    "zcat events.gz | octobloom dedup -n 10M # less memory, when the number is known\n"
    "tail -f app.log | octobloom dedup --every 10min -n 100K # each line once in ten minutes\n"
    "tail -f app.log | octobloom dedup --window 10min -n 100K # a line again only after ten "
    "minutes without it\n"
    "octobloom dedup --save seen.octobloom -n 50M monday.log -o monday.new # remembers Monday's "
    "lines\n"
    "octobloom dedup --filter seen.octobloom --save seen.octobloom tuesday.log # prints what is "
    "new "
    "on Tuesday",
    declare};

}  // namespace octobloom::cli
