#include <arrow/acero/bloom_filter.h>
#include <arrow/util/cpu_info.h>
#include <parquet/bloom_filter.h>

#include "contenders.h"
#include "hashed.h"

namespace octobloom::bench {

namespace {

/// Acero chooses the size from the number of keys: a power of two of at least 8 bits a key.
class acero_filter : public structure {
 public:
  explicit acero_filter(std::uint64_t keys) {
    ok_ = builder_
              ->Begin(1, flags(), arrow::default_memory_pool(), static_cast<std::int64_t>(keys), 0,
                      &filter_)
              .ok();
  }
  [[nodiscard]] bool ok() const { return ok_; }

  void insert(const key_set& keys, unsigned) override {
    for_each_hashed(keys, [&](const std::uint64_t* hashes, std::size_t count, std::size_t) {
      ok_ = builder_->PushNextBatch(0, static_cast<std::int64_t>(count), hashes).ok() && ok_;
    });
  }
  std::uint64_t may_contain(const key_set& keys, std::uint8_t* bitmap, unsigned) override {
    for_each_hashed(keys, [&](const std::uint64_t* hashes, std::size_t count, std::size_t first) {
      filter_.Find(flags(), static_cast<std::int64_t>(count), hashes, bitmap + first / 8);
    });
    return 0;
  }
  [[nodiscard]] std::uint64_t bytes() const override {
    return std::uint64_t{8} << filter_.log_num_blocks();
  }

 private:
  static std::int64_t flags() { return arrow::internal::CpuInfo::GetInstance()->hardware_flags(); }

  arrow::acero::BlockedBloomFilter filter_;
  std::unique_ptr<arrow::acero::BloomFilterBuilder> builder_ =
      arrow::acero::BloomFilterBuilder::Make(
          arrow::acero::BloomFilterBuildStrategy::SINGLE_THREADED);
  bool ok_ = false;
};

class parquet_filter : public structure {
 public:
  explicit parquet_filter(std::uint64_t bytes) { filter_.Init(static_cast<std::uint32_t>(bytes)); }

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
  auto filter = std::make_unique<acero_filter>(keys);
  return filter->ok() ? std::move(filter) : nullptr;
}

std::unique_ptr<structure> make_parquet(std::uint64_t, std::uint64_t bytes) {
  if (bytes > parquet::BloomFilter::kMaximumBloomFilterBytes) return nullptr;
  return std::make_unique<parquet_filter>(bytes);
}

}  // namespace octobloom::bench
