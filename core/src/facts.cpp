#include <octobloom/facts.h>

#include <octobloom/detail/facts.h>
#include <octobloom/filter.h>
#include <octobloom/mapped_filter.h>

namespace octobloom {

filter_facts facts_of(const filter& filter, reading how) {
  return detail::facts_of_bits(filter, filter_kind::plain,
                               detail::read_statistics(filter.view(), how));
}

filter_facts facts_of(const mapped_filter& filter, reading how) {
  return detail::facts_of_bits(filter, filter_kind::plain,
                               detail::read_statistics(filter.view(), how));
}

}  // namespace octobloom
