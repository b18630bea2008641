#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <octobloom/filter.h>
#include <octobloom/plan.h>

/// What verbs ask of filter files.
namespace octobloom::cli {

/// Throws error{wrong_key} when the filter holds its callers' own hashes, and so takes no lines.
template <class Derived>
void require_lines(const filter_queries<Derived>& filter, const std::string& path) {
  if (filter.hashing() == key_hashing::caller) {
    throw error(error_code::wrong_key,
                path + ": holds the hashes that some program made of its keys: it takes no lines");
  }
}

/// Throws usage_error when a seed is asked for that is not the filter's.
void require_seed(std::optional<std::uint64_t> asked, std::uint64_t seed, const std::string& path);

/// Warns when more is in `filter` than it was made for.
void warn_if_full(const filter& filter, const std::string& path);

/// Distinct keys in a filter, from its bits; its count of calls when every bit is set.
[[nodiscard]] double distinct_keys(const filter_statistics& statistics,
                                   std::uint64_t inserted_keys);

}  // namespace octobloom::cli
