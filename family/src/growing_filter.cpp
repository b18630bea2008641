#include <octobloom/growing_filter.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <octobloom/detail/facts.h>

#include "body_table.h"
#include "candidates.h"
#include "joint_statistics.h"

namespace octobloom {

namespace {

constexpr double share_of_rate = 0.15;  // of what is left, for each level
constexpr std::size_t max_levels = 64;

// The body's table, see docs/format-kinds.md: this, then one row a level.
struct table_start {
  std::uint64_t levels;
  std::uint64_t growth;
  double grow_at;
  std::uint64_t spare_blocks;
  std::array<std::uint64_t, 4> zero;
};
struct table_row {
  std::uint64_t blocks;
  std::uint64_t k;
  std::uint64_t planned_keys;
  std::uint64_t keys;
  double target_fpr;
  std::array<std::uint64_t, 3> zero;
};
static_assert(sizeof(table_start) == 64 && sizeof(table_row) == 64);

std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) noexcept {
  return a > std::numeric_limits<std::uint64_t>::max() / b
             ? std::numeric_limits<std::uint64_t>::max()
             : a * b;
}

/// The keys with which a level is closed.
std::uint64_t capacity(std::uint64_t planned_keys, double grow_at) noexcept {
  if (grow_at == 1) return planned_keys;
  const double keys = std::floor(static_cast<double>(planned_keys) * grow_at);
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(keys), 1);
}

bool valid_growth(std::uint64_t growth) noexcept {
  return growth >= 2 && growth <= 16;
}

bool valid_grow_at(double grow_at) noexcept {
  return grow_at >= 0.1 && grow_at <= 1;
}

/// The target of a level when `left` of the rate is not given away yet; empty when that is too
/// little.
std::optional<double> target_of_level(double left) noexcept {
  const double target = std::max(left * share_of_rate, min_target_fpr);
  return target > left ? std::nullopt : std::optional(target);
}

void require_options(const growing_options& options) {
  if (!valid_growth(options.growth)) {
    throw error(error_code::invalid_argument,
                "levels grow 2 to 16 times, not " + std::to_string(options.growth) + " times");
  }
  if (!valid_grow_at(options.grow_at)) {
    throw error(error_code::invalid_argument,
                "a level is closed at a share of its plan from 0.1 to 1, not " +
                    std::to_string(options.grow_at));
  }
}

/// The plan of a level; empty when no filter is that large.
std::optional<plan> plan_level(std::uint64_t keys, double target_fpr, std::uint32_t spare_blocks) {
  constexpr std::uint64_t max_blocks = std::numeric_limits<std::uint32_t>::max();
  try {
    plan level = plan_for(keys, target_fpr);
    level.blocks += static_cast<std::uint32_t>(
        std::min<std::uint64_t>(spare_blocks, max_blocks - level.blocks));
    return level;
  } catch (const error& e) {
    if (e.code() != error_code::invalid_argument) throw;
    return std::nullopt;
  }
}

}  // namespace

std::uint64_t growing_capacity(std::uint64_t initial_keys, double target_fpr,
                               const growing_options& options) {
  require_options(options);
  (void)plan_for(initial_keys, target_fpr);  // refuses what is out of range
  // No plan of fewer keys is too large for a filter.
  constexpr std::uint64_t always_planned = std::uint64_t{1} << 34;
  double left = target_fpr;
  std::uint64_t sum = 0;
  std::uint64_t keys = initial_keys;
  for (std::size_t level = 0; level < max_levels; ++level) {
    const std::optional<double> target = target_of_level(left);
    if (!target || (keys > always_planned && !plan_level(keys, *target, 0))) break;
    left -= *target;
    const std::uint64_t more = capacity(keys, options.grow_at);
    if (more > std::numeric_limits<std::uint64_t>::max() - sum) {
      return std::numeric_limits<std::uint64_t>::max();
    }
    sum += more;
    keys = saturating_multiply(keys, options.growth);
  }
  return sum;
}

growing_filter::growing_filter(std::uint64_t initial_keys, double target_fpr,
                               const growing_options& options)
    : options_(options), target_fpr_(target_fpr) {
  require_options(options);
  const plan whole = plan_for(initial_keys, target_fpr);  // refuses what is out of range
  if (target_fpr < min_growing_target_fpr) {
    throw error(error_code::invalid_argument,
                "a filter with a target rate below 2e-8 cannot grow: its first level spends the "
                "rate. Accept a rate of 2e-8 or more, or make a plain filter of the right size");
  }
  add_level(whole.expected_keys);
}

growing_filter::growing_filter(filter first, double target_fpr, const growing_options& options)
    : options_(options), target_fpr_(target_fpr), inserted_keys_(first.inserted_keys()) {
  require_options(options);
  options_.seed = first.seed();
  options_.hashing = first.hashing();
  (void)plan_for(1, target_fpr);  // refuses what is out of range
  if (first.planned_keys() == 0 || first.target_fpr() < min_target_fpr) {
    throw error(error_code::invalid_argument,
                "a filter without a plan, keys and a rate, cannot be the first level of one that "
                "grows");
  }
  if (first.inserted_keys() > capacity(first.planned_keys(), options.grow_at)) {
    throw error(error_code::invalid_argument,
                "a filter that holds more than a level is planned for cannot be the first one");
  }
  if (target_fpr - first.target_fpr() < min_target_fpr) {
    throw error(error_code::invalid_argument,
                "the first level leaves less than 1e-8 of the rate, too little for another one");
  }
  families_.unite(first.families(), first.inserted_keys() > 0);
  levels_.push_back(std::move(first));
}

std::uint64_t growing_filter::room_in_newest() const noexcept {
  const filter& newest = levels_.back();
  return capacity(newest.planned_keys(), options_.grow_at) - newest.inserted_keys();
}

void growing_filter::add_level(std::uint64_t keys) {
  double left = target_fpr_;
  for (const filter& level : levels_) left -= level.target_fpr();
  const std::optional<double> target = target_of_level(left);
  if (!target || levels_.size() == max_levels) {
    throw error(error_code::full,
                "the filter has grown to " + std::to_string(levels_.size()) +
                    " levels, and another one would push its rate above the target: start with "
                    "more keys, accept a higher rate, or compact it");
  }
  const std::optional<plan> level = plan_level(keys, *target, options_.spare_blocks);
  if (!level) {
    throw error(levels_.empty() ? error_code::invalid_argument : error_code::full,
                "a level of " + std::to_string(keys) +
                    " keys would need 2^32 blocks (256 GiB) or more, which no filter can have: "
                    "split the keys");
  }
  levels_.emplace_back(*level, filter_options{options_.seed, options_.hashing});
}

void growing_filter::add_next_level() {
  add_level(saturating_multiply(levels_.back().planned_keys(), options_.growth));
}

void growing_filter::count_inserted(std::uint64_t keys) noexcept {
  inserted_keys_ = saturating_sum(inserted_keys_, keys);
}

bool growing_filter::holds(std::uint64_t hash) const noexcept {
  return std::any_of(levels_.rbegin(), levels_.rend(),
                     [hash](const filter& level) { return level.view().may_contain_hash(hash); });
}

void growing_filter::insert_hash(std::uint64_t hash, key_family family) {
  if (!insert_new_hash(hash, family)) count_inserted(1);
}

bool growing_filter::insert_new_hash(std::uint64_t hash, key_family family) {
  const bool absent = !holds(hash);
  if (absent && room_in_newest() == 0) add_next_level();
  state_family(family);
  if (!absent) return false;
  levels_.back().insert_hash(hash, family);
  count_inserted(1);
  return true;
}

std::uint64_t growing_filter::probe(const key_batch& keys, std::uint8_t* bitmap,
                                    const bulk_options& options) const {
  const auto newest_first = [this](std::size_t i) -> const filter& {
    return levels_[levels_.size() - 1 - i];
  };
  return detail::may_contain_any(levels_.size(), newest_first, seed(), keys, bitmap, options);
}

void growing_filter::add(const key_batch& keys, const bulk_options& options) {
  (void)take_in(keys, nullptr, options, true);
}

std::uint64_t growing_filter::add_new(const key_batch& keys, std::uint8_t* bitmap,
                                      const bulk_options& options) {
  return take_in(keys, bitmap, options, false);
}

std::uint64_t growing_filter::take_in(const key_batch& keys, std::uint8_t* bitmap,
                                      const bulk_options& options, bool count_repeats) {
  return detail::in_one_call(options, [&](const bulk_options& within) {
    detail::candidates left;
    std::uint64_t fresh = 0;
    detail::for_each_chunk(keys, bitmap, [&](const key_batch& chunk, std::uint8_t* answers) {
      const std::uint64_t fresh_before = fresh;
      left.start(chunk, seed(), within);
      for (std::size_t i = levels_.size() - 1; i-- > 0;) {
        left.drop_contained(levels_[i].view(), within);
      }
      while (left.size() > 0) {
        const std::uint64_t room = room_in_newest();
        if (room < left.size()) {
          left.drop_contained(levels_.back().view(), within);
          if (left.size() == 0) break;
          if (room == 0) {
            add_next_level();
            continue;
          }
        }
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(room, left.size()));
        const std::uint64_t inserted = left.insert_absent(levels_.back().view(), count, within);
        levels_.back().count_inserted(inserted, keys.family());
        count_inserted(inserted);
        if (answers != nullptr) left.mark(answers, 0, inserted);
        left.drop_first(inserted);
        fresh += inserted;
      }
      if (count_repeats) count_inserted(chunk.size() - (fresh - fresh_before));
    });
    return fresh;
  });
}

void growing_filter::compact(const std::function<void(growing_filter&)>& replay) {
  const auto keys = static_cast<double>(distinct_keys());
  const double room = std::ceil(keys * (1 + target_fpr_) / options_.grow_at) + 1;
  growing_filter twin(static_cast<std::uint64_t>(room), target_fpr_, options_);
  replay(twin);
  // Both filters may have taken a few of the same keys for repeats.
  const auto replayed = static_cast<double>(twin.distinct_keys());
  const double lost = replayed * target_fpr_;
  if (replayed + lost + 6 * std::sqrt(lost) + 6 < keys) {
    throw error(error_code::invalid_argument,
                "the replay brought " + std::to_string(twin.distinct_keys()) + " keys of " +
                    std::to_string(distinct_keys()) + ": the filter stays as it was");
  }
  *this = std::move(twin);
}

void growing_filter::clear() {
  levels_.erase(levels_.begin() + 1, levels_.end());
  levels_[0].clear();
  inserted_keys_ = 0;
  families_.clear();
}

std::uint64_t growing_filter::distinct_keys() const noexcept {
  std::uint64_t keys = 0;
  for (const filter& level : levels_) keys += level.inserted_keys();
  return keys;
}

std::uint64_t growing_filter::bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const filter& level : levels_) bytes += level.bytes();
  return bytes;
}

double growing_filter::expected_fpr() const {
  double absent = 1;
  for (const filter& level : levels_) {
    absent *= 1 - octobloom::expected_fpr(static_cast<double>(level.inserted_keys()),
                                          level.blocks(), level.k());
  }
  return 1 - absent;
}

double growing_filter::expected_lost() const {
  double older_rates = 0;
  double lost = 0;
  for (const filter& level : levels_) {
    const auto keys = static_cast<double>(level.inserted_keys());
    lost += older_rates * keys + octobloom::expected_lost(0, keys, level.blocks(), level.k());
    older_rates += octobloom::expected_fpr(keys, level.blocks(), level.k());
  }
  return lost;
}

growing_statistics growing_filter::statistics() const {
  growing_statistics result{.levels = levels_.size(),
                            .bytes = bytes(),
                            .distinct_keys = distinct_keys(),
                            .expected_fpr = expected_fpr()};
  double absent = 1;
  for (const filter& level : levels_) {
    const filter_statistics s = level.statistics();
    absent *= 1 - s.current_fpr;
    result.fill += s.fill * static_cast<double>(level.bytes()) / static_cast<double>(result.bytes);
  }
  result.current_fpr = 1 - absent;
  return result;
}

saturation growing_filter::verdict() const {
  return facts_of(*this).verdict;
}

encoded_filter growing_filter::encoded() const {
  const table_start start{
      levels_.size(), options_.growth, options_.grow_at, options_.spare_blocks, {}};
  std::vector<table_row> rows;
  std::vector<const_filter_view> views;
  rows.reserve(levels_.size());
  views.reserve(levels_.size());
  for (const filter& level : levels_) {
    views.push_back(level.view());
    rows.push_back({level.blocks(),
                    level.k(),
                    level.planned_keys(),
                    level.inserted_keys(),
                    level.target_fpr(),
                    {}});
  }
  return detail::encode_filters<table_start, table_row>(
      {record(), filter_kind::growing, families()}, start, rows, views);
}

growing_filter growing_filter::decoded(filter_reader& from, const load_options& options) {
  from.require_kind(filter_kind::growing);
  const file_header& header = from.header();
  detail::body_table table(from, options);

  const auto start = table.read<table_start>();
  table.require("number of levels", start.levels, 1, max_levels);
  table.require("growth", start.growth, 2, 16);
  table.require(valid_grow_at(start.grow_at), "share at which a level is closed",
                "is not from 0.1 to 1");
  table.require("number of spare blocks", start.spare_blocks, 0,
                std::numeric_limits<std::uint32_t>::max());
  table.require_zero(start.zero);
  table.require(header.target_fpr >= min_growing_target_fpr, "target rate", "is below 2e-8");

  std::vector<table_row> rows;
  double rate = 0;
  for (std::uint64_t i = 0; i < start.levels; ++i) {
    const auto row = table.read<table_row>();
    table.require("block count of a level", row.blocks, 1, 0xFFFFFFFFu);
    table.require("k of a level", row.k, 1, rot8::max_k);
    const std::uint64_t planned =
        i == 0 ? header.planned_keys : saturating_multiply(rows.back().planned_keys, start.growth);
    table.require("planned keys of a level", row.planned_keys, std::max<std::uint64_t>(planned, 1),
                  planned);
    const std::uint64_t most = capacity(planned, start.grow_at);
    table.require("keys of a level", row.keys, i + 1 == start.levels ? 0 : most, most);
    table.require(row.target_fpr >= min_target_fpr, "target rate of a level", "is below 1e-8");
    rate += row.target_fpr;
    table.require_zero(row.zero);
    table.expect_bytes(row.blocks * rot8::bytes_per_block);
    rows.push_back(row);
  }
  table.require(rate <= header.target_fpr * (1 + 1e-9), "rates of the levels",
                "add up to more than the target");
  table.require("block count of the newest level", rows.back().blocks, header.shape.blocks,
                header.shape.blocks);
  table.require("k of the newest level", rows.back().k, header.shape.k, header.shape.k);
  table.require_whole();

  growing_filter result;
  result.options_ = {.seed = header.shape.seed,
                     .hashing = header.shape.hashing,
                     .growth = static_cast<std::uint32_t>(start.growth),
                     .grow_at = start.grow_at,
                     .spare_blocks = static_cast<std::uint32_t>(start.spare_blocks)};
  result.target_fpr_ = header.target_fpr;
  result.inserted_keys_ = header.inserted_keys;
  for (const table_row& row : rows) {
    filter_shape shape = header.shape;
    shape.blocks = static_cast<std::uint32_t>(row.blocks);
    shape.k = static_cast<std::uint32_t>(row.k);
    result.levels_.push_back(
        detail::read_filter(from, options, {shape, row.planned_keys, row.target_fpr, row.keys}));
  }
  from.finish_body(options);
  result.families_.unite(header.families, header.inserted_keys > 0 || result.distinct_keys() > 0);
  return result;
}

filter_facts facts_of(const growing_filter& filter, reading how) {
  filter_facts facts = detail::common_facts(filter, filter_kind::growing);
  detail::joint_statistics all;
  for (const octobloom::filter& level : filter.levels()) {
    all.add(level, how);
    facts.levels.push_back(level.record());
  }
  detail::conclude(facts, all.result(filter.distinct_keys()), all.use());
  return facts;
}

}  // namespace octobloom
