#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "line_filter.h"
#include "numbers.h"
#include "options.h"
#include "output.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

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

/// What only some kinds have.
std::string details(const nlohmann::ordered_json& info) {
  const auto count = [&](const char* key) { return grouped(info.at(key).get<std::uint64_t>()); };
  std::string text;
  if (info.contains("counter_bytes")) {
    text += row("counters", size_text(info.at("counter_bytes").get<std::uint64_t>()) + " more, " +
                                count("saturated_counters") + " saturated");
  }
  if (info.contains("slots")) {
    text += row("slots", count("slots") + " of " + info.at("fingerprint_bits").dump() + " bits");
  }
  if (info.contains("parts")) {
    const bool by_time = info.contains("window_seconds");
    text += row("window", (by_time ? info.at("window_seconds").dump() + " seconds"
                                   : count("window_lines") + " lines") +
                              ", in " + info.at("parts").dump() + " parts");
  }
  if (!info.contains("levels")) return text;
  for (const auto& level : info.at("levels")) {
    text += row("level", grouped(level.at("keys").get<std::uint64_t>()) + " of " +
                             grouped(level.at("planned_keys").get<std::uint64_t>()) + " keys, " +
                             size_text(64 * level.at("blocks").get<std::uint64_t>()) + ", at " +
                             rate_text(100 * level.at("target_fpr").get<double>()) + " %");
  }
  return text;
}

std::string describe(const nlohmann::ordered_json& info) {
  const auto count = [&](const char* key) { return grouped(info.at(key).get<std::uint64_t>()); };
  const auto percent = [&](const char* key) {
    return rate_text(100 * info.at(key).get<double>()) + " %";
  };
  const bool has_keys = info.at("planned_keys") != 0;
  const bool has_rate = info.at("target_fpr") != 0.0;
  const nlohmann::ordered_json& estimate = info.at("estimated_keys");
  return row("kind", info.at("kind").get<std::string>() + ", version " + info.at("version").dump() +
                         ", hash " + info.at("hash").get<std::string>() + ", seed " +
                         info.at("seed").dump()) +
         row("size", size_text(info.at("bytes").get<std::uint64_t>()) + ", " + count("blocks") +
                         " blocks" +
                         (info.at("k") == 0 ? std::string() : ", k " + info.at("k").dump())) +
         row("planned", (has_keys ? count("planned_keys") + " keys" : std::string("no count")) +
                            (has_rate ? " at " + percent("target_fpr") : std::string())) +
         row("inserted", count("inserted_keys") + " calls") +
         row("distinct keys", estimate.is_null()
                                  ? std::string("more than can be told: every bit is set")
                                  : "about " + grouped(estimate.get<double>())) +
         row("bits set", percent("fill")) + row("false positives", percent("current_fpr")) +
         row("verdict", info.at("verdict").get<std::string>()) + details(info);
}

int run(const info_options& options) {
  const nlohmann::ordered_json info =
      open_filter(options.filter, access::read, {.verify_body = options.verify_body})->info();
  print(options.json ? info.dump(2) + "\n" : describe(info));
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
