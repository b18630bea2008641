#include "contenders.h"

#include <map>
#include <unordered_set>
#include <utility>

#include <octobloom/simd_hooks.h>

#include "exact_set.h"
#include "our_filter.h"

namespace octobloom::bench {

namespace {

std::shared_ptr<filled_filter> shared_filter(const plan& sized) {
  static std::map<std::pair<std::uint32_t, std::uint32_t>, std::weak_ptr<filled_filter>> living;
  std::weak_ptr<filled_filter>& slot = living[{sized.blocks, sized.k}];
  std::shared_ptr<filled_filter> found = slot.lock();
  if (found == nullptr) {
    found = std::make_shared<filled_filter>(sized);
    slot = found;
  }
  return found;
}

/// The SIMD engine, with parts at every size or at none.
class forced_simd : public our_filter {
 public:
  forced_simd(const plan& sized, bool parts) : our_filter(simd_engine(), sized) {
    tuning_.partition_from_bytes = parts ? 0 : UINT64_MAX;
    tuning_.partition_answers_from_bytes = tuning_.partition_from_bytes;
  }
  void insert(const key_set& keys, unsigned threads) override {
    const simd_override forced(tuning_);
    our_filter::insert(keys, threads);
  }
  std::uint64_t may_contain(const key_set& keys, std::uint8_t* bitmap, unsigned threads) override {
    const simd_override forced(tuning_);
    return our_filter::may_contain(keys, bitmap, threads);
  }
  std::uint64_t insert_new(const key_set& keys, std::uint8_t* bitmap, unsigned threads) override {
    const simd_override forced(tuning_);
    return our_filter::insert_new(keys, bitmap, threads);
  }

 private:
  simd_tuning tuning_ = simd_tuning::of_this_machine();
};

/// The least that the memory asks for: the same keys and prefetches, one word read, or written, of
/// each block.
class memory_floor : public our_filter {
 public:
  explicit memory_floor(const plan& sized) : our_filter(simd_engine(), sized) {}
  void insert(const key_set& keys, unsigned) override {
    simd_touch_lines(view(), keys.batch(), true);
  }
  std::uint64_t may_contain(const key_set& keys, std::uint8_t*, unsigned) override {
    simd_touch_lines(view(), keys.batch(), false);
    return 0;
  }
};

std::unique_ptr<structure> make_floor(std::uint64_t keys, std::uint64_t bytes) {
  return std::make_unique<memory_floor>(best_plan(keys, bytes));
}
template <const engine& (*Engine)() noexcept, plan (*Plan)(std::uint64_t, std::uint64_t)>
std::unique_ptr<structure> make_ours(std::uint64_t keys, std::uint64_t bytes) {
  return std::make_unique<our_filter>(Engine(), Plan(keys, bytes));
}
template <bool Parts>
std::unique_ptr<structure> make_forced(std::uint64_t keys, std::uint64_t bytes) {
  return std::make_unique<forced_simd>(best_plan(keys, bytes), Parts);
}
std::unique_ptr<structure> make_standard_set(std::uint64_t keys, std::uint64_t) {
  using set = std::unordered_set<std::uint64_t>;
  // A node of a pointer and a key for each key, a pointer for each bucket; the allocator's own
  // bytes come on top.
  return std::make_unique<exact_set<set>>(keys, [](const set& s) -> std::uint64_t {
    return s.size() * (sizeof(void*) + sizeof(set::value_type)) + s.bucket_count() * sizeof(void*);
  });
}

}  // namespace

our_filter::our_filter(const engine& code, const plan& sized)
    : code_(code), shared_(shared_filter(sized)) {}

const std::vector<contender>& contenders() {
  using enum operation;
  const std::vector<operation> all{may_contain, insert, insert_new};
  static const std::vector<contender> list{
      {.name = "floor",
       .make = make_floor,
       .operations = {may_contain, insert},
       .strings = true,
       .common_only = true,
       .answers = false},
      {.name = "simd",
       .make = make_ours<simd_engine, best_plan>,
       .operations = all,
       .strings = true,
       .threads = true},
      {.name = "simd_plain",
       .make = make_forced<false>,
       .operations = all,
       .strings = true,
       .common_only = true},
      {.name = "simd_parts",
       .make = make_forced<true>,
       .operations = all,
       .strings = true,
       .common_only = true,
       .from_bytes = std::uint64_t{16} << 20},
      {.name = "simd_k8",
       .make = make_ours<simd_engine, plan_k8>,
       .operations = all,
       .common_only = true},
      {.name = "vertical", .make = make_vertical, .operations = {may_contain}, .common_only = true},
      {.name = "vertical_k8",
       .make = make_vertical_k8,
       .operations = {may_contain},
       .common_only = true},
      {.name = "reference",
       .make = make_ours<reference_engine, best_plan>,
       .operations = all,
       .strings = true,
       .common_only = true,
       .slow = true},
#ifdef OCTOBLOOM_BENCH_ARROW
      {.name = "acero",
       .make = make_acero,
       .operations = {may_contain, insert},
       .common_only = true},
      {.name = "parquet",
       .make = make_parquet,
       .operations = {may_contain, insert},
       .common_only = true,
       .to_bytes = largest_parquet()},
#endif
#ifdef OCTOBLOOM_BENCH_ABSEIL
      {.name = "flat_hash_set",
       .make = make_abseil,
       .operations = all,
       .common_only = true,
       .slow = true,
       .bytes_per_key = 21},
#endif
      {.name = "unordered_set",
       .make = make_standard_set,
       .operations = all,
       .common_only = true,
       .slow = true,
       .bytes_per_key = 40},
  };
  return list;
}

}  // namespace octobloom::bench
