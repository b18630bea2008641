#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

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
};

nlohmann::ordered_json to_json(const plan& p) {
  return {{"expected_keys", p.expected_keys},
          {"target_fpr", p.target_fpr},
          {"classic_bits", p.classic.bits},
          {"classic_k", p.classic.k},
          {"classic_fpr", p.classic.fpr},
          {"blocks", p.blocks},
          {"bytes", p.bytes()},
          {"bits_per_key", p.bits_per_key()},
          {"k", p.k},
          {"expected_fpr", p.expected_fpr}};
}

std::string percent(double rate) {
  return rate_text(100 * rate) + " %";
}

std::string bits_per_key(double bits, std::uint64_t keys) {
  return fixed(bits / static_cast<double>(keys), 2);
}

std::string describe(const plan& p) {
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
  if (options.keys.has_value() != options.rate.has_value()) {
    throw usage_error("-n and -p go together: how many keys, at which rate of false positives");
  }
  if (options.keys.has_value() == options.table) {
    throw usage_error(options.table ? "--table goes without -n and -p: it prints a fixed ladder"
                                    : "give -n and -p, or --table");
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
                     "octobloom plan --table # a ladder of sizes",
                     declare};

}  // namespace octobloom::cli
