#pragma once

#include <octobloom/c.h>

#include <octobloom/any_filter.h>
#include <octobloom/opened.h>

#include "guard.h"
#include "keys.h"

struct octobloom_filter {
  octobloom::opened<octobloom::any_filter> held;
  bool view_given = false;  // its words may be written to at any time
};

namespace octobloom::c {

/// Returns call(filter, options), on what the filter's engine holds, or, where the call names
/// another one or that could be stale, on the filter itself. `Filter` may be const.
template <class Filter, class Call>
std::uint64_t call_for_many(Filter* filter, const octobloom_call_options* given, Call call) {
  Filter& target = deref(filter, "filter");
  bulk_options options = options_of(given);
  const engine& own = target.held.engine();
  if (options.engine == nullptr) options.engine = &own;
  if (options.engine == &own && !target.view_given) return call(target.held, options);
  if constexpr (std::is_const_v<Filter>) {
    return call(target.held.filter(), options);
  } else {
    return call(target.held.home(), options);
  }
}

/// The results of statistics, from facts or from bits.
void give_statistics(const filter_statistics& statistics, saturation verdict,
                     octobloom_statistics* out);

}  // namespace octobloom::c
