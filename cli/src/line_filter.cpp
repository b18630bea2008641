#include "line_filter.h"

#include <utility>

#include <octobloom/error.h>

#include "numbers.h"
#include "output.h"

namespace octobloom::cli {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw error(error_code::invalid_argument, path + ": " + why);
}

std::string kind_text(const any_filter& filter) {
  return "holds a " + std::string(to_string(filter.kind())) + " filter";
}

void require_whole(const guarded_filter& filter, const std::string& path) {
  if (!filter.whole()) throw error(error_code::bad_file, cut_short(path));
}
void require_whole(const any_filter&, const std::string&) {}

using open_file = std::variant<opened<guarded_filter>, opened<any_filter>>;

open_file open(const std::string& path, access mode, const load_options& options, const engine& e) {
  filter_reader file(path);
  if (mode == access::read && file.header().kind == filter_kind::plain) {
    return open_file(std::in_place_type<opened<guarded_filter>>, std::in_place, e, path, options);
  }
  return opened(any_filter::decode(file, options), e);
}

}  // namespace

guarded_filter::guarded_filter(const std::string& path, const load_options& options)
    : mapped_filter(path, {.verify_body = false, .copy = !files_can_be_used_in_place}),
      guard_(view().words(), bytes(), path) {
  if (options.verify_body) verify_body();
}

line_filter::line_filter(std::string path, access mode, const load_options& options,
                         const engine& e)
    : path_(std::move(path)), filter_(open(path_, mode, options, e)) {}

std::uint64_t line_filter::seed() const {
  return std::visit([](const auto& f) { return f.unsettled().seed(); }, filter_);
}
key_hashing line_filter::hashing() const {
  return std::visit([](const auto& f) { return f.unsettled().hashing(); }, filter_);
}
key_families line_filter::families() const {
  return std::visit([](const auto& f) { return f.unsettled().families(); }, filter_);
}
void line_filter::accept_any_family(bool any) {
  std::visit([any](auto& f) { f.home().accept_any_family(any); }, filter_);
}

std::uint64_t line_filter::may_contain(const key_batch& hashes, std::uint8_t* marks) const {
  return std::visit(
      [&](const auto& f) {
        const std::uint64_t found = f.may_contain(hashes, marks);
        require_whole(f.unsettled(), path_);
        return found;
      },
      filter_);
}

filter_facts line_filter::facts(reading how) const {
  return std::visit(
      [&](const auto& f) {
        filter_facts facts = facts_of(f.filter(), how);
        require_whole(f.unsettled(), path_);
        return facts;
      },
      filter_);
}

void line_filter::insert(const key_batch& hashes) {
  try {
    held().insert(hashes);
  } catch (const error& problem) {
    const auto* cuckoo = held().unsettled().get_if<cuckoo_filter>();
    if (problem.code() != error_code::full || cuckoo == nullptr) throw;
    throw error(error_code::full, path_ + " is full at " + grouped(cuckoo->inserted_keys()) +
                                      " keys in " + grouped(cuckoo->slots()) +
                                      " slots, and stays as it was: create a larger one. (A line "
                                      "fits eight times.)");
  }
}

std::uint64_t line_filter::remove(const key_batch& hashes, std::uint8_t* marks) {
  if (!held().unsettled().row().removes) {
    refuse(path_, kind_text(held().unsettled()) +
                      ", which cannot forget a line: create one with --counting or --cuckoo for "
                      "that");
  }
  return held().remove(hashes, marks);
}

void line_filter::merge(const std::string& path, const load_options& options) {
  if (auto* plain = held().home().get_if<filter>()) {
    const guarded_filter other(path, options);
    plain->merge(other);
    require_whole(other, path);
    return;
  }
  if (!held().unsettled().row().merges) {
    refuse(path_, kind_text(held().unsettled()) +
                      "; only plain, counting and windowed ones can be merged");
  }
  filter_reader file(path);
  file.require_kind(held().unsettled().kind());
  held().home().merge(any_filter::decode(file, options));
}

void line_filter::clear() {
  held().home().clear();
}

void line_filter::save(const std::string& path) const {
  save_whole(std::get<opened<any_filter>>(filter_).filter(), path);
}

}  // namespace octobloom::cli
