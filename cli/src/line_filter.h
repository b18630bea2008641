#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <octobloom/facts.h>
#include <octobloom/file.h>
#include <octobloom/keys.h>

#include "options.h"

namespace octobloom::cli {

/// What verbs do with a filter file, whatever kind it holds. Kinds that cannot do something throw
/// error{invalid_argument} that says what to use instead. The hashes are those of lines under
/// seed(). Writers need it to themselves.
class line_filter {
 public:
  line_filter() = default;
  line_filter(const line_filter&) = delete;
  line_filter& operator=(const line_filter&) = delete;
  virtual ~line_filter() = default;

  [[nodiscard]] virtual std::uint64_t seed() const = 0;
  [[nodiscard]] virtual key_hashing hashing() const = 0;
  [[nodiscard]] virtual key_families families() const = 0;
  virtual void accept_any_family(bool any) = 0;

  virtual std::uint64_t may_contain(const key_batch& hashes, std::uint8_t* marks) const = 0;
  /// Throws error{full} when not all find room.
  virtual void insert(const key_batch& hashes) = 0;
  /// Takes lines out and marks those that were in.
  virtual std::uint64_t remove(const key_batch& hashes, std::uint8_t* marks) = 0;
  /// Adds what the filter file `path`, of the same kind and shape, holds. Throws error{mismatch}.
  virtual void merge(const std::string& path, const load_options& options) = 0;
  /// Forgets every line; kind, shape and plan stay.
  virtual void clear() = 0;
  virtual void save(const std::string& path) const = 0;

  [[nodiscard]] virtual filter_facts facts(reading how) const = 0;
};

/// What the verb is going to do with the file.
enum class access { read, write };

/// Opens a filter file of any kind. Throws as their load() does.
[[nodiscard]] std::unique_ptr<line_filter> open_filter(const std::string& path, access mode,
                                                       const load_options& options);

}  // namespace octobloom::cli
