#include "line_filter.h"

#include <octobloom/counting_filter.h>
#include <octobloom/cuckoo_filter.h>
#include <octobloom/error.h>
#include <octobloom/filter.h>
#include <octobloom/growing_filter.h>
#include <octobloom/mapped_filter.h>
#include <octobloom/windowed_filter.h>

#include "numbers.h"
#include "process.h"

namespace octobloom::cli {

namespace {

/// A filter file in place. Should it be cut short meanwhile, the command ends with words.
class guarded_filter : public mapped_filter {
 public:
  guarded_filter(const std::string& path, const load_options& options)
      : mapped_filter(path, {.verify_body = false, .copy = !files_can_be_used_in_place}),
        guard_(view().words(), bytes(), path) {
    if (options.verify_body) verify_body();
  }

 private:
  mapping_guard guard_;
};

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw error(error_code::invalid_argument, path + ": " + why);
}

template <class Filter>
class line_filter_of final : public line_filter {
 public:
  template <class Make>
  line_filter_of(Make make, filter_kind kind, std::string path)
      : filter_(make()), kind_(kind), path_(std::move(path)) {}

  [[nodiscard]] std::uint64_t seed() const override { return filter_.seed(); }
  [[nodiscard]] key_hashing hashing() const override { return filter_.hashing(); }
  [[nodiscard]] key_families families() const override { return filter_.families(); }
  void accept_any_family(bool any) override { filter_.accept_any_family(any); }

  std::uint64_t may_contain(const key_batch& hashes, std::uint8_t* marks) const override {
    const std::uint64_t found = filter_.may_contain(hashes, marks);
    require_whole(filter_, path_);
    return found;
  }

  void insert(const key_batch& hashes) override {
    if constexpr (std::is_same_v<Filter, cuckoo_filter>) {
      if (filter_.insert(hashes) == hashes.size()) return;
      throw error(error_code::full, path_ + " is full at " + grouped(filter_.inserted_keys()) +
                                        " keys in " + grouped(filter_.slots()) +
                                        " slots, and stays as it was: create a larger one. (A "
                                        "line fits eight times.)");
    } else if constexpr (requires { filter_.insert(hashes); }) {
      filter_.insert(hashes);
    } else {
      refuse(path_, "was opened for reading");
    }
  }

  std::uint64_t remove(const key_batch& hashes, std::uint8_t* marks) override {
    if constexpr (requires { filter_.remove(hashes, marks); }) {
      return filter_.remove(hashes, marks);
    } else {
      refuse(path_, "holds a " + std::string(to_string(kind_)) +
                        " filter, which cannot forget a line: create one with --counting or "
                        "--cuckoo for that");
    }
  }

  void merge(const std::string& path, const load_options& options) override {
    if constexpr (std::is_same_v<Filter, filter>) {
      const guarded_filter other(path, options);
      filter_.merge(other);
      require_whole(other, path);
    } else if constexpr (requires { filter_.merge(Filter::load(path, options)); }) {
      filter_.merge(Filter::load(path, options));
    } else {
      refuse(path_, "holds a " + std::string(to_string(kind_)) +
                        " filter; only plain, counting and windowed ones can be merged");
    }
  }

  void clear() override {
    if constexpr (requires { filter_.clear(); }) {
      filter_.clear();
    } else {
      refuse(path_, "was opened for reading");
    }
  }

  void save(const std::string& path) const override {
    if constexpr (requires { filter_.save(path); }) {
      save_whole(filter_, path);
    } else {
      refuse(path_, "was opened for reading");
    }
  }

  [[nodiscard]] filter_facts facts(reading how) const override {
    filter_facts facts = facts_of(filter_, how);
    require_whole(filter_, path_);
    return facts;
  }

 private:
  template <class Other>
  static void require_whole(const Other& filter, const std::string& path) {
    if constexpr (std::is_same_v<Other, guarded_filter>) {
      if (!filter.whole()) throw error(error_code::bad_file, cut_short(path));
    }
  }

  Filter filter_;
  filter_kind kind_;
  std::string path_;
};

template <class Filter>
std::unique_ptr<line_filter> open_as(filter_kind kind, const std::string& path,
                                     const load_options& options) {
  const auto make = [&] {
    if constexpr (std::is_same_v<Filter, guarded_filter>) {
      return Filter(path, options);
    } else {
      return Filter::load(path, options);
    }
  };
  return std::make_unique<line_filter_of<Filter>>(make, kind, path);
}

}  // namespace

std::unique_ptr<line_filter> open_filter(const std::string& path, access mode,
                                         const load_options& options) {
  const filter_kind kind = filter_reader(path).header().kind;
  switch (kind) {
    case filter_kind::plain:
      return mode == access::read ? open_as<guarded_filter>(kind, path, options)
                                  : open_as<filter>(kind, path, options);
    case filter_kind::growing:
      return open_as<growing_filter>(kind, path, options);
    case filter_kind::counting:
      return open_as<counting_filter>(kind, path, options);
    case filter_kind::cuckoo:
      return open_as<cuckoo_filter>(kind, path, options);
    case filter_kind::windowed:
      return open_as<windowed_filter>(kind, path, options);
  }
  refuse(path, "holds a kind of filter that this command does not know");
}

}  // namespace octobloom::cli
