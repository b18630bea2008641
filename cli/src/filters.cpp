#include "filters.h"

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

void require_line_family(key_families families, const std::string& path) {
  if (families == 0 || has_family(families, key_family::strings)) return;
  throw error(error_code::wrong_key,
              path + ": its keys are " + describe_families(families) +
                  ", no line was ever inserted: the lines that it seems to have are false "
                  "positives. Ask it from a program, with keys of that type, or go on with "
                  "--any-keys");
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

void lines_and_filter::declare_any_keys(option_list& list) {
  list.any_keys(any_keys);
}

std::vector<std::string> lines_and_filter::files() const {
  std::vector<std::string> all = lines.inputs;
  all.push_back(filter);
  return all;
}

std::unique_ptr<line_filter> lines_and_filter::open(access mode, const engine& e) const {
  require_readable(lines.inputs);
  auto opened =
      std::make_unique<line_filter>(filter, mode, load_options{.verify_body = verify_body}, e);
  require_lines(opened->hashing(), filter);
  require_seed(seed, opened->seed(), filter);
  if (!any_keys) require_line_family(opened->families(), filter);
  opened->accept_any_family(any_keys);
  return opened;
}

std::string fullness_text(const std::string& name, const filter_facts& facts, bool is_guess) {
  const char* const plan = is_guess ? "sized without -n for " : "planned for ";
  std::string text = name;
  text += facts.verdict == saturation::fine
              ? (is_guess ? " is beyond what it was made for" : " is beyond its plan")
              : " is " + std::string(to_string(facts.verdict));
  text += ": " + rate_text(100 * facts.current_fpr) + " % of unknown keys are taken for known ones";
  if (facts.target_fpr > 0) {
    text += ", where " + rate_text(100 * facts.target_fpr) + " % was the target";
  }
  if (facts.slots) {
    text += "; " + rate_text(100 * facts.fill) + " % of its slots are taken";
  } else if (facts.planned_keys == 0) {
    text += "; unplanned: its bits are " + rate_text(100 * facts.fill) + " % set";
  } else if (facts.kind == filter_kind::windowed) {
    text += "; its window is planned for " + grouped(facts.planned_keys) + " keys";
  } else if (!facts.estimated_keys) {
    text += std::string("; ") + plan + grouped(facts.planned_keys) + " keys, it has every bit set";
  } else if (facts.kind != filter_kind::growing) {
    text += std::string("; ") + plan + grouped(facts.planned_keys) + " keys, it holds about " +
            grouped(*facts.estimated_keys);
  }
  return text;
}

void warn_if_full(const line_filter& filter, const std::string& path, reading how) {
  const filter_facts facts = filter.facts(how);
  if (facts.verdict == saturation::fine) return;
  warn(fullness_text(path, facts) +
       (facts.window ? ". Start a new one for more keys"
                     : ". Build a larger one, or one that grows (create --growing)"));
}

double distinct_keys(const filter_statistics& statistics, std::uint64_t inserted_keys) {
  return statistics.estimated_keys.value_or(static_cast<double>(inserted_keys));
}

}  // namespace octobloom::cli
