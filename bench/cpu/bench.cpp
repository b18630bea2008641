// octobloom-bench: contenders × workloads. Google Benchmark's options apply (--benchmark_out=FILE
// for JSON, --benchmark_filter=REGEX …); ours are
//   --full        every combination of bits a key, hits, keys and threads at every size
//   --quick       two sizes, few repetitions: a minute
//   --largest=N   leave out filters above N MiB
// A benchmark's name tells all: what/who/MiB/bits/hits/keys/threads.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <octobloom/engines.h>
#include <octobloom/simd_engine.h>
#include <octobloom/storage.h>

#include "contenders.h"

namespace octobloom::bench {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

struct workload {
  std::uint64_t bytes;
  unsigned bits_per_key = 10;
  unsigned hit_percent = 50;
  key_type keys = key_type::integers;
  unsigned threads = 1;  ///< 0: all

  [[nodiscard]] std::uint64_t members() const { return bytes * 8 / bits_per_key; }
  bool operator==(const workload&) const = default;
};

struct settings {
  bool full = false;
  bool quick = false;
  std::uint64_t largest = 2048 * mebibyte;
};

/// Keys in one measured call: the batches of 2^24 that the goals speak of; fewer where the filter
/// is small and the answer comes sooner.
std::size_t batch_size(const workload& w, const settings& options) {
  if (options.quick) return std::size_t{1} << 20;
  return w.bytes >= 16 * mebibyte ? std::size_t{1} << 24 : std::size_t{1} << 20;
}

/// A structure filled with a workload's members, kept while benchmarks ask for the same.
class filled_structure {
 public:
  /// `fresh`: with the members, and nothing else.
  structure* get(const contender& who, const workload& w, bool fresh) {
    if (!(fresh && spoilt_) && who_ == &who && bytes_ == w.bytes && bits_ == w.bits_per_key &&
        keys_ == w.keys) {
      return structure_.get();
    }
    structure_ = nullptr;
    structure_ = who.make(w.members(), w.bytes);
    who_ = &who;
    bytes_ = w.bytes;
    bits_ = w.bits_per_key;
    keys_ = w.keys;
    spoilt_ = false;
    fpr_ = 0;
    if (structure_ == nullptr) return nullptr;
    constexpr std::uint64_t piece = std::uint64_t{1} << 22;
    for (std::uint64_t first = 0; first < w.members(); first += piece) {
      const std::uint64_t count = std::min(piece, w.members() - first);
      structure_->fill(key_set(w.keys, numbers_from(first, count)));
    }
    measure_fpr(w);
    return structure_.get();
  }
  [[nodiscard]] double fpr() const { return fpr_; }
  /// Keys were added.
  void spoil() { spoilt_ = true; }

 private:
  void measure_fpr(const workload& w) {
    const std::size_t count = std::size_t{1} << 22;
    const key_set strangers(w.keys, numbers_from(absent + (std::uint64_t{1} << 40), count));
    std::vector<std::uint8_t> bitmap(count / 8);
    structure_->may_contain(strangers, bitmap.data(), 1);
    std::uint64_t found = 0;
    for (const std::uint8_t byte : bitmap) found += static_cast<unsigned>(std::popcount(byte));
    fpr_ = static_cast<double>(found) / static_cast<double>(count);
  }

  const contender* who_ = nullptr;
  std::uint64_t bytes_ = 0;
  unsigned bits_ = 0;
  key_type keys_{};
  bool spoilt_ = false;
  double fpr_ = 0;
  std::unique_ptr<structure> structure_;
};

filled_structure& current() {
  static filled_structure one;
  return one;
}

/// The last set of keys that was asked for.
const key_set& probe_keys(const workload& w, std::size_t count) {
  static workload last{};
  static std::unique_ptr<key_set> keys;
  if (keys == nullptr || keys->size() != count || last.bytes != w.bytes ||
      last.bits_per_key != w.bits_per_key || last.hit_percent != w.hit_percent ||
      last.keys != w.keys) {
    keys = nullptr;
    keys = std::make_unique<key_set>(w.keys, mixed_numbers(count, w.members(), w.hit_percent));
    last = w;
  }
  return *keys;
}

void measure(benchmark::State& state, const contender& who, operation what, const workload& w,
             std::size_t count) {
  structure* set = current().get(who, w, what == operation::may_contain);
  if (set == nullptr) {
    state.SkipWithError("not at this size");
    return;
  }
  const key_set& keys = probe_keys(w, count);
  std::vector<std::uint8_t> bitmap(bitmap_bytes(count));
  for (auto _ : state) {
    switch (what) {
      case operation::may_contain:
        benchmark::DoNotOptimize(set->may_contain(keys, bitmap.data(), w.threads));
        break;
      case operation::insert:
        set->insert(keys, w.threads);
        break;
      case operation::insert_new:
        benchmark::DoNotOptimize(set->insert_new(keys, bitmap.data(), w.threads));
        break;
    }
    benchmark::ClobberMemory();
  }
  const auto total = static_cast<double>(state.iterations()) * static_cast<double>(count);
  state.SetItemsProcessed(static_cast<std::int64_t>(total));
  state.counters["ns_per_key"] =
      benchmark::Counter(total / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["fpr"] = current().fpr();
  state.counters["bytes"] = static_cast<double>(set->bytes());
  if (what != operation::may_contain) current().spoil();
}

std::string size_name(std::uint64_t bytes) {
  return bytes < mebibyte ? "0.25" : std::to_string(bytes / mebibyte);
}

std::string name_of(const contender& who, operation what, const workload& w) {
  constexpr std::array operations{"may_contain", "insert", "insert_new"};
  return std::string("what:") + operations[static_cast<std::size_t>(what)] + "/who:" + who.name +
         "/MiB:" + size_name(w.bytes) + "/bits:" + std::to_string(w.bits_per_key) +
         "/hits:" + std::to_string(w.hit_percent) +
         "/keys:" + (w.keys == key_type::integers ? "integers" : "strings") +
         "/threads:" + (w.threads == 0 ? "all" : std::to_string(w.threads));
}

/// The workloads of one size: the common one, and each property varied on its own, or all of them
/// with all others. Those that fill a filter alike follow one another.
std::vector<workload> workloads(std::uint64_t bytes, const settings& options) {
  std::vector<workload> list;
  for (const key_type keys : {key_type::integers, key_type::strings}) {
    for (const unsigned bits : {10u, 8u, 16u, 22u}) {
      for (const unsigned hits : {50u, 0u, 100u}) {
        for (const unsigned threads : {1u, 0u}) {
          const int varied = (keys != key_type::integers) + (bits != 10) + (hits != 50);
          const int most = options.quick ? 0 : bytes > 512 * mebibyte ? 1 - (bits != 10) : 1;
          if (options.full || (varied <= most && (threads == 1 || hits == 50))) {
            list.push_back({bytes, bits, hits, keys, threads});
          }
        }
      }
    }
  }
  return list;
}

bool takes_part(const contender& who, operation what, const workload& w) {
  const workload common{.bytes = w.bytes};
  const workload common_strings{.bytes = w.bytes, .keys = key_type::strings};
  if (std::ranges::find(who.operations, what) == who.operations.end()) return false;
  if (w.keys == key_type::strings && !who.strings) return false;
  if (w.threads != 1 && !who.threads) return false;
  if (who.common_only && !(w == common || (who.strings && w == common_strings))) return false;
  // The hit rate is a matter of probing.
  if (what != operation::may_contain && w.hit_percent != common.hit_percent) return false;
  // An exact set may take a quarter of the memory.
  return who.bytes_per_key * static_cast<double>(w.members()) <
         static_cast<double>(available_memory() / 4);
}

/// Probing first: adding keys spoils what was filled.
void register_one(const contender& who, std::uint64_t bytes, const settings& options) {
  const std::vector<workload> all = workloads(bytes, options);
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(first, all.end(), [&](const workload& w) {
      return w.bits_per_key != first->bits_per_key || w.keys != first->keys;
    });
    for (const operation what :
         {operation::may_contain, operation::insert, operation::insert_new}) {
      for (const workload& w : std::ranges::subrange(first, last)) {
        if (!takes_part(who, what, w)) continue;
        const std::size_t count = batch_size(w, options);
        benchmark::RegisterBenchmark(name_of(who, what, w).c_str(),
                                     [&who, what, w, count](benchmark::State& state) {
                                       measure(state, who, what, w, count);
                                     })
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
    first = last;
  }
}

void register_all(const settings& options) {
  const std::vector<std::uint64_t> sizes =
      options.quick ? std::vector<std::uint64_t>{mebibyte, 128 * mebibyte}
                    : std::vector<std::uint64_t>{mebibyte / 4,   mebibyte,       16 * mebibyte,
                                                 128 * mebibyte, 512 * mebibyte, 2048 * mebibyte};
  for (const std::uint64_t bytes : sizes) {
    if (bytes > options.largest || bytes > available_memory() / 4) continue;
    for (const contender& who : contenders()) {
      register_one(who, bytes, options);
    }
  }
}

/// Takes our options out of argv.
settings parse(int& argc, char** argv) {
  settings options;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    constexpr std::string_view largest = "--largest=";
    if (argument == "--full") {
      options.full = true;
    } else if (argument == "--quick") {
      options.quick = true;
    } else if (argument.starts_with(largest)) {
      std::uint64_t value = 0;
      const std::string_view digits = argument.substr(largest.size());
      const auto [end, code] = std::from_chars(digits.begin(), digits.end(), value);
      if (code != std::errc() || end != digits.end()) {
        std::fprintf(stderr, "--largest takes a number of MiB, not \"%s\"\n", digits.data());
        std::exit(2);
      }
      options.largest = value * mebibyte;
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  return options;
}

}  // namespace
}  // namespace octobloom::bench

int main(int argc, char** argv) {
  using namespace octobloom;
  const bench::settings options = bench::parse(argc, argv);
  bench::register_all(options);
  benchmark::AddCustomContext("octobloom_target", simd_targets().front());
  benchmark::AddCustomContext("octobloom_threads",
                              std::to_string(std::thread::hardware_concurrency()));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
