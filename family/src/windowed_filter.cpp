#include <octobloom/windowed_filter.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include <octobloom/detail/facts.h>

#include "body_table.h"
#include "candidates.h"
#include "joint_statistics.h"

namespace octobloom {

namespace {

constexpr std::uint32_t max_parts = 64;
constexpr std::uint64_t max_duration = std::uint64_t{100} * 366 * 24 * 3600 * 1'000'000'000;
constexpr std::uint64_t max_time = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

// The body's table, see docs/format-kinds.md: this, then one row a layer.
struct table_start {
  std::uint64_t parts;
  std::uint64_t by_time;
  std::uint64_t window;
  std::uint64_t newest;
  std::uint64_t events;
  std::uint64_t layers;
  std::uint64_t restarts;
  std::array<std::uint64_t, 1> zero;
};
struct table_row {
  std::uint64_t part;
  std::uint64_t keys;
  std::uint64_t last;
  std::array<std::uint64_t, 5> zero;
};
static_assert(sizeof(table_start) == 64 && sizeof(table_row) == 64);

std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) noexcept {
  return a / b + (a % b != 0 ? 1 : 0);
}

[[noreturn]] void refuse(const std::string& message) {
  throw error(error_code::invalid_argument, message);
}

/// The layers of so many that keep the target rate together when each has its share of keys.
std::uint64_t full_layers(std::uint64_t parts, bool by_time) noexcept {
  return by_time ? 2 * parts : parts;
}

std::uint64_t share_of_keys(std::uint64_t keys, std::uint64_t parts, bool by_time) noexcept {
  return divided_up(keys, full_layers(parts, by_time));
}

double share_of_rate(double target_fpr, std::uint64_t parts, bool by_time) noexcept {
  // What is over the full layers: the part that is not over yet, and the keys of the oldest layer
  // that came before the window.
  const std::uint64_t more = by_time ? 2 : 1;
  return target_fpr / static_cast<double>(full_layers(parts, by_time) + more);
}

void require_parts(std::uint32_t parts) {
  if (parts < 1 || parts > max_parts) {
    refuse("a window has 1 to 64 parts, not " + std::to_string(parts));
  }
}

filter_record record_of_window(std::uint64_t keys, double target_fpr, const window_options& options,
                               bool by_time) {
  if (keys == 0) refuse("a window is planned for at least 1 key, not 0");
  if (!(target_fpr >= min_target_fpr && target_fpr < 1))
    (void)plan_for(keys, target_fpr);  // throws
  const double rate = share_of_rate(target_fpr, options.parts, by_time);
  if (rate < min_target_fpr) {
    refuse(
        "a window's rate is shared by its layers (by events one more than parts, by time two more "
        "than twice the parts), and each share is at least 1e-8: use fewer parts or a higher rate");
  }
  const plan layer = plan_for(share_of_keys(keys, options.parts, by_time), rate);
  return {{layer.blocks, layer.k, options.seed, options.hashing}, keys, target_fpr, 0};
}

/// The pair of one part with the fewest keys together, the first of several; there is one.
template <class Layers, class Keys>
std::pair<std::size_t, std::size_t> least_pair(const Layers& layers, Keys keys_of) {
  std::pair<std::size_t, std::size_t> best;
  std::optional<std::uint64_t> fewest;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (std::size_t j = i + 1; j < layers.size() && layers[j].part == layers[i].part; ++j) {
      const std::uint64_t keys = saturating_sum(keys_of(layers[i]), keys_of(layers[j]));
      if (fewest && keys >= *fewest) continue;
      fewest = keys;
      best = {i, j};
    }
  }
  return best;
}

/// What a layer of a merged window is made of.
struct merged_layer {
  std::uint64_t part;
  std::uint64_t keys;
  std::uint64_t last;
  filter* base;  // its own bits; null: a copy of the first of `added`
  std::vector<const filter*> added;

  void unite(const merged_layer& other) {
    keys = saturating_sum(keys, other.keys);
    last = std::max(last, other.last);
    if (other.base != nullptr) added.push_back(other.base);
    added.insert(added.end(), other.added.begin(), other.added.end());
  }
};

}  // namespace

std::chrono::nanoseconds system_time() {
  return std::chrono::system_clock::now().time_since_epoch();
}

windowed_filter windowed_filter::last_events(std::uint64_t events, double target_fpr,
                                             const window_options& options) {
  require_parts(options.parts);
  windowed_filter result;
  result.record_ = record_of_window(events, target_fpr, options, false);
  result.parts_ = options.parts;
  result.window_ = events;
  result.layers_.reserve(result.most_layers());
  result.open_layer();
  return result;
}

windowed_filter windowed_filter::last_duration(std::chrono::nanoseconds duration,
                                               std::uint64_t expected_keys, double target_fpr,
                                               const window_options& options, window_clock clock) {
  require_parts(options.parts);
  const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
  if (length < options.parts || length > max_duration) {
    refuse("a window lasts from a nanosecond for each part to 100 years, not " +
           std::to_string(duration.count()) + " ns");
  }
  windowed_filter result;
  result.record_ = record_of_window(expected_keys, target_fpr, options, true);
  result.parts_ = options.parts;
  result.by_time_ = true;
  result.window_ = length;
  require_storable(options.hashing, target_fpr);
  result.clock_ = std::move(clock);
  (void)result.now();
  if (const std::uint64_t available = available_memory(); result.most_bytes() > available) {
    throw error(error_code::out_of_memory,
                "a window that may take " + std::to_string(result.most_bytes() >> 20) +
                    " MiB does not fit into the " + std::to_string(available >> 20) +
                    " MiB of memory that this process may have: plan fewer keys or a higher rate");
  }
  result.layers_.reserve(result.most_layers());
  return result;
}

std::uint64_t windowed_filter::part_length() const noexcept {
  return divided_up(window_, parts_);
}

std::uint64_t windowed_filter::most_layers() const noexcept {
  return by_time_ ? 3 * std::uint64_t{parts_} + 1 : std::uint64_t{parts_} + 1;
}

std::uint64_t windowed_filter::share() const noexcept {
  return share_of_keys(planned_keys(), parts_, by_time_);
}

filter_record windowed_filter::of_layer(std::uint64_t keys) const noexcept {
  return {record_.shape, share(), share_of_rate(target_fpr(), parts_, by_time_), keys};
}

/// By time: nanoseconds since 1970. By events 0.
std::uint64_t windowed_filter::now() const {
  if (!by_time_) return 0;
  if (!clock_) refuse("a window by time needs a clock");
  const std::int64_t time = clock_().count();
  if (time < 0) {
    refuse("the clock of a window is " + std::to_string(time) +
           " ns after 1970-01-01T00:00Z, and windows begin there: set the clock");
  }
  return static_cast<std::uint64_t>(time);
}

/// By time: whether the clock fell behind so far that nothing is known.
bool windowed_filter::starts_anew(std::uint64_t time) const noexcept {
  const std::uint64_t start = newest_ * part_length();
  return by_time_ && time < start && start - time >= window_;
}

bool windowed_filter::answers(const layer& one, std::uint64_t time) const noexcept {
  return !by_time_ || time <= one.last || time - one.last <= window_;
}

/// By time: makes the part of `time` the newest, and forgets what does not answer then.
void windowed_filter::turn_to(std::uint64_t time, const bulk_options& options) {
  const bool anew = starts_anew(time);
  if (anew) {
    newest_ = 0;
    restarts_ = saturating_sum(restarts_, 1);
  }
  newest_ = std::max(newest_, time / part_length());
  std::erase_if(layers_, [&](const layer& one) {
    const bool old = anew || !answers(one, time);
    if (old) detail::forget(one.bits.view(), options);
    return old;
  });
}

std::size_t windowed_filter::first_of_newest_part() const noexcept {
  std::size_t first = layers_.size();
  while (first > 0 && layers_[first - 1].part == newest_) --first;
  return first;
}

/// By time: the keys that the layer opened last can take; 0 when the newest part has none.
std::uint64_t windowed_filter::room_in_newest() const noexcept {
  if (layers_.empty() || layers_.back().part != newest_) return 0;
  const std::uint64_t keys = layers_.back().bits.inserted_keys();
  return keys < share() ? share() - keys : 0;
}

void windowed_filter::meet(layer& one, std::uint64_t time) const noexcept {
  one.last = std::max({one.last, time, newest_ * part_length()});
}

/// Opens a layer in the newest part.
void windowed_filter::open_layer() {
  if (layers_.size() < most_layers()) {
    layers_.push_back({newest_, 0, filter(of_layer(0))});
    return;
  }
  const auto [first, second] =
      least_pair(layers_, [](const layer& one) { return one.bits.inserted_keys(); });
  layers_[first].bits.merge(layers_[second].bits);
  layers_[first].last = std::max(layers_[first].last, layers_[second].last);
  filter unused = std::move(layers_[second].bits);
  unused.clear();
  layers_.erase(layers_.begin() + static_cast<std::ptrdiff_t>(second));
  layers_.push_back({newest_, 0, std::move(unused)});
}

/// By events: makes sure that the newest part can take one more.
void windowed_filter::require_event_part(const bulk_options& options) {
  if (events_ < part_length()) return;
  if (layers_.size() < most_layers()) {
    layers_.push_back({newest_ + 1, 0, filter(of_layer(0))});
  } else {
    std::rotate(layers_.begin(), layers_.begin() + 1, layers_.end());
    detail::forget(std::as_const(layers_.back().bits).view(), options);
    layers_.back().bits.clear();
    layers_.back().part = newest_ + 1;
  }
  ++newest_;
  events_ = 0;
}

void windowed_filter::count_inserted(std::uint64_t keys) noexcept {
  record_.count_inserted(keys);
}

bool windowed_filter::holds(std::uint64_t hash) const {
  const std::uint64_t time = now();
  return !starts_anew(time) && std::any_of(layers_.rbegin(), layers_.rend(), [&](const layer& one) {
    return answers(one, time) && one.bits.view().may_contain_hash(hash);
  });
}

void windowed_filter::insert_hash(std::uint64_t hash, key_family family) {
  if (!insert_new_hash(hash, family)) count_inserted(1);
}

bool windowed_filter::insert_new_hash(std::uint64_t hash, key_family family) {
  const std::uint64_t time = now();
  if (by_time_) {
    turn_to(time, {});
  } else {
    require_event_part({});
    ++events_;
  }
  return insert_at(time, hash, family);
}

/// What remains of an insertion when time has been seen to.
bool windowed_filter::insert_at(std::uint64_t time, std::uint64_t hash, key_family family) {
  const auto newest = layers_.begin() + static_cast<std::ptrdiff_t>(first_of_newest_part());
  const auto has = [hash](const layer& one) { return one.bits.view().may_contain_hash(hash); };
  if (const auto known = std::find_if(newest, layers_.end(), has); known != layers_.end()) {
    if (by_time_) meet(*known, time);
    state_family(family);
    return false;
  }
  const bool seen = std::any_of(layers_.begin(), newest, has);
  if (by_time_) {
    if (room_in_newest() == 0) open_layer();
    meet(layers_.back(), time);
  }
  layers_.back().bits.insert_hash(hash, family);
  state_family(family);
  if (!seen) count_inserted(1);
  return !seen;
}

std::vector<const filter*> windowed_filter::answering_layers() const {
  const std::uint64_t time = now();
  std::vector<const filter*> result;
  if (starts_anew(time)) return result;
  result.reserve(layers_.size());
  for (std::size_t i = layers_.size(); i-- > 0;) {
    if (answers(layers_[i], time)) result.push_back(&layers_[i].bits);
  }
  return result;
}

std::uint64_t windowed_filter::probe(const key_batch& keys, std::uint8_t* bitmap,
                                     const bulk_options& options) const {
  const std::vector<const filter*> filters = answering_layers();
  const auto newest_first = [&](std::size_t i) -> const filter& { return *filters[i]; };
  return detail::may_contain_any(filters.size(), newest_first, seed(), keys, bitmap, options);
}

void windowed_filter::add(const key_batch& keys, const bulk_options& options) {
  take_in(keys, nullptr, options, counting::all);
}

std::uint64_t windowed_filter::add_new(const key_batch& keys, std::uint8_t* bitmap,
                                       const bulk_options& options) {
  return take_in(keys, bitmap, options, counting::unseen);
}

std::uint64_t windowed_filter::take_in(const key_batch& keys, std::uint8_t* bitmap,
                                       const bulk_options& options, counting counted) {
  if (keys.size() == 0) return 0;
  return detail::in_one_call(options, [&](const bulk_options& within) {
    if (!by_time_) return add_events(keys, bitmap, within, counted);
    const std::uint64_t time = now();
    turn_to(time, within);
    return add_at(time, keys, bitmap, within, counted);
  });
}

std::uint64_t windowed_filter::add_events(const key_batch& keys, std::uint8_t* bitmap,
                                          const bulk_options& options, counting counted) {
  detail::candidates left;
  std::uint64_t fresh = 0;
  detail::for_each_chunk(keys, bitmap, [&](const key_batch& chunk, std::uint8_t* answers) {
    for (std::size_t first = 0; first < chunk.size();) {
      require_event_part(options);
      const auto count = static_cast<std::size_t>(
          std::min<std::uint64_t>(chunk.size() - first, part_length() - events_));
      left.start(chunk.slice(first, count), seed(), options, first);
      filter& newest = layers_.back().bits;
      newest.count_inserted(left.insert_absent(newest.view(), count, options), keys.family());
      events_ += count;
      first += count;
      if (counted == counting::all) {
        count_inserted(count);
        continue;
      }
      for (std::size_t i = layers_.size() - 1; i-- > 0;) {
        left.drop_contained(layers_[i].bits.view(), options);
      }
      if (answers != nullptr) left.mark(answers, 0, left.size());
      fresh += left.size();
      count_inserted(left.size());
    }
  });
  return fresh;
}

/// By time, after turn_to(time). The layers of the newest part are asked in their order, as
/// insert_at() does; when two may have to be united on the way the keys go one by one, since that
/// changes what later keys meet.
std::uint64_t windowed_filter::add_at(std::uint64_t time, const key_batch& keys,
                                      std::uint8_t* bitmap, const bulk_options& options,
                                      counting counted) {
  detail::candidates left;
  detail::candidates entered;
  std::vector<std::size_t> met;
  std::uint64_t fresh = 0;
  detail::for_each_chunk(keys, bitmap, [&](const key_batch& chunk, std::uint8_t* answers) {
    left.start(chunk, seed(), options);
    const std::size_t newest = first_of_newest_part();
    met.clear();
    const auto ask = [&](std::size_t i) {
      if (left.drop_contained(layers_[i].bits.view(), options) > 0) met.push_back(i);
    };
    for (std::size_t i = newest; i + 1 < layers_.size(); ++i) ask(i);
    if (newest < layers_.size() && room_in_newest() < left.size()) ask(layers_.size() - 1);
    const std::uint64_t room = room_in_newest();
    const std::uint64_t more = left.size() <= room ? 0 : divided_up(left.size() - room, share());
    if (layers_.size() + more > most_layers()) {
      left.start(chunk, seed(), options);
      for (const layer& one : layers_) detail::take_home(one.bits.view(), options);
      for (std::size_t i = 0; i < left.size(); ++i) {
        if (!insert_at(time, left.hash(i), keys.family())) {
          if (counted == counting::all) count_inserted(1);
          continue;
        }
        if (answers != nullptr) left.mark(answers, i, i + 1);
        ++fresh;
      }
      return;
    }
    for (const std::size_t i : met) meet(layers_[i], time);
    entered.clear();
    const auto finish = [&] {
      if (counted == counting::all) {
        count_inserted(chunk.size() - left.size());
        return;
      }
      for (std::size_t i = newest; i-- > 0;) {
        entered.drop_contained(layers_[i].bits.view(), options);
      }
      if (answers != nullptr) entered.mark(answers, 0, entered.size());
      fresh += entered.size();
      count_inserted(entered.size());
    };
    while (left.size() > 0) {
      if (room_in_newest() == 0) {
        try {
          open_layer();
        } catch (...) {
          finish();
          throw;
        }
      }
      layer& open = layers_.back();
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(room_in_newest(), left.size()));
      const std::uint64_t inserted = left.insert_absent(open.bits.view(), count, options);
      open.bits.count_inserted(inserted, keys.family());
      meet(open, time);
      left.move_first(inserted, entered);
      if (room_in_newest() < left.size()) left.drop_contained(open.bits.view(), options);
    }
    finish();
  });
  return fresh;
}

void windowed_filter::require_mergeable(const windowed_filter& other) const {
  if (!by_time_ || !other.by_time_) {
    refuse(
        "windows by events cannot be merged: the events of two streams have no common order. Use "
        "windows by time");
  }
  std::string mismatch;
  const auto compare = [&mismatch](const char* field, const auto& a, const auto& b) {
    if (a == b) return;
    std::ostringstream text;
    text << field << ' ' << a << " against " << b;
    mismatch += (mismatch.empty() ? "" : ", ") + text.str();
  };
  compare("parts", parts_, other.parts_);
  compare("window", window_, other.window_);
  compare("planned keys", planned_keys(), other.planned_keys());
  compare("target rate", target_fpr(), other.target_fpr());
  const std::string shape =
      describe_mismatch({blocks(), k(), seed(), hashing()},
                        {other.blocks(), other.k(), other.seed(), other.hashing()});
  if (!shape.empty()) mismatch += (mismatch.empty() ? "" : ", ") + shape;
  if (mismatch.empty()) return;
  throw error(error_code::mismatch,
              "windows can be merged only when they have one shape; these differ: " + mismatch);
}

void windowed_filter::merge(const windowed_filter& other) {
  require_mergeable(other);
  if (&other == this) {
    merge(copy());
    return;
  }
  const std::uint64_t newest = std::max(newest_, other.newest_);
  const std::uint64_t start = newest * part_length();
  const auto lives = [&](const layer& one) { return one.last + window_ >= start; };
  std::vector<merged_layer> parts;
  for (layer& one : layers_) {
    if (lives(one)) {
      parts.push_back({one.part, one.bits.inserted_keys(), one.last, &one.bits, {}});
    }
  }
  for (const layer& one : other.layers_) {
    if (!lives(one)) continue;
    const merged_layer theirs{one.part, one.bits.inserted_keys(), one.last, nullptr, {&one.bits}};
    const auto fits = std::find_if(parts.begin(), parts.end(), [&](const merged_layer& ours) {
      return ours.part == theirs.part && saturating_sum(ours.keys, theirs.keys) <= share();
    });
    if (fits != parts.end()) {
      fits->unite(theirs);
    } else {
      const auto later = std::find_if(parts.begin(), parts.end(), [&](const merged_layer& ours) {
        return ours.part > theirs.part;
      });
      parts.insert(later, theirs);
    }
  }
  while (parts.size() > most_layers()) {
    const auto [first, second] =
        least_pair(parts, [](const merged_layer& one) { return one.keys; });
    parts[first].unite(parts[second]);
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(second));
  }
  detail::family_record families = families_;
  families.unite(other.families(), other.inserted_keys() > 0 || !other.layers_.empty());
  // All that can fail comes before the first change.
  std::vector<layer> merged;
  merged.reserve(most_layers());
  std::vector<filter> copies;
  copies.reserve(parts.size());
  for (merged_layer& one : parts) {
    if (one.base != nullptr) continue;
    copies.push_back(one.added.front()->copy());
    one.base = &copies.back();
    one.added.erase(one.added.begin());
  }
  for (const merged_layer& one : parts) {
    for (const filter* added : one.added) one.base->merge(*added);
    merged.push_back({one.part, one.last, std::move(*one.base)});
  }
  layers_ = std::move(merged);
  newest_ = newest;
  restarts_ = saturating_sum(restarts_, other.restarts_);
  families_ = families;
  count_inserted(other.inserted_keys());
}

windowed_filter windowed_filter::copy() const {
  windowed_filter twin;
  twin.record_ = record_;
  twin.parts_ = parts_;
  twin.by_time_ = by_time_;
  twin.window_ = window_;
  twin.families_ = families_;
  twin.newest_ = newest_;
  twin.events_ = events_;
  twin.restarts_ = restarts_;
  twin.clock_ = clock_;
  twin.layers_.reserve(most_layers());
  for (const layer& one : layers_) {
    twin.layers_.push_back({one.part, one.last, one.bits.copy()});
  }
  return twin;
}

void windowed_filter::clear() noexcept {
  layers_.erase(layers_.begin() + (by_time_ ? 0 : 1), layers_.end());
  for (layer& one : layers_) {
    one.bits.clear();
    one.part = 0;
  }
  newest_ = 0;
  events_ = 0;
  restarts_ = 0;
  record_.inserted_keys = 0;
  families_.clear();
}

saturation windowed_filter::verdict() const {
  return facts_of(*this).verdict;
}

double windowed_filter::fill_ratio() const {
  return facts_of(*this).fill;
}

double windowed_filter::current_fpr() const {
  return facts_of(*this).current_fpr;
}

std::uint64_t windowed_filter::held_keys() const {
  std::uint64_t keys = 0;
  for (const filter* one : answering_layers()) keys = saturating_sum(keys, one->inserted_keys());
  return keys;
}

encoded_filter windowed_filter::encoded() const {
  const table_start start{parts_,  by_time_ ? 1u : 0u, window_,   newest_,
                          events_, layers_.size(),     restarts_, {}};
  std::vector<const layer*> in_file;
  in_file.reserve(layers_.size());
  for (const layer& one : layers_) in_file.push_back(&one);
  std::stable_sort(in_file.begin(), in_file.end(), [this](const layer* a, const layer* b) {
    return a->part % (parts_ + 1) < b->part % (parts_ + 1);
  });
  std::vector<table_row> rows;
  std::vector<const_filter_view> views;
  for (const layer* one : in_file) {
    rows.push_back({one->part, one->bits.inserted_keys(), one->last, {}});
    views.push_back(one->bits.view());
  }
  return detail::encode_filters<table_start, table_row>(
      {record_, filter_kind::windowed, families()}, start, rows, views);
}

windowed_filter windowed_filter::decoded(filter_reader& from, const load_options& options,
                                         window_clock clock) {
  from.require_kind(filter_kind::windowed);
  const file_header& header = from.header();
  detail::body_table table(from, options);

  windowed_filter result;
  const auto start = table.read<table_start>();
  table.require("number of parts", start.parts, 1, max_parts);
  table.require("way of counting", start.by_time, 0, 1);
  const bool by_time = start.by_time == 1;
  table.require("window", start.window, by_time ? start.parts : 1,
                by_time ? max_duration : no_limit);
  result.record_ = header;
  result.parts_ = static_cast<std::uint32_t>(start.parts);
  result.by_time_ = by_time;
  result.window_ = start.window;
  const std::uint64_t length = result.part_length();
  table.require("number of the newest part", start.newest, 0,
                by_time ? max_time / length : max_time);
  table.require("events of the newest part", start.events, by_time || start.newest == 0 ? 0 : 1,
                by_time ? 0 : length);
  table.require("number of layers", start.layers,
                by_time ? 0 : std::min(start.newest, start.parts) + 1,
                by_time ? result.most_layers() : std::min(start.newest, start.parts) + 1);
  table.require("number of restarts", start.restarts, 0, by_time ? no_limit : 0);
  table.require_zero(start.zero);
  table.require("planned keys", header.planned_keys, by_time ? 1 : start.window,
                by_time ? no_limit : start.window);
  table.require(result.of_layer(0).target_fpr >= min_target_fpr, "target rate",
                "leaves less than 1e-8 for each layer");

  const std::uint64_t oldest = start.newest - std::min(start.newest, start.parts);
  std::vector<table_row> rows;
  std::uint64_t place = 0;
  for (std::uint64_t i = 0; i < start.layers; ++i) {
    rows.push_back(table.read<table_row>());
    const table_row& row = rows.back();
    table.require("part number of a layer", row.part, oldest, start.newest);
    const std::uint64_t here = row.part % (start.parts + 1);
    table.require(i == 0 || (by_time ? here >= place : here > place), "layers",
                  "are not in the order of their parts' places");
    place = here;
    if (by_time) {
      table.require("keys of a layer", row.keys, 1, no_limit);
      table.require("last time of a layer", row.last, row.part * length,
                    std::min(row.part * length + (length - 1), max_time));
      table.require(row.last + start.window >= start.newest * length, "last time of a layer",
                    "is older than the window");
    } else {
      const std::uint64_t events = row.part == start.newest ? start.events : length;
      table.require("keys of a layer", row.keys, std::min<std::uint64_t>(events, 1), events);
      table.require("last time of a layer", row.last, 0, 0);
    }
    table.require_zero(row.zero);
    table.expect_bytes(header.shape.bytes());
  }
  table.require_whole();

  result.newest_ = start.newest;
  result.events_ = start.events;
  result.restarts_ = start.restarts;
  if (by_time) {
    result.clock_ = std::move(clock);
    (void)result.now();
  }
  result.layers_.reserve(result.most_layers());
  for (const table_row& row : rows) {
    result.layers_.push_back(
        {row.part, row.last, detail::read_filter(from, options, result.of_layer(row.keys))});
  }
  from.finish_body(options);
  const bool holds_keys =
      header.inserted_keys > 0 ||
      std::any_of(result.layers_.begin(), result.layers_.end(),
                  [](const layer& one) { return one.bits.inserted_keys() > 0; });
  result.families_.unite(header.families, holds_keys);
  std::stable_sort(result.layers_.begin(), result.layers_.end(),
                   [](const layer& a, const layer& b) { return a.part < b.part; });
  return result;
}

filter_facts facts_of(const windowed_filter& filter, reading how) {
  filter_facts facts = detail::common_facts(filter, filter_kind::windowed);
  facts.window = {filter.by_time(), filter.window(), filter.parts()};
  detail::joint_statistics all;
  for (const octobloom::filter* layer : filter.answering_layers()) all.add(*layer, how);
  detail::conclude(facts, all.result(filter.held_keys()), all.use());
  return facts;
}

}  // namespace octobloom
