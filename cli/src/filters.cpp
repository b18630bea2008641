#include "filters.h"

#include <nlohmann/json.hpp>

#include <octobloom/error.h>

#include "numbers.h"
#include "options.h"
#include "reader.h"
#include "terminal.h"

namespace octobloom::cli {

void require_lines(key_hashing hashing, const std::string& path) {
  if (hashing == key_hashing::caller) {
    throw error(error_code::wrong_key,
                path + ": holds the hashes that some program made of its keys: it takes no lines");
  }
}

void require_seed(std::optional<std::uint64_t> asked, std::uint64_t seed, const std::string& path) {
  if (asked && *asked != seed) {
    throw usage_error("--seed " + std::to_string(*asked) + ": " + path + " has the seed " +
                      std::to_string(seed) + ", which stays as it is");
  }
}

void lines_and_filter::declare(option_list& list, const std::string& filter_help) {
  list.file("FILTER", filter, filter_help).required();
  list.lines(lines);
  list.seed(seed, "the seed that the file has to have");
  list.no_verify(verify_body);
  list.common(common);
}

std::unique_ptr<line_filter> lines_and_filter::open(access mode) const {
  require_readable(lines.inputs);
  auto opened = open_filter(filter, mode, {.verify_body = verify_body});
  require_lines(opened->hashing(), filter);
  require_seed(seed, opened->seed(), filter);
  return opened;
}

void warn_if_full(const line_filter& filter, const std::string& path) {
  const nlohmann::ordered_json info = filter.info();
  if (info.at("verdict") == to_string(saturation::fine)) return;
  std::string text = path + " is " + info.at("verdict").get<std::string>() + ": ";
  if (const auto planned = info.at("planned_keys").get<std::uint64_t>(); planned > 0) {
    const auto& estimate = info.at("estimated_keys");
    text += "planned for " + grouped(planned) + " keys, it holds about " +
            grouped((estimate.is_null() ? info.at("inserted_keys") : estimate).get<double>()) +
            "; ";
  }
  warn(text + rate_text(100 * info.at("current_fpr").get<double>()) +
       " % of unknown keys are taken for known ones. Build a larger one");
}

double distinct_keys(const filter_statistics& statistics, std::uint64_t inserted_keys) {
  return statistics.estimated_keys.value_or(static_cast<double>(inserted_keys));
}

}  // namespace octobloom::cli
