#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <octobloom/engines.h>
#include <octobloom/error.h>
#include <octobloom/filter.h>
#include <octobloom/opened.h>
#include <octobloom/plan.h>

#include "bar_chart.h"
#include "numbers.h"
#include "options.h"
#include "output.h"
#include "table.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

constexpr std::uint64_t default_keys = 1'000'000;
constexpr double default_rate = 0.01;
constexpr int rounds = 5;

struct bench_options {
  common_options common;
  std::optional<std::uint64_t> keys;
  std::optional<double> rate;
  std::optional<std::uint64_t> seed;
  std::string plot;
  bool json = false;
};

/// What every engine is given.
struct workload {
  plan size;
  std::uint64_t seed;
  bulk_options bulk;
  std::vector<std::uint64_t> present;
  std::vector<std::uint64_t> absent;
};

workload make_workload(const bench_options& options) {
  workload work{plan_for(options.keys.value_or(default_keys), options.rate.value_or(default_rate)),
                options.seed.value_or(0),
                {.threads = options.common.thread_count()},
                {},
                {}};
  // Even and odd multiples of an odd number: all different, in no order that memory would notice.
  for (std::uint64_t i = 0; i < work.size.expected_keys; ++i) {
    work.present.push_back((2 * i) * 0x9E3779B97F4A7C15u);
    work.absent.push_back((2 * i + 1) * 0x9E3779B97F4A7C15u);
  }
  return work;
}

struct operation {
  const char* key;    // in JSON
  const char* title;  // for people
};
constexpr std::array<operation, 4> operations{{{"insert", "insert"},
                                               {"insert_new", "insert_new"},
                                               {"may_contain_present", "may_contain, all in"},
                                               {"may_contain_absent", "may_contain, none in"}}};
constexpr std::size_t operation_count = operations.size();

/// One engine on the workload: seconds of the median round for each operation, and its answers,
/// which have to be the same for every engine.
struct engine_run {
  const engine* e;
  bool held;                // the filter stays with the engine, and only keys and answers travel
  std::string unavailable;  // why it did not run
  std::array<double, operation_count> seconds{};
  std::uint64_t false_positives = 0;
  bool identical = true;  // filter bytes and answers, to those of the first engine

  [[nodiscard]] std::string name() const {
    return e->name + std::string(held ? ", filter held" : "");
  }
};

double median_seconds(const std::function<void()>& prepare, const std::function<void()>& measured) {
  std::array<double, rounds> seconds{};
  for (double& s : seconds) {
    prepare();
    const auto began = std::chrono::steady_clock::now();
    measured();
    s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
  std::nth_element(seconds.begin(), seconds.begin() + rounds / 2, seconds.end());
  return seconds[rounds / 2];
}

bool same_bits(const filter& a, const filter& b) {
  return std::memcmp(a.view().words(), b.view().words(), a.bytes()) == 0;
}

engine_run measure(const engine& e, bool held, const workload& work, const filter& expected,
                   std::vector<std::uint8_t>& expected_answers) {
  engine_run run{.e = &e, .held = held, .unavailable = e.why_unavailable()};
  if (!run.unavailable.empty()) return run;
  opened<filter> target(filter(work.size, {.seed = work.seed}), e);
  const key_batch present = key_batch::integers(work.present);
  const key_batch absent = key_batch::integers(work.absent);
  std::vector<std::uint8_t> answers(bitmap_bytes(work.present.size()));
  // An engine that holds filters has it before the clock starts, or gets it and gives it back while
  // it runs.
  const auto arrive = [&] {
    if (held) (void)target.may_contain(absent.slice(0, 1), nullptr, work.bulk);
  };
  const auto clear = [&] {
    target.home().clear();
    arrive();
  };
  const auto come = [&] {
    (void)target.home();
    arrive();
  };
  const auto return_home = [&] {
    if (!held) (void)target.filter();
  };

  run.seconds[1] = median_seconds(clear, [&] {
    target.insert_new(present, answers.data(), work.bulk);
    return_home();
  });
  run.identical = same_bits(target.filter(), expected);
  run.seconds[0] = median_seconds(clear, [&] {
    target.insert(present, work.bulk);
    return_home();
  });
  run.identical = run.identical && same_bits(target.filter(), expected);
  run.seconds[2] =
      median_seconds(come, [&] { target.may_contain(present, answers.data(), work.bulk); });
  run.seconds[3] = median_seconds(
      come, [&] { run.false_positives = target.may_contain(absent, answers.data(), work.bulk); });
  if (expected_answers.empty()) expected_answers = answers;
  run.identical = run.identical && answers == expected_answers;
  return run;
}

std::vector<engine_run> measure_all(const bench_options& options, const workload& work) {
  filter expected(work.size, {.seed = work.seed});
  reference_engine().insert(expected.view(), key_batch::integers(work.present), {});
  std::vector<std::uint8_t> answers(bitmap_bytes(work.absent.size()));
  reference_engine().may_contain(expected.view(), key_batch::integers(work.absent), answers.data(),
                                 {});
  std::vector<engine_run> runs;
  const auto run = [&](const engine& e) {
    runs.push_back(measure(e, false, work, expected, answers));
    if (e.open != nullptr && runs.back().unavailable.empty()) {
      runs.push_back(measure(e, true, work, expected, answers));
    }
  };
  if (!options.common.engine.empty()) {
    run(options.common.chosen_engine());
  } else {
    for (const engine* e : all_engines()) run(*e);
  }
  return runs;
}

double millions_a_second(const workload& work, double seconds) {
  return static_cast<double>(work.present.size()) / seconds / 1e6;
}

double measured_rate(const workload& work, const engine_run& run) {
  return static_cast<double>(run.false_positives) / static_cast<double>(work.absent.size());
}

nlohmann::ordered_json to_json(const workload& work, const std::vector<engine_run>& runs) {
  nlohmann::ordered_json engines = nlohmann::ordered_json::array();
  for (const engine_run& run : runs) {
    nlohmann::ordered_json entry{
        {"name", run.e->name}, {"filter_held", run.held}, {"available", run.unavailable.empty()}};
    if (!run.unavailable.empty()) {
      entry["why_unavailable"] = run.unavailable;
    } else {
      nlohmann::ordered_json times = nlohmann::ordered_json::object();
      for (std::size_t i = 0; i < operation_count; ++i) {
        times[operations[i].key] = 1e9 * run.seconds[i] / static_cast<double>(work.present.size());
      }
      entry["ns_per_key"] = std::move(times);
      entry["measured_fpr"] = measured_rate(work, run);
      entry["identical"] = run.identical;
    }
    engines.push_back(entry);
  }
  return {{"keys", work.present.size()},
          {"filter_bytes", work.size.bytes()},
          {"k", work.size.k},
          {"expected_fpr", work.size.expected_fpr},
          {"threads", work.bulk.threads},
          {"engines", engines}};
}

std::string describe(const workload& work, const std::vector<engine_run>& runs) {
  std::vector<std::vector<std::string>> rows{{"million keys a second"}};
  for (const operation& o : operations) rows.front().emplace_back(o.title);
  rows.front().emplace_back("false positives");
  std::string unavailable;
  for (const engine_run& run : runs) {
    if (!run.unavailable.empty()) {
      unavailable += run.name() + " cannot run here: " + run.unavailable + "\n";
      continue;
    }
    std::vector<std::string> row{run.name()};
    for (const double seconds : run.seconds) {
      row.push_back(fixed(millions_a_second(work, seconds), 1));
    }
    row.push_back(rate_text(100 * measured_rate(work, run)) + " %");
    rows.push_back(row);
  }
  return grouped(std::uint64_t{work.present.size()}) + " integer keys, a filter of " +
         size_text(work.size.bytes()) + ", k " + std::to_string(work.size.k) + ", threads " +
         std::to_string(work.bulk.threads) + "; medians of " + std::to_string(rounds) +
         " rounds\n\n" + aligned(rows) + unavailable;
}

bar_chart chart_of(const workload& work, const std::vector<engine_run>& runs) {
  bar_chart chart{"octobloom, " + grouped(std::uint64_t{work.present.size()}) + " keys in " +
                      size_text(work.size.bytes()),
                  "million keys a second",
                  {},
                  {}};
  for (const operation& o : operations) chart.groups.emplace_back(o.title);
  for (const engine_run& run : runs) {
    if (!run.unavailable.empty()) continue;
    bar_series series{run.name(), {}};
    for (const double s : run.seconds) series.values.push_back(millions_a_second(work, s));
    chart.series.push_back(series);
  }
  return chart;
}

int run(const bench_options& options) {
  const workload work = make_workload(options);
  const std::vector<engine_run> runs = measure_all(options, work);
  for (const engine_run& run : runs) {
    if (!run.identical) {
      throw error(error_code::device, std::string("the engine ") + run.e->name +
                                          " gives other bits or answers than the reference: this "
                                          "is a fault, please report it");
    }
  }
  if (!options.plot.empty()) write_whole_file(options.plot, to_svg(chart_of(work, runs)));
  print(options.json ? to_json(work, runs).dump(2) + "\n" : describe(work, runs));
  return exit_done;
}

std::function<int()> declare(option_list& list) {
  auto options = std::make_shared<bench_options>();
  list.count("-n,--keys", options->keys, "keys to insert and to look up; default 1000000", 1,
             std::uint64_t{1} << 32);
  list.rate("-p,--fpr", options->rate, "rate that the filter is made for; default 0.01");
  list.seed(options->seed, "seed of the hash: a number, or 'random'; default 0");
  list.flag("--json", options->json, "for machines");
  list.file("--plot", options->plot, "draw the figures into this SVG file");
  list.common(options->common);
  return [options] { return run(*options); };
}

}  // namespace

extern const verb bench_verb;
const verb bench_verb{"bench", "measures every engine that runs here, on the same keys",
                      "octobloom bench # a million keys\n"
                      "octobloom bench -n 100M -p 0.001 -j 1 # far beyond the caches, one thread\n"
                      "octobloom bench --plot engines.svg --json # a picture, and the figures",
                      declare};

}  // namespace octobloom::cli
