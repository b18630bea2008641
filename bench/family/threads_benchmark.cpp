// Many threads at one filter: the shared filter, and the usual way without it.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <octobloom/octobloom.h>

namespace {

using namespace octobloom;

constexpr std::uint64_t keys = 1 << 22;
constexpr double rate = 0.001;
constexpr std::size_t batch = 1024;

using hash_batch = std::array<std::uint64_t, batch>;

/// Key by key.
struct shared_way {
  shared_filter filter{plan_for(keys, rate)};

  void insert_new(const hash_batch& hashes) {
    for (const std::uint64_t hash : hashes) {
      benchmark::DoNotOptimize(filter.insert_new_hash(hash));
    }
  }
  void may_contain(const hash_batch& hashes) {
    for (const std::uint64_t hash : hashes) {
      benchmark::DoNotOptimize(filter.may_contain_hash(hash));
    }
  }
};

struct shared_in_batches {
  shared_filter filter{plan_for(keys, rate)};

  void insert_new(const hash_batch& hashes) {
    benchmark::DoNotOptimize(filter.insert_new(key_batch::hashes(hashes), nullptr));
  }
  void may_contain(const hash_batch& hashes) {
    benchmark::DoNotOptimize(filter.may_contain(key_batch::hashes(hashes), nullptr));
  }
};

/// 64 parts of the hash range, a mutex and a plain filter for each; key by key.
class sharded_way {
 public:
  void insert_new(const hash_batch& hashes) {
    for (const std::uint64_t hash : hashes) {
      shard& s = shards_[hash % shards_.size()];
      const std::lock_guard guard(s.mutex);
      benchmark::DoNotOptimize(s.bits.insert_new_hash(hash));
    }
  }
  void may_contain(const hash_batch& hashes) {
    for (const std::uint64_t hash : hashes) {
      shard& s = shards_[hash % shards_.size()];
      const std::lock_guard guard(s.mutex);
      benchmark::DoNotOptimize(s.bits.may_contain_hash(hash));
    }
  }

 private:
  struct alignas(64) shard {
    std::mutex mutex;
    filter bits{plan_for(keys / 64, rate)};
  };
  // The lowest bits of a hash choose: the filters use the upper half for blocks.
  std::vector<shard> shards_ = std::vector<shard>(64);
};

/// The hashes of `batch` keys from the i-th on, in an order without a pattern.
void fill(hash_batch& hashes, std::uint64_t i) {
  for (std::uint64_t& hash : hashes) hash = hash_integer(i++ * 0x9E3779B1u % keys);
}

/// 4 million keys, half of them in at the start. All threads together do `insert_new`, or ask
/// `may_contain`, for each once, or insert one batch of sixteen.
template <class Way>
void threads(benchmark::State& state) {
  static std::unique_ptr<Way> way;
  const auto writes_of_16 = static_cast<std::uint64_t>(state.range(0));
  hash_batch hashes;
  if (state.thread_index() == 0) {
    way = std::make_unique<Way>();
    for (std::uint64_t i = 0; i < keys / 2; i += batch) {
      fill(hashes, i * 2);
      way->insert_new(hashes);
    }
  }
  const std::uint64_t share = keys / static_cast<std::uint64_t>(state.threads());
  std::uint64_t i = share * static_cast<std::uint64_t>(state.thread_index());
  for (auto _ : state) {
    fill(hashes, i);
    if (i / batch % 16 < writes_of_16) {
      way->insert_new(hashes);
    } else {
      way->may_contain(hashes);
    }
    i += batch;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(batch));
}

template <class Way>
void add(const std::string& name) {
  for (const int writes_of_16 : {16, 1, 0}) {
    for (const int count : {1, 2, 4, 8}) {
      benchmark::RegisterBenchmark(("threads " + name).c_str(), threads<Way>)
          ->ArgName("writes")
          ->Arg(writes_of_16)
          ->Threads(count)
          ->Iterations(static_cast<benchmark::IterationCount>(keys / batch) / count)
          ->UseRealTime();
    }
  }
}

[[maybe_unused]] const bool added = [] {
  add<shared_way>("shared");
  add<shared_in_batches>("batches");
  add<sharded_way>("sharded");
  return true;
}();

}  // namespace
