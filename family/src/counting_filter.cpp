#include <octobloom/counting_filter.h>

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include <octobloom/detail/facts.h>
#include <octobloom/detail/popcount.h>

#include "body_table.h"
#include "candidates.h"

namespace octobloom {

namespace {

constexpr unsigned counters_per_word = 16;
constexpr unsigned counter_words_per_block = 32;
constexpr std::uint64_t saturated = 15;
constexpr std::uint64_t ones = 0x1111111111111111u;

/// A word whose nibble i is 1 where nibble i of `counters` is not zero.
constexpr std::uint64_t nonzero(std::uint64_t counters) noexcept {
  counters |= counters >> 2;
  return (counters | counters >> 1) & ones;
}

/// A word whose nibble i is 1 where nibble i of `counters` is 15.
constexpr std::uint64_t at_limit(std::uint64_t counters) noexcept {
  counters &= counters >> 2;
  return counters & counters >> 1 & ones;
}

/// The sums of the nibbles, those above 15 as 15.
constexpr std::uint64_t sum_of_nibbles(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr std::uint64_t high = ones << 3;
  const std::uint64_t low = (a & ~high) + (b & ~high);
  const std::uint64_t carry = ((a & b) | ((a | b) & low)) & high;
  return (low ^ ((a ^ b) & high)) | (carry >> 3) * saturated;
}

/// Bit j of the result is nibble j of the four words, when those are 0 or 1.
constexpr std::uint64_t packed(const std::uint64_t* words) noexcept {
  std::uint64_t bits = 0;
  for (unsigned q = 0; q < 4; ++q) {
    std::uint64_t x = nonzero(words[q]);
    x = (x | x >> 3) & 0x0303030303030303u;
    x = (x | x >> 6) & 0x000F000F000F000Fu;
    x = (x | x >> 12) & 0x000000FF000000FFu;
    x = (x | x >> 24) & 0x000000000000FFFFu;
    bits |= x << (16 * q);
  }
  return bits;
}

/// Calls `visit(bit)` for each bit that is set.
template <class Visit>
void for_each_bit(std::uint64_t word, Visit visit) {
  for (; word != 0; word &= word - 1) visit(static_cast<unsigned>(std::countr_zero(word)));
}

std::uint64_t block_of(const const_filter_view& view, std::uint64_t hash) noexcept {
  return rot8::block_index(hash, view.blocks());
}

}  // namespace

counting_filter::counting_filter(const plan& plan, const filter_options& options)
    : counting_filter(filter(plan, options)) {}

counting_filter::counting_filter(filter&& bits)
    : bits_(std::move(bits)), counters_(std::uint64_t{bits_.blocks()} * counter_words_per_block) {}

void counting_filter::insert_hash(std::uint64_t hash, key_family family) noexcept {
  state_family(family);
  put(hash);
}

bool counting_filter::insert_new_hash(std::uint64_t hash, key_family family) noexcept {
  state_family(family);
  return put_absent(hash);
}

bool counting_filter::remove_hash(std::uint64_t hash, key_family family) {
  require_family(family);
  return take(hash);
}

void counting_filter::put(std::uint64_t hash) noexcept {
  bits_.insert_hash(hash);
  std::uint64_t* counters = counters_.words() + block_of(view(), hash) * counter_words_per_block;
  const std::uint32_t x = rot8::pattern_source(hash);
  for (unsigned w = 0; w < rot8::words_per_block; ++w, counters += 4) {
    for_each_bit(rot8::pattern_word(x, k(), w), [counters](unsigned bit) {
      std::uint64_t& word = counters[bit / counters_per_word];
      const unsigned shift = 4 * (bit % counters_per_word);
      if ((word >> shift & saturated) != saturated) word += std::uint64_t{1} << shift;
    });
  }
}

bool counting_filter::put_absent(std::uint64_t hash) noexcept {
  if (view().may_contain_hash(hash)) return false;
  put(hash);
  return true;
}

bool counting_filter::take(std::uint64_t hash) noexcept {
  if (!view().may_contain_hash(hash)) return false;
  const std::uint64_t block = block_of(view(), hash);
  std::uint64_t* bits = bits_.view().words() + block * rot8::words_per_block;
  std::uint64_t* counters = counters_.words() + block * counter_words_per_block;
  const std::uint32_t x = rot8::pattern_source(hash);
  for (unsigned w = 0; w < rot8::words_per_block; ++w, counters += 4) {
    for_each_bit(rot8::pattern_word(x, k(), w), [&](unsigned bit) {
      std::uint64_t& word = counters[bit / counters_per_word];
      const unsigned shift = 4 * (bit % counters_per_word);
      const std::uint64_t count = word >> shift & saturated;
      if (count == saturated) return;
      word -= std::uint64_t{1} << shift;
      if (count == 1) bits[w] &= ~(std::uint64_t{1} << bit);
    });
  }
  bits_.count_removed(1);
  return true;
}

void counting_filter::prefetch(std::uint64_t hash) const noexcept {
  const std::uint64_t block = block_of(view(), hash);
  __builtin_prefetch(view().words() + block * rot8::words_per_block, 1);
  const std::uint64_t* counters = counters_.words() + block * counter_words_per_block;
  for (unsigned line = 0; line < 4; ++line) __builtin_prefetch(counters + 8 * line, 1);
}

template <class Act>
std::uint64_t counting_filter::for_each_hash(const key_batch& keys, std::uint8_t* bitmap,
                                             const bulk_options& options, Act act) {
  detail::take_home(view(), options);
  return detail::for_each_hash(
      keys, seed(), bitmap, options, [this](std::uint64_t hash) { prefetch(hash); }, act);
}

void counting_filter::add(const key_batch& keys, const bulk_options& options) {
  for_each_hash(keys, nullptr, options, [this](std::uint64_t hash) {
    put(hash);
    return true;
  });
}

std::uint64_t counting_filter::add_new(const key_batch& keys, std::uint8_t* bitmap,
                                       const bulk_options& options) {
  return for_each_hash(keys, bitmap, options,
                       [this](std::uint64_t hash) { return put_absent(hash); });
}

std::uint64_t counting_filter::take_out(const key_batch& keys, std::uint8_t* bitmap,
                                        const bulk_options& options) {
  return for_each_hash(keys, bitmap, options, [this](std::uint64_t hash) { return take(hash); });
}

void counting_filter::merge(const counting_filter& other) {
  const bool holds_keys = other.inserted_keys() > 0 || detail::any_bit(other.view());
  bits_.merge(other.bits_);  // throws before anything is changed
  families_.unite(other.families(), holds_keys);
  std::uint64_t* words = counters_.words();
  for (std::uint64_t i = 0; i < counters_.size(); ++i) {
    words[i] = sum_of_nibbles(words[i], other.counters_.words()[i]);
  }
}

filter counting_filter::snapshot() const {
  filter result = bits_.copy();
  result.set_families(families());
  return result;
}

void counting_filter::clear() noexcept {
  bits_.clear();
  families_.clear();
  counters_.clear();
}

std::uint64_t counting_filter::saturated_counters() const noexcept {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < counters_.size(); ++i) {
    count += detail::popcount(at_limit(counters_.words()[i]));
  }
  return count;
}

encoded_filter counting_filter::encoded() const {
  return detail::encode_words(
      {record(), filter_kind::counting, families()},
      {{view().words(), view().shape().word_count()}, {counters_.words(), counters_.size()}});
}

counting_filter counting_filter::decoded(filter_reader& from, const load_options& options) {
  from.require_kind(filter_kind::counting);
  const file_header& header = from.header();
  counting_filter result(detail::read_filter(from, options, header));
  from.read_piece(
      std::as_writable_bytes(std::span(result.counters_.words(), result.counters_.size())),
      options);
  from.finish_body(options);
  result.families_.unite(header.families,
                         header.inserted_keys > 0 || detail::any_bit(result.view()));
  if (!options.verify_body) return result;
  for (std::uint64_t w = 0; w < header.shape.word_count(); ++w) {
    if (result.view().words()[w] != packed(result.counters_.words() + 4 * w)) {
      from.refuse("block " + std::to_string(w / rot8::words_per_block) +
                  " has bits without counters or counters without bits: the file is damaged");
    }
  }
  return result;
}

filter_facts facts_of(const counting_filter& filter, reading how) {
  filter_facts facts = detail::facts_of_bits(filter, filter_kind::counting,
                                             detail::read_statistics(filter.view(), how));
  counter_facts& counters = facts.counters.emplace();
  counters.bytes = filter.total_bytes() - filter.bytes();
  if (how == reading::whole) counters.saturated = filter.saturated_counters();
  return facts;
}

}  // namespace octobloom
