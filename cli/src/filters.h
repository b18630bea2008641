#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <octobloom/facts.h>
#include <octobloom/filter_view.h>
#include <octobloom/statistics.h>

#include "line_filter.h"
#include "options.h"

/// What verbs ask of filter files.
namespace octobloom::cli {

/// Throws error{wrong_key} when a filter holds its callers' own hashes, and so takes no lines.
void require_lines(key_hashing hashing, const std::string& path);

/// Throws error{wrong_key} when only keys of other families were inserted: no line is in then.
void require_line_family(key_families families, const std::string& path);

/// Throws usage_error when a seed is asked for that is not the filter's.
void require_seed(std::optional<std::uint64_t> asked, std::uint64_t seed, const std::string& path);

/// What the verbs take that hand lines to a filter file.
struct lines_and_filter {
  common_options common;
  line_options lines;
  std::string filter;
  std::optional<std::uint64_t> seed;
  bool verify_body = true;
  bool any_keys = false;  ///< go on when no line was ever inserted

  void declare(option_list& list, const std::string& filter_help);
  /// --any-keys, of verbs that ask or remove.
  void declare_any_keys(option_list& list);
  /// All that is read: the inputs and the filter.
  [[nodiscard]] std::vector<std::string> files() const;
  /// Once the lines are settled: the filter, when it and the inputs can be had and fit together.
  [[nodiscard]] std::unique_ptr<line_filter> open(access mode, const engine& e) const;
};

/// For a filter that is not fine, or that is and has more keys than planned, in the words of every
/// warning: what its rate is and what that means. What to do comes behind.
/// `is_guess`: its size is no plan of the user.
[[nodiscard]] std::string fullness_text(const std::string& name, const filter_facts& facts,
                                        bool is_guess = false);

/// Warns, also under -q, when `filter` is not fine.
void warn_if_full(const line_filter& filter, const std::string& path, reading how = reading::whole);

/// Distinct keys in a filter, from its bits; its count of calls when every bit is set.
[[nodiscard]] double distinct_keys(const filter_statistics& statistics,
                                   std::uint64_t inserted_keys);

}  // namespace octobloom::cli
