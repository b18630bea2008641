#include <octobloom/cuckoo_filter.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <ranges>

#include <octobloom/detail/facts.h>

#include "body_table.h"
#include "candidates.h"

namespace octobloom {

namespace {

constexpr unsigned slots_per_bucket = cuckoo_shape::slots_per_bucket;
constexpr std::uint32_t min_bits = 8;
constexpr std::uint32_t max_bits = 32;
constexpr unsigned max_moves = 500;
constexpr std::uint64_t max_buckets = std::numeric_limits<std::uint32_t>::max();

// Two buckets of four slots can be filled to 98 %; 500 moves reach 95 % and more, but small filters
// vary, and need some slots to spare.
constexpr double planned_load = 0.94;
constexpr double spare_slots = 12;

/// The chance that a key meets its own fingerprint in one of eight slots, a share `load` of which
/// is taken.
double rate_at(double load, std::uint32_t bits) noexcept {
  const double fingerprints = static_cast<double>(cuckoo_shape::low_bits(bits));
  return -std::expm1(2.0 * slots_per_bucket * std::log1p(-load / fingerprints));
}

[[noreturn]] void refuse(const std::string& message) {
  throw error(error_code::invalid_argument, message);
}

void require_size(std::uint64_t lines, std::uint32_t bits) {
  if (bits < min_bits || bits > max_bits) {
    refuse("a cuckoo filter's fingerprints have 8 to 32 bits, not " + std::to_string(bits));
  }
  if (lines < 1 || lines > max_buckets / cuckoo_shape::buckets_in_line(bits)) {
    refuse("a cuckoo filter has from 1 to 2^32 - 1 buckets: " + std::to_string(lines) +
           " lines of " + std::to_string(cuckoo_shape::buckets_in_line(bits)) +
           " buckets are not possible");
  }
}

cuckoo_shape checked_shape(const cuckoo_plan& plan, const filter_options& options) {
  require_size(plan.lines, plan.fingerprint_bits);
  require_storable(options.hashing, plan.target_fpr);
  return {plan.lines, plan.fingerprint_bits};
}

}  // namespace

cuckoo_plan cuckoo_plan_with_lines(std::uint64_t lines, std::uint32_t bits) {
  require_size(lines, bits);
  cuckoo_plan result;
  result.lines = static_cast<std::uint32_t>(lines);
  result.fingerprint_bits = bits;
  return result;
}

cuckoo_plan cuckoo_plan_for(std::uint64_t n, double p) {
  if (n == 0) refuse("a filter is planned for at least 1 key, not 0: use 1 for an empty set");
  if (!(p >= min_target_fpr && p < 1)) {
    refuse("the target rate is from 1e-8 up to, not including, 1 (given: " + std::to_string(p) +
           ")");
  }
  const auto keys = static_cast<double>(n);
  double best_lines = std::numeric_limits<double>::infinity();
  std::uint32_t best_bits = 0;
  for (std::uint32_t bits = min_bits; bits <= max_bits; ++bits) {
    const double bearable_load = static_cast<double>(cuckoo_shape::low_bits(bits)) *
                                 -std::expm1(std::log1p(-p) / (2.0 * slots_per_bucket));
    const double slots = std::max(keys / planned_load + spare_slots, keys / bearable_load);
    const double lines = std::ceil(slots / slots_per_bucket / cuckoo_shape::buckets_in_line(bits));
    if (lines < best_lines) {
      best_lines = lines;
      best_bits = bits;
    }
  }
  if (best_lines * cuckoo_shape::buckets_in_line(best_bits) > static_cast<double>(max_buckets)) {
    refuse(std::to_string(n) +
           " keys need more than 2^32 buckets, the most that a cuckoo filter can have: split the "
           "keys");
  }
  cuckoo_plan result = cuckoo_plan_with_lines(static_cast<std::uint64_t>(best_lines), best_bits);
  result.expected_keys = n;
  result.target_fpr = p;
  result.expected_fpr = rate_at(keys / static_cast<double>(result.slots()), best_bits);
  return result;
}

cuckoo_filter::cuckoo_filter(const cuckoo_plan& plan, const filter_options& options)
    : record_{{plan.lines, plan.fingerprint_bits, options.seed, options.hashing},
              plan.expected_keys,
              plan.target_fpr,
              0},
      shape_(checked_shape(plan, options)),
      storage_(shape_.word_count()) {}

std::uint64_t cuckoo_filter::exchange(std::uint32_t bucket, unsigned slot,
                                      std::uint64_t fingerprint) noexcept {
  const std::uint32_t bits = fingerprint_bits();
  const cuckoo_shape::bucket_place spot = shape_.where_is(bucket);
  const std::uint64_t old = view().fingerprint_at(spot, slot);
  const unsigned at = spot.bit + slot * bits;
  const unsigned shift = at % 64;
  const std::uint64_t change = old ^ fingerprint;
  std::uint64_t* word = storage_.words() + spot.word + at / 64;
  *word ^= change << shift;
  if (shift + bits > 64) word[1] ^= change >> (64 - shift);
  return old;
}

bool cuckoo_filter::put(std::uint32_t bucket, std::uint64_t fingerprint) noexcept {
  const unsigned slot = view().find(bucket, 0);
  if (slot == cuckoo_view::no_slot) return false;
  (void)exchange(bucket, slot, fingerprint);
  return true;
}

/// Both buckets are full: moves fingerprints to their other buckets, each in the place of the next,
/// until one finds an empty slot. The choices follow from the hash, so that equal calls give equal
/// bytes. False when there was none, and everything is back where it was.
bool cuckoo_filter::make_room(const cuckoo_shape::place& where, std::uint64_t hash) noexcept {
  struct move {
    std::uint32_t bucket;
    std::uint32_t slot;
  };
  std::array<move, max_moves> moves;
  std::uint64_t state = hash;
  std::uint64_t fingerprint = where.fingerprint;
  std::uint32_t bucket = where.second;
  for (move& m : moves) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    m = {bucket, static_cast<std::uint32_t>(state >> 62)};
    fingerprint = exchange(m.bucket, m.slot, fingerprint);
    bucket = shape_.other_bucket(bucket, fingerprint);
    if (put(bucket, fingerprint)) return true;
  }
  for (const move& m : moves | std::views::reverse) {
    fingerprint = exchange(m.bucket, m.slot, fingerprint);
  }
  return false;
}

bool cuckoo_filter::insert_hash(std::uint64_t hash, key_family family) noexcept {
  if (!put_in(hash)) return false;
  state_family(family);
  return true;
}

bool cuckoo_filter::put_in(std::uint64_t hash) noexcept {
  const cuckoo_shape::place where = shape_.place_of(hash);
  if (!put(where.first, where.fingerprint) && !put(where.second, where.fingerprint) &&
      !make_room(where, hash)) {
    return false;
  }
  record_.count_inserted(1);
  return true;
}

bool cuckoo_filter::insert_new_hash(std::uint64_t hash, key_family family) {
  if (holds(hash)) {
    state_family(family);
    return false;
  }
  if (insert_hash(hash, family)) return true;
  throw error(error_code::full, "the cuckoo filter has no room for another key at " +
                                    std::to_string(record_.inserted_keys) + " of " +
                                    std::to_string(slots()) +
                                    " slots: nothing was lost; plan for more keys");
}

bool cuckoo_filter::remove_hash(std::uint64_t hash, key_family family) {
  require_family(family);
  return take(hash);
}

bool cuckoo_filter::take(std::uint64_t hash) noexcept {
  const cuckoo_shape::place where = shape_.place_of(hash);
  for (const std::uint32_t bucket : {where.first, where.second}) {
    const unsigned slot = view().find(bucket, where.fingerprint);
    if (slot == cuckoo_view::no_slot) continue;
    (void)exchange(bucket, slot, 0);
    record_.count_removed(1);
    return true;
  }
  return false;
}

void cuckoo_filter::prefetch(std::uint64_t hash) const noexcept {
  const cuckoo_shape::place where = shape_.place_of(hash);
  __builtin_prefetch(storage_.words() + shape_.where_is(where.first).word, 1);
  __builtin_prefetch(storage_.words() + shape_.where_is(where.second).word, 1);
}

std::uint64_t cuckoo_filter::probe(const key_batch& keys, std::uint8_t* bitmap,
                                   const bulk_options& options) const {
  return engine_of(options).cuckoo_may_contain(view(), keys, bitmap, options);
}

std::uint64_t cuckoo_filter::insert(const key_batch& keys, const bulk_options& options) {
  detail::require_keys(hashing(), keys.kind());
  bool full = false;
  const std::uint64_t inserted = detail::for_each_hash(
      keys, seed(), nullptr, options, [this](std::uint64_t hash) { prefetch(hash); },
      [&](std::uint64_t hash) {
        full = full || !put_in(hash);
        return !full;
      });
  if (inserted > 0) state_family(keys.family());
  return inserted;
}

std::uint64_t cuckoo_filter::insert(const key_columns& keys, const bulk_options& options) {
  bool full = false;
  return detail::answer_rows(
      keys, seed(), hashing(), bytes(), null_rows::drop, {}, options,
      [&](const key_batch& batch, std::uint8_t*, const bulk_options& within) {
        const std::uint64_t inserted = full ? 0 : insert(batch, within);
        full = inserted < batch.size();
        return inserted;
      });
}

std::uint64_t cuckoo_filter::insert_new(const key_batch& keys, std::uint8_t* bitmap,
                                        const bulk_options& options) {
  detail::require_keys(hashing(), keys.kind());
  return detail::for_each_hash(
      keys, seed(), bitmap, options, [this](std::uint64_t hash) { prefetch(hash); },
      [&](std::uint64_t hash) { return insert_new_hash(hash, keys.family()); });
}

std::uint64_t cuckoo_filter::insert_new(const key_columns& keys, const row_answers& out,
                                        const bulk_options& options) {
  return detail::answer_rows(
      keys, seed(), hashing(), bytes(), null_rows::drop, out, options,
      [&](const key_batch& batch, std::uint8_t* bitmap, const bulk_options& within) {
        return insert_new(batch, bitmap, within);
      });
}

std::uint64_t cuckoo_filter::take_out(const key_batch& keys, std::uint8_t* bitmap,
                                      const bulk_options& options) {
  return detail::for_each_hash(
      keys, seed(), bitmap, options, [this](std::uint64_t hash) { prefetch(hash); },
      [this](std::uint64_t hash) { return take(hash); });
}

void cuckoo_filter::clear() noexcept {
  storage_.clear();
  record_.inserted_keys = 0;
  counted_ = true;
  families_.clear();
}

double cuckoo_filter::current_fpr() const noexcept {
  return rate_at(load(), fingerprint_bits());
}

std::uint64_t cuckoo_filter::taken_slots() const noexcept {
  return counted_ ? record_.inserted_keys : count_fingerprints();
}

saturation cuckoo_filter::verdict() const {
  return facts_of(*this).verdict;
}

std::uint64_t cuckoo_filter::count_fingerprints() const noexcept {
  std::uint64_t count = 0;
  for (std::uint32_t bucket = 0; bucket < buckets(); ++bucket) {
    const cuckoo_shape::bucket_place spot = shape_.where_is(bucket);
    for (unsigned slot = 0; slot < slots_per_bucket; ++slot) {
      if (view().fingerprint_at(spot, slot) != 0) ++count;
    }
  }
  return count;
}

/// Whether a bit is set behind the last bucket of a line: up to 96 bits are unused, in two words.
bool cuckoo_filter::has_unused_bits() const noexcept {
  const unsigned used = shape_.buckets_per_line() * slots_per_bucket * fingerprint_bits();
  const unsigned first = used / 64;
  for (std::uint32_t line = 0; line < lines(); ++line) {
    const std::uint64_t* words =
        storage_.words() + std::size_t{line} * cuckoo_shape::words_per_line;
    for (unsigned word = first; word < cuckoo_shape::words_per_line; ++word) {
      if (words[word] >> (word == first ? used % 64 : 0) != 0) return true;
    }
  }
  return false;
}

encoded_filter cuckoo_filter::encoded() const {
  return detail::encode_words({record_, filter_kind::cuckoo, families()},
                              {{storage_.words(), storage_.size()}});
}

cuckoo_filter cuckoo_filter::decoded(filter_reader& from, const load_options& options) {
  from.require_kind(filter_kind::cuckoo);
  const file_header& header = from.header();
  if (header.shape.blocks > max_buckets / cuckoo_shape::buckets_in_line(header.shape.k)) {
    from.refuse("the header's lines have more than 2^32 - 1 buckets");
  }
  cuckoo_plan shape = cuckoo_plan_with_lines(header.shape.blocks, header.shape.k);
  shape.expected_keys = header.planned_keys;
  shape.target_fpr = header.target_fpr;
  if (header.inserted_keys > shape.slots()) {
    from.refuse("the header tells of " + std::to_string(header.inserted_keys) + " keys in " +
                std::to_string(shape.slots()) + " slots");
  }
  cuckoo_filter result(shape, {header.shape.seed, header.shape.hashing});
  result.record_.inserted_keys = header.inserted_keys;
  result.counted_ = options.verify_body;
  result.families_.unite(header.families, header.inserted_keys > 0);
  from.read_body(std::as_writable_bytes(std::span(result.storage_.words(), result.storage_.size())),
                 options);
  if (options.verify_body &&
      (result.count_fingerprints() != header.inserted_keys || result.has_unused_bits())) {
    from.refuse("the body does not hold the keys that the header tells of: the file is damaged");
  }
  return result;
}

filter_facts facts_of(const cuckoo_filter& filter, reading) {
  filter_facts facts = detail::common_facts(filter, filter_kind::cuckoo);
  const std::uint64_t taken = filter.taken_slots();
  facts.slots = {filter.slots(), taken, filter.fingerprint_bits()};
  filter_statistics statistics;
  statistics.fill = static_cast<double>(taken) / static_cast<double>(filter.slots());
  statistics.estimated_keys = static_cast<double>(taken);
  statistics.current_fpr = filter.current_fpr();
  plan_use use = plan_use::unplanned;
  if (facts.planned_keys > 0) {
    use = taken <= facts.planned_keys       ? plan_use::within
          : taken / 2 <= facts.planned_keys ? plan_use::exceeded
                                            : plan_use::doubled;
  }
  detail::conclude(facts, statistics, use, key_room::slots);
  return facts;
}

}  // namespace octobloom
