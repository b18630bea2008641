#include <octobloom/cuckoo_filter.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "candidates.h"

namespace octobloom {

namespace {

constexpr std::uint32_t min_bits = 8;
constexpr std::uint32_t max_bits = 32;
constexpr unsigned slots_per_bucket = 4;
constexpr unsigned no_slot = slots_per_bucket;
constexpr std::uint32_t max_bits_of_one_word = 64 / slots_per_bucket;
constexpr unsigned words_per_line = 8;
constexpr unsigned max_moves = 500;
constexpr std::uint64_t max_buckets = std::numeric_limits<std::uint32_t>::max();

// Two buckets of four slots can be filled to 98 %; 500 moves reach 95 % and more, but small filters
// vary, and need some slots to spare.
constexpr double planned_load = 0.94;
constexpr double spare_slots = 12;

constexpr std::uint32_t buckets_in_line(std::uint32_t bits) noexcept {
  return 512 / (slots_per_bucket * bits);
}

constexpr std::uint64_t low_bits(unsigned count) noexcept {
  return ~std::uint64_t{0} >> (64 - count);
}

/// The chance that a key meets its own fingerprint in one of eight slots, a share `load` of which
/// is taken.
double rate_at(double load, std::uint32_t bits) noexcept {
  const double fingerprints = static_cast<double>(low_bits(bits));
  return -std::expm1(2.0 * slots_per_bucket * std::log1p(-load / fingerprints));
}

[[noreturn]] void refuse(const std::string& message) {
  throw error(error_code::invalid_argument, message);
}

void require_size(std::uint64_t lines, std::uint32_t bits) {
  if (bits < min_bits || bits > max_bits) {
    refuse("a cuckoo filter's fingerprints have 8 to 32 bits, not " + std::to_string(bits));
  }
  if (lines < 1 || lines > max_buckets / buckets_in_line(bits)) {
    refuse("a cuckoo filter has from 1 to 2^32 - 1 buckets: " + std::to_string(lines) +
           " lines of " + std::to_string(buckets_in_line(bits)) + " buckets are not possible");
  }
}

/// `count` bits from bit `at` of a line on, in whose words they lie; what is above them is not
/// cleared.
std::uint64_t read_bits(const std::uint64_t* line, unsigned at) noexcept {
  const unsigned word = at / 64;
  const unsigned shift = at % 64;
  const unsigned next = std::min(word + 1, words_per_line - 1);
  return line[word] >> shift | line[next] << 1 << (63 - shift);
}

/// a / b of 32-bit numbers, for a b whose inverse floor(2^64 / b) + 1 is at hand: the product is
/// off by at most a / 2^64.
std::uint32_t divided(std::uint32_t a, std::uint64_t inverse) noexcept {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint32_t>(static_cast<wide>(a) * inverse >> 64);
}

/// The top bits of the lanes of `x` that are zero, the lowest of these right: x - 1 borrows through
/// zero lanes only.
std::uint64_t zero_lanes(std::uint64_t x, std::uint64_t ones, unsigned bits) noexcept {
  return (x - ones) & ~x & ones << (bits - 1);
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
    const double bearable_load = static_cast<double>(low_bits(bits)) *
                                 -std::expm1(std::log1p(-p) / (2.0 * slots_per_bucket));
    const double slots = std::max(keys / planned_load + spare_slots, keys / bearable_load);
    const double lines = std::ceil(slots / slots_per_bucket / buckets_in_line(bits));
    if (lines < best_lines) {
      best_lines = lines;
      best_bits = bits;
    }
  }
  if (best_lines * buckets_in_line(best_bits) > static_cast<double>(max_buckets)) {
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
    : options_(options),
      planned_keys_(plan.expected_keys),
      target_fpr_(plan.target_fpr),
      lines_(plan.lines),
      bits_(plan.fingerprint_bits) {
  require_size(lines_, bits_);
  buckets_per_line_ = buckets_in_line(bits_);
  buckets_ = lines_ * buckets_per_line_;
  inverse_ = std::numeric_limits<std::uint64_t>::max() / buckets_per_line_ + 1;
  const unsigned lanes = bits_ <= max_bits_of_one_word ? slots_per_bucket : slots_per_bucket / 2;
  lane_ones_ = low_bits(lanes * bits_) / low_bits(bits_);
  storage_ = storage(std::uint64_t{lines_} * words_per_line);
}

cuckoo_filter::place cuckoo_filter::place_of(std::uint64_t hash) const noexcept {
  const std::uint64_t fingerprint = 1 + ((hash & 0xFFFFFFFFu) * low_bits(bits_) >> 32);
  const std::uint32_t first = rot8::block_index(hash, buckets_);
  return {fingerprint, first, other_bucket(first, fingerprint)};
}

/// From either of a fingerprint's buckets to the other: they add up to a number that the
/// fingerprint decides.
std::uint32_t cuckoo_filter::other_bucket(std::uint32_t bucket,
                                          std::uint64_t fingerprint) const noexcept {
  auto z = static_cast<std::uint32_t>(fingerprint) * 0x9E3779B1u;
  z = (z ^ z >> 15) * 0x85EBCA77u;
  const auto sum = static_cast<std::uint32_t>(std::uint64_t{z} * buckets_ >> 32);
  return sum >= bucket ? sum - bucket : sum + (buckets_ - bucket);
}

cuckoo_filter::bucket_place cuckoo_filter::where_is(std::uint32_t bucket) const noexcept {
  const std::uint32_t line = divided(bucket, inverse_);
  return {std::size_t{line} * words_per_line,
          (bucket - line * buckets_per_line_) * slots_per_bucket * bits_};
}

/// The lanes of the bucket, the second half when they need two words, that differ from
/// `fingerprint` in no bit: as zero_lanes().
std::uint64_t cuckoo_filter::matches(const bucket_place& bucket, unsigned half,
                                     std::uint64_t fingerprint) const noexcept {
  const std::uint64_t slots =
      read_bits(storage_.words() + bucket.line, bucket.bit + half * 2 * bits_);
  const std::uint64_t mask = lane_ones_ * low_bits(bits_);
  return zero_lanes((slots ^ fingerprint * lane_ones_) & mask, lane_ones_, bits_);
}

/// The lowest slot of the bucket that holds `fingerprint`, 0 for an empty one; no_slot when none
/// does.
unsigned cuckoo_filter::find(std::uint32_t bucket, std::uint64_t fingerprint) const noexcept {
  const bucket_place spot = where_is(bucket);
  std::uint64_t found = matches(spot, 0, fingerprint);
  if (found != 0) return static_cast<unsigned>(std::countr_zero(found)) / bits_;
  if (bits_ <= max_bits_of_one_word) return no_slot;
  found = matches(spot, 1, fingerprint);
  return found == 0 ? no_slot : 2 + static_cast<unsigned>(std::countr_zero(found)) / bits_;
}

std::uint64_t cuckoo_filter::exchange(std::uint32_t bucket, unsigned slot,
                                      std::uint64_t fingerprint) noexcept {
  std::uint64_t* line = storage_.words() + std::size_t{bucket / buckets_per_line_} * words_per_line;
  const unsigned at = (bucket % buckets_per_line_ * slots_per_bucket + slot) * bits_;
  const unsigned shift = at % 64;
  const std::uint64_t mask = low_bits(bits_);
  const std::uint64_t old = read_bits(line, at) & mask;
  std::uint64_t* word = line + at / 64;
  *word = (*word & ~(mask << shift)) | fingerprint << shift;
  if (shift + bits_ > 64) {
    word[1] = (word[1] & ~(mask >> (64 - shift))) | fingerprint >> (64 - shift);
  }
  return old;
}

bool cuckoo_filter::put(std::uint32_t bucket, std::uint64_t fingerprint) noexcept {
  const unsigned slot = find(bucket, 0);
  if (slot == no_slot) return false;
  (void)exchange(bucket, slot, fingerprint);
  return true;
}

/// Both buckets are full: moves fingerprints to their other buckets, each in the place of the next,
/// until one finds an empty slot. The choices follow from the hash, so that equal calls give equal
/// bytes. False when there was none, and everything is back where it was.
bool cuckoo_filter::make_room(const place& where, std::uint64_t hash) noexcept {
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
    bucket = other_bucket(bucket, fingerprint);
    if (put(bucket, fingerprint)) return true;
  }
  for (auto m = moves.rbegin(); m != moves.rend(); ++m) {
    fingerprint = exchange(m->bucket, m->slot, fingerprint);
  }
  return false;
}

bool cuckoo_filter::insert_hash(std::uint64_t hash) noexcept {
  const place where = place_of(hash);
  if (!put(where.first, where.fingerprint) && !put(where.second, where.fingerprint) &&
      !make_room(where, hash)) {
    return false;
  }
  ++inserted_keys_;
  return true;
}

bool cuckoo_filter::insert_new_hash(std::uint64_t hash) {
  if (may_contain_hash(hash)) return false;
  if (insert_hash(hash)) return true;
  throw error(error_code::full, "the cuckoo filter has no room for another key at " +
                                    std::to_string(inserted_keys_) + " of " +
                                    std::to_string(slots()) +
                                    " slots: nothing was lost; plan for more keys");
}

bool cuckoo_filter::remove_hash(std::uint64_t hash) noexcept {
  const place where = place_of(hash);
  for (const std::uint32_t bucket : {where.first, where.second}) {
    const unsigned slot = find(bucket, where.fingerprint);
    if (slot == no_slot) continue;
    (void)exchange(bucket, slot, 0);
    --inserted_keys_;
    return true;
  }
  return false;
}

bool cuckoo_filter::may_contain_hash(std::uint64_t hash) const noexcept {
  const place where = place_of(hash);
  const bucket_place first = where_is(where.first);
  const bucket_place second = where_is(where.second);
  std::uint64_t found =
      matches(first, 0, where.fingerprint) | matches(second, 0, where.fingerprint);
  if (bits_ > max_bits_of_one_word) {
    found |= matches(first, 1, where.fingerprint) | matches(second, 1, where.fingerprint);
  }
  return found != 0;
}

void cuckoo_filter::prefetch(const place& where) const noexcept {
  __builtin_prefetch(storage_.words() + where_is(where.first).line);
  __builtin_prefetch(storage_.words() + where_is(where.second).line);
}

std::uint64_t cuckoo_filter::probe(const key_batch& keys, std::uint8_t* bitmap,
                                   const bulk_options& options) const {
  return detail::for_each_hash(
      keys, seed(), bitmap, options, [this](std::uint64_t hash) { prefetch(place_of(hash)); },
      [this](std::uint64_t hash) { return may_contain_hash(hash); });
}

std::uint64_t cuckoo_filter::insert(const key_batch& keys, const bulk_options& options) {
  detail::require_keys(hashing(), keys.kind());
  bool full = false;
  return detail::for_each_hash(
      keys, seed(), nullptr, options, [this](std::uint64_t hash) { prefetch(place_of(hash)); },
      [&](std::uint64_t hash) {
        full = full || !insert_hash(hash);
        return !full;
      });
}

std::uint64_t cuckoo_filter::remove(const key_batch& keys, std::uint8_t* bitmap,
                                    const bulk_options& options) {
  detail::require_keys(hashing(), keys.kind());
  return detail::for_each_hash(
      keys, seed(), bitmap, options, [this](std::uint64_t hash) { prefetch(place_of(hash)); },
      [this](std::uint64_t hash) { return remove_hash(hash); });
}

void cuckoo_filter::clear() noexcept {
  storage_.clear();
  inserted_keys_ = 0;
}

double cuckoo_filter::current_fpr() const noexcept {
  return rate_at(load(), bits_);
}

std::uint64_t cuckoo_filter::count_fingerprints() const noexcept {
  std::uint64_t count = 0;
  for (std::uint32_t bucket = 0; bucket < buckets_; ++bucket) {
    const bucket_place spot = where_is(bucket);
    for (unsigned slot = 0; slot < slots_per_bucket; ++slot) {
      const std::uint64_t bits = read_bits(storage_.words() + spot.line, spot.bit + slot * bits_);
      if ((bits & low_bits(bits_)) != 0) ++count;
    }
  }
  return count;
}

/// Whether a bit is set behind the last bucket of a line.
bool cuckoo_filter::has_unused_bits() const noexcept {
  const unsigned used = buckets_per_line_ * slots_per_bucket * bits_;
  if (used == 512) return false;
  const std::uint64_t unused = ~low_bits(used - 448);
  for (std::uint32_t line = 0; line < lines_; ++line) {
    if ((storage_.words()[std::size_t{line} * words_per_line + 7] & unused) != 0) return true;
  }
  return false;
}

void cuckoo_filter::save(const std::string& path) const {
  write_filter_file(path,
                    {.kind = filter_kind::cuckoo,
                     .shape = {lines_, bits_, options_.seed, options_.hashing},
                     .inserted_keys = inserted_keys_,
                     .planned_keys = planned_keys_,
                     .target_fpr = target_fpr_},
                    std::as_bytes(std::span(storage_.words(), storage_.size())));
}

cuckoo_filter cuckoo_filter::load(const std::string& path, const load_options& options) {
  filter_file_reader file(path);
  file.require_kind(filter_kind::cuckoo);
  const file_header& header = file.header();
  if (header.shape.blocks > max_buckets / buckets_in_line(header.shape.k)) {
    file.refuse("the header's lines have more than 2^32 - 1 buckets");
  }
  cuckoo_plan shape = cuckoo_plan_with_lines(header.shape.blocks, header.shape.k);
  shape.expected_keys = header.planned_keys;
  shape.target_fpr = header.target_fpr;
  if (header.inserted_keys > shape.slots()) {
    file.refuse("the header tells of " + std::to_string(header.inserted_keys) + " keys in " +
                std::to_string(shape.slots()) + " slots");
  }
  cuckoo_filter result(shape, {header.shape.seed, header.shape.hashing});
  result.inserted_keys_ = header.inserted_keys;
  file.read_body(std::as_writable_bytes(std::span(result.storage_.words(), result.storage_.size())),
                 options);
  if (options.verify_body &&
      (result.count_fingerprints() != header.inserted_keys || result.has_unused_bits())) {
    file.refuse("the body does not hold the keys that the header tells of: the file is damaged");
  }
  return result;
}

}  // namespace octobloom
