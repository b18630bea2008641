#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include <octobloom/any_filter.h>

#include "line_filter.h"
#include "options.h"
#include "output.h"
#include "process.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

/// A kind of filter that can be created. All but the first are asked for by a flag of their name.
struct creatable_kind {
  filter_kind kind;
  const char* help;
};

constexpr std::array<creatable_kind, 4> kinds{{
    {filter_kind::plain, ""},
    {filter_kind::growing, "one that grows as lines come: -n is only its start"},
    {filter_kind::counting, "one that lines can be removed from, at five times the memory"},
    {filter_kind::cuckoo, "one that lines can be removed from, at about the same memory"},
}};

std::string flag_of(filter_kind kind) {
  return "--" + std::string(to_string(kind));
}

struct create_options {
  common_options common;
  std::string output;
  std::string like;
  std::optional<std::uint64_t> keys;
  std::optional<double> rate;
  std::optional<std::uint64_t> blocks;
  std::optional<std::uint64_t> k;
  std::optional<std::uint64_t> seed;
  bool force = false;
  std::array<bool, kinds.size()> asked{};  // for each kind
};

filter_kind chosen_kind(const create_options& options) {
  if (std::count(options.asked.begin(), options.asked.end(), true) > 1) {
    throw usage_error("a filter is of one kind: give one of --growing, --counting and --cuckoo");
  }
  const auto asked = std::find(options.asked.begin(), options.asked.end(), true);
  return asked == options.asked.end()
             ? filter_kind::plain
             : kinds[static_cast<std::size_t>(asked - options.asked.begin())].kind;
}

filter_request requested(const create_options& options) {
  filter_request request{.kind = chosen_kind(options), .seed = options.seed.value_or(0)};
  const bool by_keys = options.keys.has_value() || options.rate.has_value();
  const bool by_blocks = options.blocks.has_value() || options.k.has_value();
  if (by_keys && by_blocks) {
    throw usage_error("-n and -p, or --blocks and -k: two ways to say how large, give one");
  }
  if (options.keys && options.rate) {
    request.expected_keys = *options.keys;
    request.target_fpr = *options.rate;
    return request;
  }
  if (!options.blocks || !options.k) {
    throw usage_error(by_blocks ? "--blocks and -k go together"
                                : "give -n and -p, or --blocks and -k: how large is it to be?");
  }
  if (request.kind == filter_kind::growing || request.kind == filter_kind::cuckoo) {
    throw usage_error(flag_of(request.kind) + " is sized by -n and -p, not by --blocks and -k");
  }
  request.blocks = *options.blocks;
  request.k = static_cast<std::uint32_t>(*options.k);
  return request;
}

/// An empty one of the kind, shape, plan, seed and hash of another.
void save_like(const create_options& options) {
  const bool sized = options.keys || options.rate || options.blocks || options.k || options.seed;
  if (sized || std::count(options.asked.begin(), options.asked.end(), true) > 0) {
    throw usage_error("--like takes size, seed and kind from its file: give no others");
  }
  line_filter twin(options.like, access::write, {});
  twin.clear();
  twin.save(options.output);
}

int run(const create_options& options) {
  if (!options.like.empty()) {
    if (!options.force) require_replaceable(options.output);
    save_like(options);
    return exit_done;
  }
  const filter_request request = requested(options);
  if (!options.force) require_replaceable(options.output);
  save_whole(any_filter::make(request), options.output);
  return exit_done;
}

std::function<int()> declare(option_list& list) {
  auto options = std::make_shared<create_options>();
  list.file("-o,--output", options->output, "the filter file; a filter that is there is replaced")
      .required();
  list.count("-n,--keys", options->keys, "distinct keys that it is to hold", 1);
  list.rate("-p,--fpr", options->rate, "share of unknown keys that may be taken for known ones");
  list.count("--blocks", options->blocks, "its size in blocks of 64 bytes, instead of -n and -p", 1,
             std::numeric_limits<std::uint32_t>::max());
  list.count("-k", options->k, "bits a key, with --blocks", 1, rot8::max_k);
  list.file(
      "--like", options->like,
      "of the kind, size, plan, seed and hash of this filter file, so that both can be merged");
  list.seed(options->seed, "seed of the hash: a number, or 'random'; default 0");
  for (std::size_t i = 1; i < kinds.size(); ++i) {
    list.flag(flag_of(kinds[i].kind), options->asked[i], kinds[i].help);
  }
  list.force(options->force);
  list.common(options->common);
  return [options] { return run(*options); };
}

}  // namespace

extern const verb create_verb;
const verb create_verb{
    "create", "makes an empty filter file",
    "octobloom create -n 10M -p 0.001 -o seen.octobloom # a filter for ten million keys at 0.1 %\n"
    "octobloom create --blocks 160 -k 7 -o small.octobloom # one of 10 KiB, 7 bits a key\n"
    "octobloom create --growing -n 1000 -p 0.01 -o any.octobloom # one that grows and keeps its "
    "rate\n"
    "octobloom create --cuckoo -n 1M -p 0.001 -o members.octobloom # one that can forget\n"
    "octobloom create --like monday.octobloom -o tuesday.octobloom # one that can be merged with "
    "Monday's",
    declare};

}  // namespace octobloom::cli
