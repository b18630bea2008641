#include <memory>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "line_filter.h"
#include "numbers.h"
#include "options.h"
#include "output.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

using json = nlohmann::ordered_json;

struct info_options {
  common_options common;
  std::string filter;
  bool json = false;
  bool verify_body = true;
};

std::string row(const std::string& name, const std::string& value) {
  std::string padded = name;
  padded.resize(18, ' ');
  return padded + value + "\n";
}

double seconds_of(const window_facts& window) {
  return static_cast<double>(window.length) / 1e9;
}

std::string percent(double share) {
  return rate_text(100 * share) + " %";
}

/// What only some kinds have.
std::string details(const filter_facts& facts) {
  std::string text;
  if (facts.counters) {
    text += row("counters", size_text(facts.counters->bytes) + " more, " +
                                grouped(facts.counters->saturated.value_or(0)) + " saturated");
  }
  if (facts.slots) {
    text += row("slots", grouped(facts.slots->slots) + " of " +
                             std::to_string(facts.slots->fingerprint_bits) + " bits");
  }
  if (facts.window) {
    const window_facts& window = *facts.window;
    text += row("window", (window.by_time ? json(seconds_of(window)).dump() + " seconds"
                                          : grouped(window.length) + " lines") +
                              ", in " + std::to_string(window.parts) + " parts");
  }
  for (const filter_record& level : facts.levels) {
    text += row("level", grouped(level.inserted_keys) + " of " + grouped(level.planned_keys) +
                             " keys, " + size_text(level.shape.bytes()) + ", at " +
                             percent(level.target_fpr));
  }
  return text;
}

std::string hash_text(const filter_facts& facts) {
  return facts.shape.hashing == key_hashing::caller ? "caller" : "xxh64";
}

std::string describe(const filter_facts& facts) {
  return row("kind", std::string(to_string(facts.kind)) + ", version " +
                         std::to_string(file_version) + ", hash " + hash_text(facts) + ", seed " +
                         std::to_string(facts.shape.seed)) +
         row("size", size_text(facts.bytes) + ", " + grouped(std::uint64_t{facts.shape.blocks}) +
                         " blocks" + (facts.slots ? "" : ", k " + std::to_string(facts.shape.k))) +
         row("planned", (facts.planned_keys > 0 ? grouped(facts.planned_keys) + " keys"
                                                : std::string("no count")) +
                            (facts.target_fpr > 0 ? " at " + percent(facts.target_fpr) : "")) +
         row("inserted", grouped(facts.inserted_keys) + " calls") +
         row("families", facts.families == 0 && facts.inserted_keys == 0
                             ? "none"
                             : describe_families(facts.families)) +
         row("distinct keys", facts.estimated_keys ? "about " + grouped(*facts.estimated_keys)
                                                   : "more than can be told: every bit is set") +
         row("bits set", percent(facts.fill)) + row("false positives", percent(facts.current_fpr)) +
         row("verdict", std::string(to_string(facts.verdict))) + details(facts);
}

/// The keys of --json, in their order; those of its kind come last.
json report(const filter_facts& facts) {
  json estimate = nullptr;
  if (facts.estimated_keys) estimate = *facts.estimated_keys;
  json info{{"kind", to_string(facts.kind)},
            {"version", file_version},
            {"k", facts.slots ? 0 : facts.shape.k},
            {"blocks", facts.shape.blocks},
            {"bytes", facts.bytes},
            {"seed", facts.shape.seed},
            {"hash", hash_text(facts)},
            {"planned_keys", facts.planned_keys},
            {"target_fpr", facts.target_fpr},
            {"inserted_keys", facts.inserted_keys},
            {"fill", facts.fill},
            {"estimated_keys", estimate},
            {"current_fpr", facts.current_fpr},
            {"verdict", to_string(facts.verdict)},
            {"families", json::array()}};
  for (const key_family family : all_families) {
    if (has_family(facts.families, family)) info["families"].push_back(to_string(family));
  }
  if (facts.counters) {
    info["counter_bytes"] = facts.counters->bytes;
    info["saturated_counters"] = facts.counters->saturated.value_or(0);
  }
  if (facts.slots) {
    info["fingerprint_bits"] = facts.slots->fingerprint_bits;
    info["slots"] = facts.slots->slots;
  }
  if (facts.window) {
    if (facts.window->by_time) {
      info["window_seconds"] = seconds_of(*facts.window);
    } else {
      info["window_lines"] = facts.window->length;
    }
    info["parts"] = facts.window->parts;
  }
  // Not by pushing onto what is null yet: refused memory leaves that library a broken value there.
  json levels = json::array();
  for (const filter_record& level : facts.levels) {
    levels.push_back({{"k", level.shape.k},
                      {"blocks", level.shape.blocks},
                      {"planned_keys", level.planned_keys},
                      {"keys", level.inserted_keys},
                      {"target_fpr", level.target_fpr}});
  }
  if (!facts.levels.empty()) info["levels"] = std::move(levels);
  return info;
}

int run(const info_options& options) {
  const filter_facts facts =
      line_filter(options.filter, access::read, {.verify_body = options.verify_body})
          .facts(reading::whole);
  print(options.json ? report(facts).dump(2) + "\n" : describe(facts));
  return exit_done;
}

std::function<int()> declare(option_list& list) {
  auto options = std::make_shared<info_options>();
  list.file("FILTER", options->filter, "the filter file").required();
  list.flag("--json", options->json, "for machines");
  list.no_verify(options->verify_body);
  list.common(options->common);
  return [options] { return run(*options); };
}

}  // namespace

extern const verb info_verb;
const verb info_verb{"info", "what is in a filter file, and whether it is too full",
                     "octobloom info seen.octobloom # for people\n"
                     "octobloom info --json seen.octobloom # for programs",
                     declare};

}  // namespace octobloom::cli
