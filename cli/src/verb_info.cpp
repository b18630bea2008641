#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include <octobloom/file.h>
#include <octobloom/mapped_filter.h>

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

const char* name_of(key_hashing hashing) {
  return hashing == key_hashing::caller ? "caller" : "xxh64";
}

nlohmann::ordered_json to_json(const file_header& header, const mapped_filter& filter) {
  const filter_statistics statistics = filter.statistics();
  const saturation verdict =
      judge(statistics, filter.inserted_keys(), filter.planned_keys(), filter.target_fpr());
  nlohmann::ordered_json estimate = nullptr;
  if (statistics.estimated_keys) estimate = *statistics.estimated_keys;
  return {{"kind", to_string(header.kind)},
          {"version", file_version},
          {"k", filter.k()},
          {"blocks", filter.blocks()},
          {"bytes", filter.bytes()},
          {"seed", filter.seed()},
          {"hash", name_of(filter.hashing())},
          {"planned_keys", filter.planned_keys()},
          {"target_fpr", filter.target_fpr()},
          {"inserted_keys", filter.inserted_keys()},
          {"fill", statistics.fill},
          {"estimated_keys", estimate},
          {"current_fpr", statistics.current_fpr},
          {"verdict", to_string(verdict)}};
}

std::string row(const std::string& name, const std::string& value) {
  std::string padded = name;
  padded.resize(18, ' ');
  return padded + value + "\n";
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
                         " blocks, k " + info.at("k").dump()) +
         row("planned", (has_keys ? count("planned_keys") + " keys" : std::string("no count")) +
                            (has_rate ? " at " + percent("target_fpr") : std::string())) +
         row("inserted", count("inserted_keys") + " calls") +
         row("distinct keys", estimate.is_null()
                                  ? std::string("more than can be told: every bit is set")
                                  : "about " + grouped(estimate.get<double>())) +
         row("bits set", percent("fill")) + row("false positives", percent("current_fpr")) +
         row("verdict", info.at("verdict").get<std::string>());
}

int run(const info_options& options) {
  const file_header header = filter_file_reader(options.filter).header();
  const mapped_filter filter(options.filter, {.verify_body = options.verify_body});
  const nlohmann::ordered_json info = to_json(header, filter);
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
