#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include <octobloom/filter.h>
#include <octobloom/plan.h>

#include "options.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

struct create_options {
  common_options common;
  std::string output;
  std::optional<std::uint64_t> keys;
  std::optional<double> rate;
  std::optional<std::uint64_t> blocks;
  std::optional<std::uint64_t> k;
  std::optional<std::uint64_t> seed;
  std::string kind = "plain";
};

/// A kind of filter that can be created. All but the first are asked for by a flag of their name.
struct creatable_kind {
  const char* name;
  const char* help;
  void (*save_empty)(const plan&, const filter_options&, const std::string& path);
};

void save_plain(const plan& p, const filter_options& options, const std::string& path) {
  filter(p, options).save(path);
}

constexpr std::array<creatable_kind, 1> kinds{{
    {"plain", "", save_plain},
}};

plan chosen_plan(const create_options& options) {
  const bool by_keys = options.keys.has_value() || options.rate.has_value();
  const bool by_blocks = options.blocks.has_value() || options.k.has_value();
  if (by_keys && by_blocks) {
    throw usage_error("-n and -p, or --blocks and -k: two ways to say how large, give one");
  }
  if (options.keys && options.rate) return plan_for(*options.keys, *options.rate);
  if (options.blocks && options.k) {
    return plan_with_blocks(*options.blocks, static_cast<std::uint32_t>(*options.k));
  }
  throw usage_error(by_blocks ? "--blocks and -k go together"
                              : "give -n and -p, or --blocks and -k: how large is it to be?");
}

int run(const create_options& options) {
  const plan p = chosen_plan(options);
  for (const creatable_kind& kind : kinds) {
    if (options.kind == kind.name) {
      kind.save_empty(p, {.seed = options.seed.value_or(0)}, options.output);
    }
  }
  return exit_done;
}

std::function<int()> declare(option_list& list) {
  auto options = std::make_shared<create_options>();
  list.file("-o,--output", options->output, "the filter file; one that is there is replaced")
      .required();
  list.count("-n,--keys", options->keys, "distinct keys that it is to hold", 1);
  list.rate("-p,--fpr", options->rate, "share of unknown keys that may be taken for known ones");
  list.count("--blocks", options->blocks, "its size in blocks of 64 bytes, instead of -n and -p", 1,
             std::numeric_limits<std::uint32_t>::max());
  list.count("-k", options->k, "bits a key, with --blocks", 1, rot8::max_k);
  list.seed(options->seed, "seed of the hash: a number, or 'random'; default 0");
  for (const creatable_kind& kind : kinds) {
    if (kind.help[0] == '\0') continue;
    list.flag("--" + std::string(kind.name), options->kind, kind.name, kind.help);
  }
  list.common(options->common);
  return [options] { return run(*options); };
}

}  // namespace

extern const verb create_verb;
const verb create_verb{
    "create", "makes an empty filter file",
    "octobloom create -n 10M -p 0.001 -o seen.octobloom # a filter for ten million keys at 0.1 %\n"
    "octobloom create --blocks 160 -k 7 -o small.octobloom # one of 10 KiB, 7 bits a key",
    declare};

}  // namespace octobloom::cli
