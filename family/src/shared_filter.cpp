#include <octobloom/shared_filter.h>

#include <algorithm>
#include <thread>

#include <octobloom/detail/block_meter.h>
#include <octobloom/detail/facts.h>

#include "candidates.h"

namespace octobloom {

namespace {

std::uint64_t load(std::uint64_t& word) noexcept {
  return std::atomic_ref(word).load(std::memory_order_relaxed);
}

using pattern = std::array<std::uint64_t, rot8::words_per_block>;

pattern pattern_of(std::uint64_t hash, std::uint32_t k) noexcept {
  pattern result;
  const std::uint32_t x = rot8::pattern_source(hash);
  for (unsigned w = 0; w < rot8::words_per_block; ++w) result[w] = rot8::pattern_word(x, k, w);
  return result;
}

bool has_all(std::uint64_t* words, const pattern& bits) noexcept {
  std::uint64_t missing = 0;
  for (unsigned w = 0; w < rot8::words_per_block; ++w) missing |= bits[w] & ~load(words[w]);
  return missing == 0;
}

/// Sets the bits and tells whether one was not set. Reads first: most bits of a filter in use are
/// there already, and a line that is only read stays shared between cores.
bool set_all(std::uint64_t* words, const pattern& bits) noexcept {
  std::uint64_t absent = 0;
  for (unsigned w = 0; w < rot8::words_per_block; ++w) {
    if ((bits[w] & ~load(words[w])) == 0) continue;
    absent |= bits[w] & ~std::atomic_ref(words[w]).fetch_or(bits[w], std::memory_order_relaxed);
  }
  return absent != 0;
}

class spin_guard {
 public:
  explicit spin_guard(std::atomic_flag& lock) noexcept : lock_(lock) {
    for (unsigned attempt = 0; lock_.test_and_set(std::memory_order_acquire); ++attempt) {
      if (attempt % 64 == 63) std::this_thread::yield();
    }
  }
  spin_guard(const spin_guard&) = delete;
  spin_guard& operator=(const spin_guard&) = delete;
  ~spin_guard() { lock_.clear(std::memory_order_release); }

 private:
  std::atomic_flag& lock_;
};

std::size_t counter_of_this_thread() noexcept {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t mine = threads.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

}  // namespace

shared_filter::shared_filter(const plan& plan, const filter_options& options)
    : shared_filter(filter(plan, options)) {}

shared_filter::shared_filter(filter&& start)
    : bits_(std::move(start)), words_(bits_.view().words()), parts_(std::make_unique<parts>()) {
  families_.unite(bits_.families(), bits_.inserted_keys() > 0 || detail::any_bit(bits_.view()));
}

std::uint64_t* shared_filter::block(std::uint64_t hash) const noexcept {
  return words_ + std::size_t{rot8::block_index(hash, blocks())} * rot8::words_per_block;
}

bool shared_filter::holds(std::uint64_t hash) const noexcept {
  return has_all(block(hash), pattern_of(hash, k()));
}

void shared_filter::set_bits(std::uint64_t hash) noexcept {
  (void)set_all(block(hash), pattern_of(hash, k()));
}

bool shared_filter::set_bits_alone(std::uint64_t hash) noexcept {
  const pattern bits = pattern_of(hash, k());
  std::uint64_t* words = block(hash);
  // Bits are never taken away, so a key that is there is there for good.
  if (has_all(words, bits)) return false;
  const std::uint32_t index = rot8::block_index(hash, blocks());
  const spin_guard guard(parts_->locks[index % parts_->locks.size()]);
  return set_all(words, bits);
}

void shared_filter::insert_hash(std::uint64_t hash, key_family family) noexcept {
  state_family(family);
  set_bits(hash);
  count_inserted(1);
}

bool shared_filter::insert_new_hash(std::uint64_t hash, key_family family) noexcept {
  state_family(family);
  if (!set_bits_alone(hash)) return false;
  count_inserted(1);
  return true;
}

template <class Act>
std::uint64_t shared_filter::for_each_hash(const key_batch& keys, std::uint8_t* bitmap,
                                           const bulk_options& options, Act act) const {
  return detail::for_each_hash(
      keys, seed(), bitmap, options,
      [this](std::uint64_t hash) { __builtin_prefetch(block(hash)); }, act);
}

std::uint64_t shared_filter::probe(const key_batch& keys, std::uint8_t* bitmap,
                                   const bulk_options& options) const {
  return for_each_hash(keys, bitmap, options, [this](std::uint64_t hash) { return holds(hash); });
}

void shared_filter::add(const key_batch& keys, const bulk_options& options) {
  for_each_hash(keys, nullptr, options, [this](std::uint64_t hash) {
    set_bits(hash);
    return true;
  });
  count_inserted(keys.size());
}

std::uint64_t shared_filter::add_new(const key_batch& keys, std::uint8_t* bitmap,
                                     const bulk_options& options) {
  const std::uint64_t fresh = for_each_hash(
      keys, bitmap, options, [this](std::uint64_t hash) { return set_bits_alone(hash); });
  count_inserted(fresh);
  return fresh;
}

void shared_filter::count_inserted(std::uint64_t keys) noexcept {
  auto& counters = parts_->counters;
  counters[counter_of_this_thread() % counters.size()].keys.fetch_add(keys,
                                                                      std::memory_order_relaxed);
}

std::uint64_t shared_filter::inserted_keys() const noexcept {
  std::uint64_t keys = bits_.inserted_keys();
  for (const counter& c : parts_->counters) keys += c.keys.load(std::memory_order_relaxed);
  return keys;
}

filter_record shared_filter::record() const noexcept {
  filter_record now = bits_.record();
  now.inserted_keys = inserted_keys();
  return now;
}

filter_statistics shared_filter::statistics() const noexcept {
  detail::block_meter meter(bits_.view().shape());
  std::uint64_t* words = words_;
  for (std::uint32_t b = 0; b < blocks(); ++b) {
    pattern block;
    for (std::uint64_t& word : block) word = load(*words++);
    meter.add(block.data());
  }
  return meter.result();
}

saturation shared_filter::verdict() const {
  return facts_of(*this).verdict;
}

void shared_filter::clear() noexcept {
  bits_.clear();
  families_.clear();
  for (counter& c : parts_->counters) c.keys.store(0, std::memory_order_relaxed);
}

filter shared_filter::snapshot() const {
  filter result(record());
  std::uint64_t* from = words_;
  std::uint64_t* to = result.view().words();
  for (std::uint64_t i = 0; i < result.view().shape().word_count(); ++i) to[i] = load(from[i]);
  result.set_families(families());
  return result;
}

filter shared_filter::take_filter() && {
  bits_.count_inserted(inserted_keys() - bits_.inserted_keys());
  bits_.set_families(families());
  return std::move(bits_);
}

filter_facts facts_of(const shared_filter& filter, reading) {
  return detail::facts_of_bits(filter, filter_kind::plain, filter.statistics());
}

}  // namespace octobloom
