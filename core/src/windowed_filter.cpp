#include <octobloom/windowed_filter.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <octobloom/facts.h>

#include "body_table.h"
#include "candidates.h"

namespace octobloom {

namespace {

constexpr std::uint32_t max_parts = 64;
constexpr std::uint64_t max_duration = std::uint64_t{100} * 366 * 24 * 3600 * 1'000'000'000;

// The body's table, see docs/format.md: this, then one row a part.
struct table_start {
  std::uint64_t parts;
  std::uint64_t by_time;
  std::uint64_t window;
  std::uint64_t newest;
  std::uint64_t events;
  std::int64_t started;
  std::array<std::uint64_t, 2> zero;
};
struct table_row {
  std::uint64_t keys;
  std::array<std::uint64_t, 7> zero;
};
static_assert(sizeof(table_start) == 64 && sizeof(table_row) == 64);

std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) noexcept {
  return a / b + (a % b != 0 ? 1 : 0);
}

[[noreturn]] void refuse(const std::string& message) {
  throw error(error_code::invalid_argument, message);
}

std::vector<filter> make_ring(std::uint64_t keys, double target_fpr,
                              const window_options& options) {
  if (options.parts < 1 || options.parts > max_parts) {
    refuse("a window has 1 to 64 parts, not " + std::to_string(options.parts));
  }
  if (keys == 0) refuse("a window is planned for at least 1 key, not 0");
  const double share = target_fpr / (options.parts + 1);
  if (target_fpr >= min_target_fpr && share < min_target_fpr) {
    refuse(
        "a window's rate is shared by its parts and one more, and each share is at least 1e-8: "
        "use fewer parts or a higher rate");
  }
  const plan plan = plan_for(divided_up(keys, options.parts), share);
  std::vector<filter> ring;
  for (std::uint32_t i = 0; i <= options.parts; ++i) {
    ring.emplace_back(plan, filter_options{options.seed, options.hashing});
  }
  return ring;
}

}  // namespace

std::chrono::nanoseconds system_time() {
  return std::chrono::system_clock::now().time_since_epoch();
}

windowed_filter windowed_filter::last_events(std::uint64_t events, double target_fpr,
                                             const window_options& options) {
  windowed_filter result;
  result.window_ = events;
  result.planned_keys_ = events;
  result.target_fpr_ = target_fpr;
  result.ring_ = make_ring(events, target_fpr, options);
  return result;
}

windowed_filter windowed_filter::last_duration(std::chrono::nanoseconds duration,
                                               std::uint64_t expected_keys, double target_fpr,
                                               const window_options& options, window_clock clock) {
  const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
  if (length < options.parts || length > max_duration) {
    refuse("a window lasts from a nanosecond for each part to 100 years, not " +
           std::to_string(duration.count()) + " ns");
  }
  windowed_filter result;
  result.by_time_ = true;
  result.window_ = length;
  result.planned_keys_ = expected_keys;
  result.target_fpr_ = target_fpr;
  result.ring_ = make_ring(expected_keys, target_fpr, options);
  result.clock_ = std::move(clock);
  result.started_ = result.clock_();
  return result;
}

std::uint64_t windowed_filter::part_length() const noexcept {
  return divided_up(window_, parts());
}

/// By time: how often the ring has to turn to be up to date; more than parts() empties it.
std::uint64_t windowed_filter::parts_gone_by() const {
  if (!by_time_) return 0;
  const std::chrono::nanoseconds now = clock_();
  if (now <= started_) return 0;
  const auto elapsed =
      static_cast<std::uint64_t>(now.count()) - static_cast<std::uint64_t>(started_.count());
  return elapsed / part_length();
}

/// How many parts, the newest first, are young enough to answer.
std::size_t windowed_filter::answering() const {
  return ring_.size() -
         static_cast<std::size_t>(std::min<std::uint64_t>(parts_gone_by(), ring_.size()));
}

const filter& windowed_filter::part_of_age(std::size_t age) const noexcept {
  return ring_[(newest_ + ring_.size() - age) % ring_.size()];
}

void windowed_filter::rotate() noexcept {
  newest_ = (newest_ + 1) % ring_.size();
  ring_[newest_].clear();
}

/// By time: turns the ring as far as it is time.
void windowed_filter::catch_up() {
  const std::uint64_t gone = parts_gone_by();
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(gone, ring_.size()); ++i) rotate();
  started_ += std::chrono::nanoseconds(static_cast<std::int64_t>(gone * part_length()));
}

/// How many of `wanted` events, at least one, go into the newest part; by events, turns the ring
/// when that is full.
std::uint64_t windowed_filter::take_events(std::uint64_t wanted) noexcept {
  if (by_time_) return wanted;
  if (events_ == part_length()) {
    rotate();
    events_ = 0;
  }
  const std::uint64_t taken = std::min(wanted, part_length() - events_);
  events_ += taken;
  return taken;
}

void windowed_filter::count_inserted(std::uint64_t keys) noexcept {
  constexpr auto limit = std::numeric_limits<std::uint64_t>::max();
  inserted_keys_ = keys > limit - inserted_keys_ ? limit : inserted_keys_ + keys;
}

bool windowed_filter::holds(std::uint64_t hash) const {
  const std::size_t count = answering();
  for (std::size_t age = 0; age < count; ++age) {
    if (part_of_age(age).view().may_contain_hash(hash)) return true;
  }
  return false;
}

void windowed_filter::insert_hash(std::uint64_t hash, key_family family) {
  if (!insert_new_hash(hash, family)) count_inserted(1);
}

bool windowed_filter::insert_new_hash(std::uint64_t hash, key_family family) {
  catch_up();
  state_family(family);
  (void)take_events(1);
  const bool seen = std::any_of(ring_.begin(), ring_.end(), [hash](const filter& part) {
    return part.view().may_contain_hash(hash);
  });
  (void)ring_[newest_].insert_new_hash(hash, family);
  if (!seen) count_inserted(1);
  return !seen;
}

std::uint64_t windowed_filter::probe(const key_batch& keys, std::uint8_t* bitmap,
                                     const bulk_options& options) const {
  const auto newest_first = [this](std::size_t age) -> const filter& { return part_of_age(age); };
  return detail::may_contain_any(answering(), newest_first, seed(), keys, bitmap, options);
}

void windowed_filter::add(const key_batch& keys, const bulk_options& options) {
  count_inserted(keys.size() - add_new(keys, nullptr, options));
}

std::uint64_t windowed_filter::add_new(const key_batch& keys, std::uint8_t* bitmap,
                                       const bulk_options& options) {
  catch_up();
  detail::candidates left;
  std::uint64_t fresh = 0;
  detail::for_each_round(keys, bitmap, [&](const key_batch& round, std::uint8_t* answers) {
    for (std::size_t first = 0; first < round.size();) {
      const auto count = static_cast<std::size_t>(take_events(round.size() - first));
      left.start(round.slice(first, count), seed(), options, first);
      filter& newest = ring_[newest_];
      newest.count_inserted(left.insert_absent(newest.view(), count, options), keys.family());
      for (std::size_t age = 1; age < ring_.size(); ++age) {
        left.drop_contained(part_of_age(age).view(), options);
      }
      if (answers != nullptr) left.mark(answers, 0, left.size());
      fresh += left.size();
      first += count;
    }
  });
  count_inserted(fresh);
  return fresh;
}

void windowed_filter::clear() noexcept {
  for (filter& part : ring_) part.clear();
  inserted_keys_ = 0;
  families_.clear();
}

std::vector<const filter*> windowed_filter::answering_parts() const {
  std::vector<const filter*> parts(answering());
  for (std::size_t age = 0; age < parts.size(); ++age) parts[age] = &part_of_age(age);
  return parts;
}

saturation windowed_filter::verdict() const {
  return facts_of(*this).verdict;
}

double windowed_filter::fill_ratio() const {
  double fill = 0;
  const std::size_t count = answering();
  for (std::size_t age = 0; age < count; ++age) fill += part_of_age(age).fill_ratio();
  return fill / static_cast<double>(ring_.size());
}

double windowed_filter::current_fpr() const {
  double absent = 1;
  const std::size_t count = answering();
  for (std::size_t age = 0; age < count; ++age) absent *= 1 - part_of_age(age).current_fpr();
  return 1 - absent;
}

std::uint64_t windowed_filter::held_keys() const {
  std::uint64_t keys = 0;
  const std::size_t count = answering();
  for (std::size_t age = 0; age < count; ++age) keys += part_of_age(age).inserted_keys();
  return keys;
}

void windowed_filter::save(const std::string& path) const {
  const table_start start{parts(), by_time_ ? 1u : 0u, window_, newest_,
                          events_, started_.count(),   {}};
  std::vector<table_row> rows;
  rows.reserve(ring_.size());
  for (const filter& part : ring_) rows.push_back({part.inserted_keys(), {}});
  detail::write_filters(path,
                        {.kind = filter_kind::windowed,
                         .shape = ring_[0].view().shape(),
                         .inserted_keys = inserted_keys_,
                         .planned_keys = planned_keys_,
                         .target_fpr = target_fpr_,
                         .families = families()},
                        start, rows, ring_);
}

windowed_filter windowed_filter::load(const std::string& path, const load_options& options,
                                      window_clock clock) {
  filter_file_reader file(path);
  file.require_kind(filter_kind::windowed);
  const file_header& header = file.header();
  detail::body_table table(file, options);

  const auto start = table.read<table_start>();
  table.require("number of parts", start.parts, 1, max_parts);
  table.require("way of counting", start.by_time, 0, 1);
  const bool by_time = start.by_time == 1;
  table.require("window", start.window, by_time ? start.parts : 1,
                by_time ? max_duration : std::numeric_limits<std::uint64_t>::max());
  table.require("newest part", start.newest, 0, start.parts);
  table.require("events of the newest part", start.events, 0,
                by_time ? 0 : divided_up(start.window, start.parts));
  table.require(by_time ? start.started >= 0 : start.started == 0, "start of the newest part",
                "is no time");
  table.require_zero(start.zero);
  table.require(header.target_fpr >= min_target_fpr, "target rate", "is below 1e-8");
  table.require("planned keys", header.planned_keys, by_time ? 1 : start.window,
                by_time ? std::numeric_limits<std::uint64_t>::max() : start.window);
  std::vector<table_row> rows;
  for (std::uint64_t i = 0; i <= start.parts; ++i) {
    rows.push_back(table.read<table_row>());
    table.require_zero(rows.back().zero);
    table.require("keys of a part", rows.back().keys, 0,
                  by_time ? std::numeric_limits<std::uint64_t>::max()
                          : divided_up(start.window, start.parts));
    table.expect_bytes(header.shape.bytes());
  }
  table.require_whole();

  windowed_filter result;
  result.by_time_ = by_time;
  result.window_ = start.window;
  result.planned_keys_ = header.planned_keys;
  result.target_fpr_ = header.target_fpr;
  result.inserted_keys_ = header.inserted_keys;
  result.newest_ = start.newest;
  result.events_ = start.events;
  result.started_ = std::chrono::nanoseconds(start.started);
  if (by_time) result.clock_ = std::move(clock);
  plan shape = plan_with_blocks(header.shape.blocks, header.shape.k);
  shape.expected_keys = divided_up(header.planned_keys, start.parts);
  shape.target_fpr = header.target_fpr / static_cast<double>(start.parts + 1);
  for (const table_row& row : rows) {
    result.ring_.push_back(detail::read_filter(file, options, shape, row.keys));
  }
  file.finish_body(options);
  result.families_.unite(header.families, header.inserted_keys > 0 || result.held_keys() > 0);
  return result;
}

}  // namespace octobloom
