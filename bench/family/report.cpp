// Runs the benchmarks of the family and prints, after Google Benchmark's own lines, the tables of
// docs/family.md: speeds as fractions of the plain filter's in the same run.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <octobloom/octobloom.h>

namespace {

struct figures {
  double per_second = 0;
  double bits_a_key = 0;
};

/// The medians by name and arguments.
class collector : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred ||
          (run.run_type == Run::RT_Aggregate && run.aggregate_name != "median")) {
        continue;
      }
      std::string name = run.run_name.function_name;
      if (!run.run_name.args.empty()) name += "/" + run.run_name.args;
      if (!run.run_name.threads.empty()) name += "/" + run.run_name.threads;
      figures& f = found_[name];
      const auto speed = run.counters.find("items_per_second");
      if (speed != run.counters.end()) f.per_second = speed->second;
      const auto bits = run.counters.find("bits/key");
      if (bits != run.counters.end()) f.bits_a_key = bits->second;
    }
    ConsoleReporter::ReportRuns(runs);
  }

  [[nodiscard]] figures of(const std::string& name) const {
    const auto at = found_.find(name);
    return at == found_.end() ? figures{} : at->second;
  }

 private:
  std::map<std::string, figures> found_;
};

void print_fraction(double value, double of) {
  if (value == 0 || of == 0) {
    std::printf(" | -");
  } else {
    std::printf(" | %.2f", value / of);
  }
}

void print_kinds(const collector& all) {
  for (const int rate : {100, 1'000, 10'000}) {
    const std::string arguments = "/keys:8388608/1/rate:" + std::to_string(rate);
    const auto of = [&](const std::string& what, const std::string& kind) {
      return all.of(what + " " + kind + arguments);
    };
    const figures plain = of("insert", "plain");
    if (plain.per_second == 0) continue;
    std::printf(
        "\n8,388,608 keys at 1/%d, one thread; plain: insert %.1f, known %.1f, unknown %.1f "
        "million keys a second\n",
        rate, plain.per_second / 1e6, of("known", "plain").per_second / 1e6,
        of("unknown", "plain").per_second / 1e6);
    std::printf(
        "| | bits a key | memory | known | unknown | insert | remove (of plain insert) |\n"
        "|---|---|---|---|---|---|---|\n");
    for (const char* kind : {"plain", "growing", "counting", "cuckoo", "windowed", "shared"}) {
      const double bits = of("insert", kind).bits_a_key;
      std::printf("| %s | %.2f", kind, bits);
      print_fraction(bits, plain.bits_a_key);
      print_fraction(of("known", kind).per_second, of("known", "plain").per_second);
      print_fraction(of("unknown", kind).per_second, of("unknown", "plain").per_second);
      print_fraction(of("insert", kind).per_second, plain.per_second);
      print_fraction(of("remove", kind).per_second, plain.per_second);
      std::printf(" |\n");
    }
  }
}

void print_threads(const collector& all) {
  const auto of = [&](const std::string& way, int writes, int threads) {
    return all.of("threads " + way + "/writes:" + std::to_string(writes) +
                  "/threads:" + std::to_string(threads));
  };
  if (of("shared", 16, 1).per_second == 0) return;
  std::printf(
      "\nmany threads, 4 million keys, half of them in; million keys a second\n"
      "| batches that write, of 16 | threads | sharded mutex | shared | of sharded | "
      "shared in batches | of sharded |\n|---|---|---|---|---|---|---|\n");
  for (const int writes : {16, 1, 0}) {
    for (const int threads : {1, 2, 4, 8}) {
      const double sharded = of("sharded", writes, threads).per_second;
      const double shared = of("shared", writes, threads).per_second;
      const double batches = of("batches", writes, threads).per_second;
      std::printf("| %d | %d | %.1f | %.1f", writes, threads, sharded / 1e6, shared / 1e6);
      print_fraction(shared, sharded);
      std::printf(" | %.1f", batches / 1e6);
      print_fraction(batches, sharded);
      std::printf(" |\n");
    }
  }
}

/// Bits a key need no clock.
void print_cuckoo() {
  constexpr std::uint64_t keys = 1 << 23;
  std::printf(
      "\nbits a key for 8,388,608 keys\n"
      "| rate | cuckoo | of it fingerprint | counting | plain | cuckoo full at |\n"
      "|---|---|---|---|---|---|\n");
  for (const double rate : {0.01, 0.001, 0.0001, 1e-6}) {
    const octobloom::cuckoo_plan cuckoo = octobloom::cuckoo_plan_for(keys, rate);
    const octobloom::plan plain = octobloom::plan_for(keys, rate);
    octobloom::cuckoo_filter full(cuckoo);
    for (std::uint64_t key = 0; full.insert(key); ++key) {
    }
    std::printf("| %g | %.2f | %u | %.1f | %.2f | %.1f %% |\n", rate, cuckoo.bits_per_key(),
                cuckoo.fingerprint_bits, 5 * plain.bits_per_key(), plain.bits_per_key(),
                100 * full.load());
  }
}

}  // namespace

int main(int count, char** values) {
  // What the tables need, unless the caller says otherwise.
  std::vector<std::string> words{values[0],
                                 "--benchmark_filter=rate:1000$|threads",
                                 "--benchmark_repetitions=3",
                                 "--benchmark_report_aggregates_only=true",
                                 "--benchmark_enable_random_interleaving=true",
                                 "--benchmark_min_time=0.2"};
  words.insert(words.end(), values + 1, values + count);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  int size = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&size, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(size, arguments.data())) return 2;
  collector all;
  benchmark::RunSpecifiedBenchmarks(&all);
  print_kinds(all);
  print_threads(all);
  print_cuckoo();
}
