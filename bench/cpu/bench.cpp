// octobloom-bench: contenders × workloads. Google Benchmark's options apply (--benchmark_out=FILE
// for JSON, --benchmark_filter=REGEX …); ours are
//   --full        every combination of bits a key, hits, keys and threads at every size
//   --quick       two sizes, few keys: a minute
//   --largest=N   leave out filters above N MiB
//   --rounds=N    measure all of one workload N times in turn, so that what the machine does
//                 meanwhile meets them alike; every measurement is a benchmark of its own
// A benchmark's name tells all: what/who/MiB/bits/hits/keys/threads.

#include <benchmark/benchmark.h>

#include <bit>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <octobloom/engines.h>
#include <octobloom/simd_engine.h>

#include "contenders.h"
#include "workload.h"

namespace octobloom::bench {
namespace {

/// The structures of one content, filled with it when they are first asked for.
class field {
 public:
  struct entry {
    std::unique_ptr<structure> set;
    double fpr = 0;
  };

  /// `fresh`: with the members, and nothing else.
  entry& get(const contender& who, const content& wanted, bool fresh) {
    if (wanted != content_ || (fresh && spoilt_)) {
      entries_.clear();
      content_ = wanted;
      spoilt_ = false;
    }
    entry& found = entries_[&who];
    if (found.set == nullptr) {
      found.set = who.make(content_.members(), content_.bytes);
      fill(*found.set);
      const key_set members(content_.keys,
                            mixed_numbers(std::size_t{1} << 20, content_.members(), 100));
      found.set->prepare(members);
      if (who.answers) {
        if (found_of(*found.set, members) != members.size()) {
          throw std::logic_error(who.name + " does not find its members");
        }
        const key_set strangers(
            content_.keys, numbers_from(absent + (std::uint64_t{1} << 40), std::size_t{1} << 22));
        found.fpr = static_cast<double>(found_of(*found.set, strangers)) /
                    static_cast<double>(strangers.size());
      }
    }
    return found;
  }
  /// Keys were added.
  void spoil() { spoilt_ = true; }

 private:
  void fill(structure& set) const {
    if (set.filled()) return;
    constexpr std::uint64_t piece = std::uint64_t{1} << 22;
    for (std::uint64_t first = 0; first < content_.members(); first += piece) {
      set.fill(
          key_set(content_.keys, numbers_from(first, std::min(piece, content_.members() - first))));
    }
  }
  static std::uint64_t found_of(structure& set, const key_set& keys) {
    std::vector<std::uint8_t> bitmap(bitmap_bytes(keys.size()));
    set.may_contain(keys, bitmap.data(), 1);
    std::uint64_t found = 0;
    for (const std::uint8_t byte : bitmap) found += static_cast<unsigned>(std::popcount(byte));
    return found;
  }

  content content_{};
  bool spoilt_ = false;
  std::map<const contender*, entry> entries_;
};

/// The keys to ask about. Those of one content and hit rate are kept, in each number asked for.
const key_set& probe_keys(const content& filled, unsigned hit_percent, std::size_t count) {
  static content last{};
  static unsigned last_percent = 0;
  static std::map<std::size_t, std::unique_ptr<key_set>> kept;
  if (last != filled || last_percent != hit_percent) {
    kept.clear();
    last = filled;
    last_percent = hit_percent;
  }
  std::unique_ptr<key_set>& keys = kept[count];
  if (keys == nullptr) {
    keys =
        std::make_unique<key_set>(filled.keys, mixed_numbers(count, filled.members(), hit_percent));
  }
  return *keys;
}

struct measurement {
  field& all;
  const contender& who;
  operation what;
  content filled;
  question asked;
  std::size_t count;  ///< keys in a call
  unsigned number;
};

void measure(benchmark::State& state, const measurement& m) {
  const auto& [all, who, what, filled, asked, count, number] = m;
  const field::entry& entry = all.get(who, filled, what == operation::may_contain);
  structure& set = *entry.set;
  const key_set& keys = probe_keys(filled, asked.hit_percent, count);
  std::vector<std::uint8_t> bitmap(bitmap_bytes(count));
  const auto call = [&, threads = asked.threads, what = what] {
    switch (what) {
      case operation::may_contain:
        benchmark::DoNotOptimize(set.may_contain(keys, bitmap.data(), threads));
        break;
      case operation::insert:
        set.insert(keys, threads);
        break;
      case operation::insert_new:
        benchmark::DoNotOptimize(set.insert_new(keys, bitmap.data(), threads));
        break;
    }
    benchmark::ClobberMemory();
  };
  // Google Benchmark comes here several times until it has found a number of iterations.
  static unsigned warm = 0;
  if (std::exchange(warm, number) != number) call();
  while (state.KeepRunning()) call();
  const auto total = static_cast<double>(state.iterations()) * static_cast<double>(count);
  state.SetItemsProcessed(static_cast<std::int64_t>(total));
  state.counters["ns_per_key"] =
      benchmark::Counter(total / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  if (who.answers) state.counters["fpr"] = entry.fpr;
  state.counters["bytes"] = static_cast<double>(set.bytes());
  state.SetLabel(set.label());
  if (what != operation::may_contain) all.spoil();
}

/// Probing first: adding keys spoils what was filled. Contenders of one workload follow one
/// another, so that their ratio does not depend on what else the machine did an hour ago.
void register_content(field& all, const content& filled, const settings& options) {
  for (const operation what : {operation::may_contain, operation::insert, operation::insert_new}) {
    for (const question& asked : questions(filled, what, options)) {
      for (unsigned round = 0; round < options.rounds; ++round) {
        for (const contender& who : contenders()) {
          if (!takes_part(who, what, filled, asked, options)) continue;
          static unsigned number = 0;
          const measurement m{all,     who, what, filled, asked, batch_size(who, filled, options),
                              ++number};
          benchmark::RegisterBenchmark(name_of(who, what, filled, asked).c_str(),
                                       [m](benchmark::State& state) { measure(state, m); })
              ->UseRealTime()
              ->Unit(benchmark::kMillisecond);
        }
      }
    }
  }
}

int run(int argc, char** argv) {
  const settings options = parse(argc, argv);
  field all;  // ends before the libraries of the peers do
  for (const std::uint64_t bytes : sizes(options)) {
    for (const content& filled : contents(bytes, options)) register_content(all, filled, options);
  }
  benchmark::AddCustomContext("octobloom_target", simd_targets().front());
  benchmark::AddCustomContext("octobloom_threads",
                              std::to_string(std::thread::hardware_concurrency()));
  benchmark::AddCustomContext("octobloom_compiler", __VERSION__);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace octobloom::bench

int main(int argc, char** argv) {
  try {
    return octobloom::bench::run(argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "octobloom-bench: %s\n", problem.what());
    return 2;
  }
}
