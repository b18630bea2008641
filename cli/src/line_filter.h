#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include <octobloom/any_filter.h>
#include <octobloom/file.h>
#include <octobloom/keys.h>
#include <octobloom/mapped_filter.h>
#include <octobloom/opened.h>

#include "process.h"

namespace octobloom::cli {

/// A plain filter file in place. Should it be cut short meanwhile, the command ends with words.
class guarded_filter : public mapped_filter {
 public:
  guarded_filter(const std::string& path, const load_options& options);

 private:
  mapping_guard guard_;
};

/// What the verb is going to do with the file.
enum class access { read, write };

/// What verbs do with a filter file, whatever kind it holds. What its kind cannot do is
/// error{invalid_argument} that says what to use instead. The hashes are those of lines under
/// seed(). Writers need it to themselves.
class line_filter {
 public:
  /// `e` is to work on it. Throws as load() of the kinds does.
  line_filter(std::string path, access mode, const load_options& options,
              const engine& e = default_engine());

  [[nodiscard]] std::uint64_t seed() const;
  [[nodiscard]] key_hashing hashing() const;
  [[nodiscard]] key_families families() const;
  void accept_any_family(bool any);

  std::uint64_t may_contain(const key_batch& hashes, std::uint8_t* marks) const;
  [[nodiscard]] filter_facts facts(reading how) const;

  // From here on it was opened for writing.
  /// Throws error{full} when not all find room.
  void insert(const key_batch& hashes);
  /// Takes lines out and marks those that were in.
  std::uint64_t remove(const key_batch& hashes, std::uint8_t* marks);
  /// Adds what the filter file `path`, of the same kind and shape, holds. Throws error{mismatch}.
  void merge(const std::string& path, const load_options& options);
  /// Forgets every line; kind, shape and plan stay.
  void clear();
  void save(const std::string& path) const;

 private:
  /// Opened for writing.
  [[nodiscard]] opened<any_filter>& held() { return std::get<opened<any_filter>>(filter_); }

  std::string path_;
  std::variant<opened<guarded_filter>, opened<any_filter>> filter_;
};

}  // namespace octobloom::cli
