// What each member of the family costs beside the plain filter: speed, bits a key, load.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include <octobloom/octobloom.h>

namespace {

using namespace octobloom;

constexpr std::uint64_t strangers = std::uint64_t{1} << 40;
constexpr std::size_t batch = 1 << 16;

std::vector<std::uint64_t> numbers(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  std::iota(keys.begin(), keys.end(), first);
  return keys;
}

/// How each kind is made for `n` keys at rate `p`, and how many bytes it then has.
struct plain_kind {
  static filter make(std::uint64_t n, double p) { return filter::with_fpr(n, p); }
  static std::uint64_t bytes(const filter& f) { return f.bytes(); }
};
struct growing_kind {
  static growing_filter make(std::uint64_t n, double p) { return {n / 1000, p}; }
  static std::uint64_t bytes(const growing_filter& f) { return f.bytes(); }
};
struct counting_kind {
  static counting_filter make(std::uint64_t n, double p) { return counting_filter::with_fpr(n, p); }
  static std::uint64_t bytes(const counting_filter& f) { return f.total_bytes(); }
};
struct cuckoo_kind {
  static cuckoo_filter make(std::uint64_t n, double p) { return cuckoo_filter::with_fpr(n, p); }
  static std::uint64_t bytes(const cuckoo_filter& f) { return f.bytes(); }
};
struct windowed_kind {
  static windowed_filter make(std::uint64_t n, double p) {
    return windowed_filter::last_events(n, p);
  }
  static std::uint64_t bytes(const windowed_filter& f) { return f.bytes(); }
};
struct shared_kind {
  static shared_filter make(std::uint64_t n, double p) { return shared_filter(plan_for(n, p)); }
  static std::uint64_t bytes(const shared_filter& f) { return f.bytes(); }
};

double rate_of(const benchmark::State& state) {
  return 1.0 / static_cast<double>(state.range(1));
}

void set_counters(benchmark::State& state, std::uint64_t bytes, std::uint64_t keys) {
  state.counters["bits/key"] = 8.0 * static_cast<double>(bytes) / static_cast<double>(keys);
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(batch));
}

template <class Filter>
void insert_all(Filter& filter, const key_batch& keys) {
  if constexpr (std::is_same_v<Filter, cuckoo_filter>) {
    benchmark::DoNotOptimize(filter.insert(keys));
  } else {
    filter.insert(keys);
  }
}

template <class Kind>
void insert(benchmark::State& state) {
  const auto n = static_cast<std::uint64_t>(state.range(0));
  auto filter = Kind::make(n, rate_of(state));
  const auto keys = numbers(0, n);
  insert_all(filter, key_batch::integers(keys));  // the memory is there before the clock starts
  const std::uint64_t bytes = Kind::bytes(filter);
  filter.clear();
  std::size_t at = 0;
  for (auto _ : state) {
    if (at + batch > n) {
      state.PauseTiming();
      filter.clear();
      at = 0;
      state.ResumeTiming();
    }
    insert_all(filter, key_batch::integers(std::span(keys).subspan(at, batch)));
    at += batch;
  }
  set_counters(state, bytes, n);
}

/// `first` 0: every key is in; strangers: none is.
template <class Kind, std::uint64_t first>
void probe(benchmark::State& state) {
  const auto n = static_cast<std::uint64_t>(state.range(0));
  auto filter = Kind::make(n, rate_of(state));
  insert_all(filter, key_batch::integers(numbers(0, n)));
  if constexpr (std::is_same_v<Kind, cuckoo_kind>) state.counters["load"] = filter.load();
  const auto keys = numbers(first, n);
  std::vector<std::uint8_t> answers(bitmap_bytes(batch));
  std::size_t at = 0;
  for (auto _ : state) {
    const auto part = key_batch::integers(std::span(keys).subspan(at, batch));
    benchmark::DoNotOptimize(filter.may_contain(part, answers.data()));
    at = at + 2 * batch <= n ? at + batch : 0;
  }
  set_counters(state, Kind::bytes(filter), n);
}

template <class Kind>
void remove(benchmark::State& state) {
  const auto n = static_cast<std::uint64_t>(state.range(0));
  auto filter = Kind::make(n, rate_of(state));
  const auto keys = numbers(0, n);
  const auto fill = [&] { insert_all(filter, key_batch::integers(keys)); };
  fill();
  std::size_t at = 0;
  for (auto _ : state) {
    if (at + batch > n) {
      state.PauseTiming();
      filter.clear();
      fill();
      at = 0;
      state.ResumeTiming();
    }
    const auto part = key_batch::integers(std::span(keys).subspan(at, batch));
    benchmark::DoNotOptimize(filter.remove(part, nullptr));
    at += batch;
  }
  set_counters(state, Kind::bytes(filter), n);
}

/// 8 million keys at 1, 0.1 and 0.01 %.
void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"keys", "1/rate"});
  for (const std::int64_t rate : {100, 1'000, 10'000}) b->Args({1 << 23, rate});
}

#define OCTOBLOOM_FAMILY(kind)                                                   \
  BENCHMARK_TEMPLATE(insert, kind##_kind)->Name("insert " #kind)->Apply(sizes);  \
  BENCHMARK_TEMPLATE(probe, kind##_kind, 0)->Name("known " #kind)->Apply(sizes); \
  BENCHMARK_TEMPLATE(probe, kind##_kind, strangers)->Name("unknown " #kind)->Apply(sizes)

OCTOBLOOM_FAMILY(plain);
OCTOBLOOM_FAMILY(growing);
OCTOBLOOM_FAMILY(counting);
OCTOBLOOM_FAMILY(cuckoo);
OCTOBLOOM_FAMILY(windowed);
OCTOBLOOM_FAMILY(shared);
BENCHMARK_TEMPLATE(remove, counting_kind)->Name("remove counting")->Apply(sizes);
BENCHMARK_TEMPLATE(remove, cuckoo_kind)->Name("remove cuckoo")->Apply(sizes);

}  // namespace
