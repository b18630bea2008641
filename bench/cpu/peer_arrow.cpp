#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>

#include <arrow/acero/bloom_filter.h>
#include <arrow/memory_pool.h>
#include <arrow/util/cpu_info.h>
#include <parquet/bloom_filter.h>

#include "contenders.h"
#include "hashed.h"

// Both take ready hashes. They get those of our vectorised hash: Parquet's own hashes one key after
// the other, and Acero's is in no public header.

namespace octobloom::bench {

namespace {

/// Gives the peers huge pages, which our filters ask for, too.
class huge_page_pool : public arrow::ProxyMemoryPool {
 public:
  using arrow::ProxyMemoryPool::Allocate;
  using arrow::ProxyMemoryPool::ProxyMemoryPool;
  arrow::Status Allocate(std::int64_t size, std::int64_t alignment, std::uint8_t** out) override {
    arrow::Status status = ProxyMemoryPool::Allocate(size, alignment, out);
    constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
    const auto begin = (reinterpret_cast<std::uintptr_t>(*out) + page - 1) / page * page;
    const auto end =
        (reinterpret_cast<std::uintptr_t>(*out) + static_cast<std::uintptr_t>(size)) / page * page;
    if (status.ok() && begin < end) {
      madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
    }
    return status;
  }
};

arrow::MemoryPool* pool() {
  static huge_page_pool one(arrow::default_memory_pool());
  return &one;
}

void require(const arrow::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

/// The shortest of a few runs.
template <class Work>
double seconds_of(const Work& work) {
  double least = 1e9;
  for (int run = 0; run < 3; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    least = std::min(least, taken.count());
  }
  return least;
}

/// Acero chooses the size from the number of keys: a power of two of at least 8 bits a key, which
/// is the workload's own size at 10 bits a key. It has two ways each to insert and to find, with
/// vectors or with prefetches; the faster one here is taken.
class acero_filter : public structure {
 public:
  explicit acero_filter(std::uint64_t keys) {
    for (const bool vectors : {false, true}) {
      // Each begins with an empty filter; both then work on the last one.
      builders_[vectors] = arrow::acero::BloomFilterBuilder::Make(
          arrow::acero::BloomFilterBuildStrategy::SINGLE_THREADED);
      require(builders_[vectors]->Begin(1, vectors ? flags() : 0, pool(),
                                        static_cast<std::int64_t>(keys), 0, &filter_));
    }
  }

  void prepare(const key_set& members) override {
    std::vector<std::uint8_t> bitmap(bitmap_bytes(members.size()));
    const auto pick = [&](bool& choice, const auto& work) {
      choice = false;
      const double prefetching = seconds_of(work);
      choice = true;
      choice = seconds_of(work) < prefetching;
    };
    pick(insert_by_vectors_, [&] { insert(members, 1); });
    pick(find_by_vectors_, [&] { may_contain(members, bitmap.data(), 1); });
  }
  [[nodiscard]] std::string label() const override {
    const std::array ways{"prefetches", "vectors"};
    return std::string("insert: ") + ways[insert_by_vectors_] + ", find: " + ways[find_by_vectors_];
  }

  void insert(const key_set& keys, unsigned) override {
    for_each_hashed(keys, [&](const std::uint64_t* hashes, std::size_t count, std::size_t) {
      require(builders_[insert_by_vectors_]->PushNextBatch(0, static_cast<std::int64_t>(count),
                                                           hashes));
    });
  }
  std::uint64_t may_contain(const key_set& keys, std::uint8_t* bitmap, unsigned) override {
    for_each_hashed(keys, [&](const std::uint64_t* hashes, std::size_t count, std::size_t first) {
      filter_.Find(flags(), static_cast<std::int64_t>(count), hashes, bitmap + first / 8,
                   !find_by_vectors_);
    });
    return 0;
  }
  [[nodiscard]] std::uint64_t bytes() const override {
    return std::uint64_t{8} << filter_.log_num_blocks();
  }

 private:
  static std::int64_t flags() { return arrow::internal::CpuInfo::GetInstance()->hardware_flags(); }

  arrow::acero::BlockedBloomFilter filter_;
  std::array<std::unique_ptr<arrow::acero::BloomFilterBuilder>, 2> builders_;
  bool insert_by_vectors_ = false;
  bool find_by_vectors_ = false;
};

/// Parquet takes a size, a power of two. It finds one key a call; inserting takes many.
class parquet_filter : public structure {
 public:
  explicit parquet_filter(std::uint64_t bytes) : filter_(pool()) {
    filter_.Init(static_cast<std::uint32_t>(bytes));
  }

  void insert(const key_set& keys, unsigned) override {
    for_each_hashed(keys, [&](const std::uint64_t* hashes, std::size_t count, std::size_t) {
      filter_.InsertHashes(hashes, static_cast<int>(count));
    });
  }
  std::uint64_t may_contain(const key_set& keys, std::uint8_t* bitmap, unsigned) override {
    bitmap_writer answers(bitmap);
    for_each_hashed(keys, [&](const std::uint64_t* hashes, std::size_t count, std::size_t) {
      for (std::size_t i = 0; i < count; ++i) answers.push(filter_.FindHash(hashes[i]));
    });
    return answers.finish();
  }
  [[nodiscard]] std::uint64_t bytes() const override { return filter_.GetBitsetSize(); }

 private:
  parquet::BlockSplitBloomFilter filter_;
};

}  // namespace

std::unique_ptr<structure> make_acero(std::uint64_t keys, std::uint64_t) {
  return std::make_unique<acero_filter>(keys);
}

std::unique_ptr<structure> make_parquet(std::uint64_t, std::uint64_t bytes) {
  return std::make_unique<parquet_filter>(bytes);
}

std::uint64_t largest_parquet() {
  return parquet::BloomFilter::kMaximumBloomFilterBytes;
}

}  // namespace octobloom::bench
