#include "contenders.h"

#include <unordered_set>

#include <octobloom/octobloom.h>
#include <octobloom/simd_engine.h>

namespace octobloom::bench {

namespace {

/// Our filter, of the k that is best for its size, on one engine.
class our_filter : public structure {
 public:
  our_filter(const engine& code, std::uint64_t keys, std::uint64_t bytes)
      : code_(code), filter_(plan_with_memory(bytes, keys)) {}

  void fill(const key_set& keys) override {
    simd_engine().insert(filter_.view(), keys.batch(), {.threads = 0});
  }
  void insert(const key_set& keys, unsigned threads) override {
    code_.insert(filter_.view(), keys.batch(), {.threads = threads});
  }
  std::uint64_t may_contain(const key_set& keys, std::uint8_t* bitmap, unsigned threads) override {
    return code_.may_contain(filter_.view(), keys.batch(), bitmap, {.threads = threads});
  }
  std::uint64_t insert_new(const key_set& keys, std::uint8_t* bitmap, unsigned threads) override {
    return code_.insert_new(filter_.view(), keys.batch(), bitmap, {.threads = threads});
  }
  [[nodiscard]] std::uint64_t bytes() const override { return filter_.bytes(); }

 protected:
  [[nodiscard]] filter_view view() { return filter_.view(); }

 private:
  const engine& code_;
  filter filter_;
};

/// The SIMD engine without parts: straight on the filter at any size.
class plain_simd : public our_filter {
 public:
  plain_simd(std::uint64_t keys, std::uint64_t bytes) : our_filter(simd_engine(), keys, bytes) {}
  void insert(const key_set& keys, unsigned threads) override {
    const simd_override forced(tuning());
    our_filter::insert(keys, threads);
  }
  std::uint64_t may_contain(const key_set& keys, std::uint8_t* bitmap, unsigned threads) override {
    const simd_override forced(tuning());
    return our_filter::may_contain(keys, bitmap, threads);
  }
  std::uint64_t insert_new(const key_set& keys, std::uint8_t* bitmap, unsigned threads) override {
    const simd_override forced(tuning());
    return our_filter::insert_new(keys, bitmap, threads);
  }

 private:
  static simd_tuning tuning() {
    simd_tuning never = simd_tuning::of_this_machine();
    never.partition_from_bytes = UINT64_MAX;
    return never;
  }
};

/// The least that the memory asks for: the same keys and prefetches, one word read, or written, of
/// each block.
class memory_floor : public our_filter {
 public:
  memory_floor(std::uint64_t keys, std::uint64_t bytes) : our_filter(simd_engine(), keys, bytes) {}
  void insert(const key_set& keys, unsigned) override {
    simd_touch_lines(view(), keys.batch(), true);
  }
  std::uint64_t may_contain(const key_set& keys, std::uint8_t*, unsigned) override {
    simd_touch_lines(view(), keys.batch(), false);
    return 0;
  }
};

class standard_set : public structure {
 public:
  explicit standard_set(std::uint64_t keys) { set_.reserve(keys); }
  void insert(const key_set& keys, unsigned) override {
    for (const std::uint64_t key : keys.integers()) set_.insert(key);
  }
  std::uint64_t may_contain(const key_set& keys, std::uint8_t* bitmap, unsigned) override {
    bitmap_writer answers(bitmap);
    for (const std::uint64_t key : keys.integers()) answers.push(set_.contains(key));
    return answers.finish();
  }
  std::uint64_t insert_new(const key_set& keys, std::uint8_t* bitmap, unsigned) override {
    bitmap_writer answers(bitmap);
    for (const std::uint64_t key : keys.integers()) answers.push(set_.insert(key).second);
    return answers.finish();
  }
  [[nodiscard]] std::uint64_t bytes() const override {
    return set_.size() * 2 * sizeof(void*) + set_.bucket_count() * sizeof(void*);
  }

 private:
  std::unordered_set<std::uint64_t> set_;
};

template <class Structure>
std::unique_ptr<structure> make(std::uint64_t keys, std::uint64_t bytes) {
  return std::make_unique<Structure>(keys, bytes);
}

}  // namespace

const std::vector<contender>& contenders() {
  using enum operation;
  const std::vector<operation> all{may_contain, insert, insert_new};
  static const std::vector<contender> list{
      {.name = "floor",
       .make = make<memory_floor>,
       .operations = {may_contain, insert},
       .strings = true,
       .common_only = true},
      {.name = "simd",
       .make = [](std::uint64_t keys, std::uint64_t bytes) -> std::unique_ptr<structure> {
         return std::make_unique<our_filter>(simd_engine(), keys, bytes);
       },
       .operations = all,
       .strings = true,
       .threads = true},
      {.name = "simd_plain",
       .make = make<plain_simd>,
       .operations = all,
       .strings = true,
       .common_only = true},
      {.name = "reference",
       .make = [](std::uint64_t keys, std::uint64_t bytes) -> std::unique_ptr<structure> {
         return std::make_unique<our_filter>(reference_engine(), keys, bytes);
       },
       .operations = all,
       .strings = true,
       .common_only = true},
#ifdef OCTOBLOOM_BENCH_ARROW
      {.name = "acero",
       .make = make_acero,
       .operations = {may_contain, insert},
       .common_only = true},
      {.name = "parquet",
       .make = make_parquet,
       .operations = {may_contain, insert},
       .common_only = true},
#endif
#ifdef OCTOBLOOM_BENCH_ABSEIL
      {.name = "flat_hash_set",
       .make = make_abseil,
       .operations = all,
       .common_only = true,
       .bytes_per_key = 21},
#endif
      {.name = "unordered_set",
       .make = [](std::uint64_t keys, std::uint64_t) -> std::unique_ptr<structure> {
         return std::make_unique<standard_set>(keys);
       },
       .operations = all,
       .common_only = true,
       .bytes_per_key = 40},
  };
  return list;
}

}  // namespace octobloom::bench
