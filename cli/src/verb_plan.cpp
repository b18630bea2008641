#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <octobloom/error.h>
#include <octobloom/file.h>
#include <octobloom/plan.h>

#include "numbers.h"
#include "options.h"
#include "output.h"
#include "table.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

struct plan_options {
  common_options common;
  std::optional<std::uint64_t> keys;
  std::optional<double> rate;
  bool json = false;
  bool table = false;
  std::string filter;
};

/// The plan of a file may lack a number of keys, or a rate: what follows from them is null then.
nlohmann::ordered_json to_json(const plan& p) {
  using json = nlohmann::ordered_json;
  const auto when = [](bool known, json value) { return known ? std::move(value) : json(nullptr); };
  const bool has_keys = p.expected_keys > 0;
  const bool has_classic = has_keys && p.target_fpr > 0;
  return {{"expected_keys", p.expected_keys},
          {"target_fpr", p.target_fpr},
          {"classic_bits", when(has_classic, p.classic.bits)},
          {"classic_k", when(has_classic, p.classic.k)},
          {"classic_fpr", when(has_classic, p.classic.fpr)},
          {"blocks", p.blocks},
          {"bytes", p.bytes()},
          {"bits_per_key", when(has_keys, p.bits_per_key())},
          {"k", p.k},
          {"expected_fpr", when(has_keys, p.expected_fpr)}};
}

/// The plan that a filter file was made by.
plan plan_of(const std::string& path) {
  const file_header header = filter_reader(path).header();
  if (header.kind != filter_kind::plain && header.kind != filter_kind::counting) {
    throw error(error_code::invalid_argument,
                path + ": a " + std::string(to_string(header.kind)) +
                    " filter has no one plan of blocks and k: see 'octobloom info', and make "
                    "another one like it by 'octobloom create --like'");
  }
  plan p = plan_with_blocks(header.shape.blocks, header.shape.k);
  p.expected_keys = header.planned_keys;
  p.target_fpr = header.target_fpr;
  if (p.expected_keys > 0) {
    p.expected_fpr = expected_fpr(static_cast<double>(p.expected_keys), p.blocks, p.k);
    if (p.target_fpr > 0) p.classic = classic_plan_for(p.expected_keys, p.target_fpr);
  }
  return p;
}

std::string percent(double rate) {
  return rate_text(100 * rate) + " %";
}

std::string bits_per_key(double bits, std::uint64_t keys) {
  return fixed(bits / static_cast<double>(keys), 2);
}

std::string describe(const plan& p) {
  if (p.expected_keys == 0 || p.target_fpr == 0) {
    return aligned({{"", "octobloom"},
                    {"size", size_text(p.bytes())},
                    {"blocks of 64 bytes", grouped(std::uint64_t{p.blocks})},
                    {"k", std::to_string(p.k)},
                    {"planned keys", p.expected_keys == 0 ? "-" : grouped(p.expected_keys)},
                    {"false positives", p.expected_keys == 0 ? "-" : percent(p.expected_fpr)}});
  }
  const auto classic_bits = static_cast<double>(p.classic.bits);
  return aligned({
      {"", "octobloom", "classic"},
      {"size", size_text(p.bytes()), size_text((p.classic.bits + 7) / 8)},
      {"blocks of 64 bytes", grouped(std::uint64_t{p.blocks}), "-"},
      {"bits a key", fixed(p.bits_per_key(), 2), bits_per_key(classic_bits, p.expected_keys)},
      {"k", std::to_string(p.k), std::to_string(p.classic.k)},
      {"false positives", percent(p.expected_fpr), percent(p.classic.fpr)},
  });
}

std::vector<plan> ladder() {
  std::vector<plan> plans;
  for (const std::uint64_t keys : {100'000u, 1'000'000u, 10'000'000u}) {
    for (const double rate : {0.01, 0.001, 0.0001}) plans.push_back(plan_for(keys, rate));
  }
  return plans;
}

std::string describe(const std::vector<plan>& plans) {
  std::vector<std::vector<std::string>> rows{{"keys", "target", "classic bits", "k", "bits/key",
                                              "fpr", "octobloom bits", "k", "bits/key", "fpr",
                                              "size"}};
  for (const plan& p : plans) {
    rows.push_back({grouped(p.expected_keys), percent(p.target_fpr), grouped(p.classic.bits),
                    std::to_string(p.classic.k),
                    bits_per_key(static_cast<double>(p.classic.bits), p.expected_keys),
                    percent(p.classic.fpr), grouped(8 * p.bytes()), std::to_string(p.k),
                    fixed(p.bits_per_key(), 2), percent(p.expected_fpr), size_text(p.bytes())});
  }
  return aligned(rows);
}

int run(const plan_options& options) {
  if (!options.filter.empty()) {
    if (options.keys || options.rate || options.table) {
      throw usage_error(
          "the plan of a file is asked for alone: -n, -p and --table do not go with it");
    }
    const plan p = plan_of(options.filter);
    print(options.json ? to_json(p).dump(2) + "\n" : describe(p));
    return exit_done;
  }
  if (options.keys.has_value() != options.rate.has_value()) {
    throw usage_error("-n and -p go together: how many keys, at which rate of false positives");
  }
  if (options.keys.has_value() == options.table) {
    throw usage_error(options.table ? "--table goes without -n and -p: it prints a fixed ladder"
                                    : "give -n and -p, or --table, or a filter file");
  }
  if (options.table) {
    const std::vector<plan> plans = ladder();
    if (!options.json) {
      print(describe(plans));
      return exit_done;
    }
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const plan& p : plans) list.push_back(to_json(p));
    print(list.dump(2) + "\n");
    return exit_done;
  }
  const plan p = plan_for(*options.keys, *options.rate);
  print(options.json ? to_json(p).dump(2) + "\n" : describe(p));
  return exit_done;
}

std::function<int()> declare(option_list& list) {
  auto options = std::make_shared<plan_options>();
  list.file("FILTER", options->filter, "print the plan of this filter file");
  list.count("-n,--keys", options->keys, "distinct keys that the filter is to hold", 1);
  list.rate("-p,--fpr", options->rate, "share of unknown keys that may be taken for known ones");
  list.flag("--table", options->table,
            "100 thousand, 1 and 10 million keys at 1, 0.1 and 0.01 %, beside the classic filter");
  list.flag("--json", options->json, "for machines");
  list.common(options->common);
  return [options] { return run(*options); };
}

}  // namespace

extern const verb plan_verb;
const verb plan_verb{"plan", "how large a filter has to be",
                     "octobloom plan -n 10M -p 0.001 # ten million keys at 0.1 %\n"
                     "octobloom plan -n 1e6 -p 0.01 --json # the same figures for a program\n"
                     "octobloom plan seen.octobloom # the plan of a filter file\n"
                     "octobloom plan --table # a ladder of sizes",
                     declare};

}  // namespace octobloom::cli
