#pragma once

#include <octobloom/facts.h>

/// What facts_of() of several kinds are made of.
namespace octobloom::detail {

/// Those that every kind has.
template <class Filter>
[[nodiscard]] filter_facts common_facts(const Filter& filter, filter_kind kind) {
  filter_facts facts;
  static_cast<filter_record&>(facts) = filter.record();
  facts.kind = kind;
  facts.bytes = filter.bytes();
  facts.families = filter.families();
  return facts;
}

/// Those that follow from the others.
inline void conclude(filter_facts& facts, const filter_statistics& statistics, plan_use use,
                     key_room room = key_room::bits) {
  facts.fill = statistics.fill;
  facts.estimated_keys = statistics.estimated_keys;
  facts.current_fpr = statistics.current_fpr;
  facts.fpr_error = statistics.fpr_error;
  facts.use = use;
  facts.verdict = judge(statistics, facts.target_fpr, use, room);
}

template <class Filter>
[[nodiscard]] filter_facts facts_of_bits(const Filter& filter, filter_kind kind,
                                         const filter_statistics& statistics) {
  filter_facts facts = common_facts(filter, kind);
  conclude(facts, statistics, use_of_plan(statistics, facts));
  return facts;
}

[[nodiscard]] inline filter_statistics read_statistics(const const_filter_view& view,
                                                       reading how) noexcept {
  return how == reading::whole ? statistics_of(view) : sampled_statistics_of(view);
}

}  // namespace octobloom::detail
