#include <octobloom/facts.h>

#include <algorithm>
#include <cmath>

#include <octobloom/counting_filter.h>
#include <octobloom/cuckoo_filter.h>
#include <octobloom/filter.h>
#include <octobloom/growing_filter.h>
#include <octobloom/mapped_filter.h>
#include <octobloom/shared_filter.h>
#include <octobloom/windowed_filter.h>

namespace octobloom {

namespace {

/// Those that every kind has.
template <class Filter>
filter_facts common_facts(const Filter& filter, filter_kind kind, const filter_shape& shape) {
  filter_facts facts;
  facts.kind = kind;
  facts.shape = shape;
  facts.bytes = filter.bytes();
  facts.planned_keys = filter.planned_keys();
  facts.target_fpr = filter.target_fpr();
  facts.inserted_keys = filter.inserted_keys();
  facts.families = filter.families();
  return facts;
}

void conclude(filter_facts& facts, const filter_statistics& statistics, plan_use use,
              key_room room = key_room::bits) {
  facts.fill = statistics.fill;
  facts.estimated_keys = statistics.estimated_keys;
  facts.current_fpr = statistics.current_fpr;
  facts.fpr_error = statistics.fpr_error;
  facts.use = use;
  facts.verdict = judge(statistics, facts.target_fpr, use, room);
}

template <class Filter>
filter_facts facts_of_bits(const Filter& filter, filter_kind kind, const filter_shape& shape,
                           const filter_statistics& statistics) {
  filter_facts facts = common_facts(filter, kind, shape);
  conclude(facts, statistics, use_of_plan(statistics, shape, facts.planned_keys, facts.target_fpr));
  return facts;
}

filter_statistics read(const const_filter_view& view, reading how) noexcept {
  return how == reading::whole ? statistics_of(view) : sampled_statistics_of(view);
}

/// Several filters that answer together.
class joint_statistics {
 public:
  void add(const filter& part, reading how) {
    const filter_statistics s = read(part.view(), how);
    absent_ *= 1 - s.current_fpr;
    variance_ += s.fpr_error * s.fpr_error;
    const auto bytes = static_cast<double>(part.bytes());
    bytes_ += bytes;
    bits_set_ += s.fill * bytes;
    use_ =
        std::max(use_, use_of_plan(s, part.view().shape(), part.planned_keys(), part.target_fpr()));
  }
  [[nodiscard]] filter_statistics result(std::uint64_t keys) const {
    filter_statistics all;
    all.fill = bytes_ > 0 ? bits_set_ / bytes_ : 0;
    all.estimated_keys = static_cast<double>(keys);
    all.current_fpr = 1 - absent_;
    all.fpr_error = std::sqrt(variance_);
    return all;
  }
  [[nodiscard]] plan_use use() const noexcept { return use_; }

 private:
  double absent_ = 1;  // the chance that a new key is in none
  double variance_ = 0;
  double bytes_ = 0;
  double bits_set_ = 0;  // as a share of the bytes
  plan_use use_ = plan_use::within;
};

}  // namespace

filter_facts facts_of(const filter& filter, reading how) {
  return facts_of_bits(filter, filter_kind::plain, filter.view().shape(), read(filter.view(), how));
}

filter_facts facts_of(const mapped_filter& filter, reading how) {
  return facts_of_bits(filter, filter_kind::plain, filter.view().shape(), read(filter.view(), how));
}

filter_facts facts_of(const shared_filter& filter, reading) {
  return facts_of_bits(filter, filter_kind::plain,
                       {filter.blocks(), filter.k(), filter.seed(), filter.hashing()},
                       filter.statistics());
}

filter_facts facts_of(const counting_filter& filter, reading how) {
  filter_facts facts =
      facts_of_bits(filter, filter_kind::counting, filter.view().shape(), read(filter.view(), how));
  counter_facts& counters = facts.counters.emplace();
  counters.bytes = filter.total_bytes() - filter.bytes();
  if (how == reading::whole) counters.saturated = filter.saturated_counters();
  return facts;
}

filter_facts facts_of(const growing_filter& filter, reading how) {
  filter_facts facts =
      common_facts(filter, filter_kind::growing, filter.levels().back().view().shape());
  joint_statistics all;
  for (const octobloom::filter& level : filter.levels()) {
    all.add(level, how);
    facts.levels.push_back(
        {level.view().shape(), level.planned_keys(), level.inserted_keys(), level.target_fpr()});
  }
  conclude(facts, all.result(filter.distinct_keys()), all.use());
  return facts;
}

filter_facts facts_of(const cuckoo_filter& filter, reading) {
  filter_facts facts =
      common_facts(filter, filter_kind::cuckoo,
                   {filter.lines(), filter.fingerprint_bits(), filter.seed(), filter.hashing()});
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
  conclude(facts, statistics, use, key_room::slots);
  return facts;
}

filter_facts facts_of(const windowed_filter& filter, reading how) {
  filter_facts facts = common_facts(filter, filter_kind::windowed,
                                    {filter.blocks(), filter.k(), filter.seed(), filter.hashing()});
  facts.window = {filter.by_time(), filter.window(), filter.parts()};
  joint_statistics all;
  for (const octobloom::filter* layer : filter.answering_layers()) all.add(*layer, how);
  conclude(facts, all.result(filter.held_keys()), all.use());
  return facts;
}

}  // namespace octobloom
