#include "filters.h"

#include "numbers.h"
#include "options.h"
#include "terminal.h"

namespace octobloom::cli {

void require_seed(std::optional<std::uint64_t> asked, std::uint64_t seed, const std::string& path) {
  if (asked && *asked != seed) {
    throw usage_error("--seed " + std::to_string(*asked) + ": " + path + " has the seed " +
                      std::to_string(seed) + ", which stays as it is");
  }
}

void warn_if_full(const filter& filter, const std::string& path) {
  const filter_statistics statistics = filter.statistics();
  const saturation verdict =
      judge(statistics, filter.inserted_keys(), filter.planned_keys(), filter.target_fpr());
  if (verdict == saturation::fine) return;
  std::string text = path + " is " + std::string(to_string(verdict)) + ": ";
  if (filter.planned_keys() > 0) {
    text += "planned for " + grouped(filter.planned_keys()) + " keys, it holds about " +
            grouped(distinct_keys(statistics, filter.inserted_keys())) + "; ";
  }
  warn(text + rate_text(100 * statistics.current_fpr) +
       " % of unknown keys are taken for known ones. Build a larger one");
}

double distinct_keys(const filter_statistics& statistics, std::uint64_t inserted_keys) {
  return statistics.estimated_keys.value_or(static_cast<double>(inserted_keys));
}

}  // namespace octobloom::cli
