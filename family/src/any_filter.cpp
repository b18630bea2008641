#include <octobloom/any_filter.h>

#include <array>

#include <octobloom/error.h>

namespace octobloom {

namespace {

/// The rows are in the order of the alternatives, which is that of the numbers in files.
template <class Filter>
any_filter decode_as(filter_reader& from, const load_options& options) {
  return Filter::decode(from, options);
}

constexpr std::array<kind_row, std::variant_size_v<any_filter::alternatives>> kinds{{
    {.kind = filter_kind::plain,
     .name = "plain",
     .tells_new = true,
     .removes = false,
     .merges = true,
     .grows = false,
     .forgets = false,
     .decode = decode_as<filter>},
    {.kind = filter_kind::growing,
     .name = "growing",
     .tells_new = true,
     .removes = false,
     .merges = false,
     .grows = true,
     .forgets = false,
     .decode = decode_as<growing_filter>},
    {.kind = filter_kind::counting,
     .name = "counting",
     .tells_new = true,
     .removes = true,
     .merges = true,
     .grows = false,
     .forgets = false,
     .decode = decode_as<counting_filter>},
    {.kind = filter_kind::cuckoo,
     .name = "cuckoo",
     .tells_new = false,
     .removes = true,
     .merges = false,
     .grows = false,
     .forgets = false,
     .decode = decode_as<cuckoo_filter>},
    {.kind = filter_kind::windowed,
     .name = "windowed",
     .tells_new = true,
     .removes = false,
     .merges = true,
     .grows = false,
     .forgets = true,
     .decode = decode_as<windowed_filter>},
}};

/// "plain, counting and windowed": the kinds that can.
std::string kinds_that(bool kind_row::*can) {
  std::vector<std::string> names;
  for (const kind_row& row : kinds) {
    if (row.*can) names.emplace_back(row.name);
  }
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) {
    text += (i + 1 < names.size() ? ", " : " and ") + names[i];
  }
  return text;
}

[[noreturn]] void refuse(const kind_row& row, const char* what, bool kind_row::*can) {
  throw error(error_code::invalid_argument, "a " + std::string(row.name) + " filter cannot " +
                                                what + "; " + kinds_that(can) + " ones can");
}

}  // namespace

std::span<const kind_row> all_kinds() noexcept {
  return kinds;
}

const kind_row& row_of(filter_kind kind) noexcept {
  return kinds[static_cast<std::size_t>(kind)];
}

filter_kind any_filter::kind() const noexcept {
  return kinds[held_.index()].kind;
}

std::uint64_t any_filter::seed() const noexcept {
  return std::visit([](const auto& f) { return f.seed(); }, held_);
}
key_hashing any_filter::hashing() const noexcept {
  return std::visit([](const auto& f) { return f.hashing(); }, held_);
}
std::uint64_t any_filter::bytes() const noexcept {
  return std::visit([](const auto& f) { return f.bytes(); }, held_);
}
std::uint64_t any_filter::inserted_keys() const noexcept {
  return std::visit([](const auto& f) { return f.inserted_keys(); }, held_);
}
key_families any_filter::families() const noexcept {
  return std::visit([](const auto& f) { return f.families(); }, held_);
}
void any_filter::accept_any_family(bool any) noexcept {
  std::visit([any](auto& f) { f.accept_any_family(any); }, held_);
}
filter_facts any_filter::facts(reading how) const {
  return std::visit([how](const auto& f) { return facts_of(f, how); }, held_);
}
void any_filter::clear() {
  std::visit([](auto& f) { f.clear(); }, held_);
}

std::uint64_t any_filter::may_contain(const key_batch& keys, std::uint8_t* bitmap,
                                      const bulk_options& options) const {
  return std::visit([&](const auto& f) { return f.may_contain(keys, bitmap, options); }, held_);
}
std::uint64_t any_filter::may_contain(const key_columns& keys, const row_answers& out,
                                      const bulk_options& options) const {
  return std::visit([&](const auto& f) { return f.may_contain(keys, out, options); }, held_);
}

namespace {

void insert_all(cuckoo_filter& f, const key_batch& keys, const bulk_options& options) {
  if (f.insert(keys, options) == keys.size()) return;
  throw error(error_code::full, "the cuckoo filter is full at " +
                                    std::to_string(f.inserted_keys()) + " keys in " +
                                    std::to_string(f.slots()) +
                                    " slots, or has a key eight times: make a larger one");
}

}  // namespace

void any_filter::insert(const key_batch& keys, const bulk_options& options) {
  std::visit(
      [&](auto& f) {
        if constexpr (std::is_same_v<decltype(f), cuckoo_filter&>) {
          insert_all(f, keys, options);
        } else {
          f.insert(keys, options);
        }
      },
      held_);
}

std::uint64_t any_filter::insert(const key_columns& keys, const bulk_options& options) {
  return std::visit(
      [&](auto& f) {
        if constexpr (std::is_same_v<decltype(f), cuckoo_filter&>) {
          return detail::answer_rows(keys, f.seed(), f.hashing(), f.bytes(), null_rows::drop, {},
                                     options, [&](const key_batch& batch, std::uint8_t*) {
                                       insert_all(f, batch, options);
                                       return batch.size();
                                     });
        } else {
          return f.insert(keys, options);
        }
      },
      held_);
}

std::uint64_t any_filter::insert_new(const key_batch& keys, std::uint8_t* bitmap,
                                     const bulk_options& options) {
  return std::visit(
      [&](auto& f) -> std::uint64_t {
        if constexpr (requires { f.insert_new(keys, bitmap, options); }) {
          return f.insert_new(keys, bitmap, options);
        } else {
          refuse(row(), "tell new keys from old ones", &kind_row::tells_new);
        }
      },
      held_);
}

std::uint64_t any_filter::insert_new(const key_columns& keys, const row_answers& out,
                                     const bulk_options& options) {
  return std::visit(
      [&](auto& f) -> std::uint64_t {
        if constexpr (requires { f.insert_new(keys, out, options); }) {
          return f.insert_new(keys, out, options);
        } else {
          refuse(row(), "tell new keys from old ones", &kind_row::tells_new);
        }
      },
      held_);
}

std::uint64_t any_filter::remove(const key_batch& keys, std::uint8_t* bitmap,
                                 const bulk_options& options) {
  return std::visit(
      [&](auto& f) -> std::uint64_t {
        if constexpr (requires { f.remove(keys, bitmap, options); }) {
          return f.remove(keys, bitmap, options);
        } else {
          refuse(row(), "take keys back", &kind_row::removes);
        }
      },
      held_);
}

std::uint64_t any_filter::remove(const key_columns& keys, const row_answers& out,
                                 const bulk_options& options) {
  return std::visit(
      [&](auto& f) -> std::uint64_t {
        if constexpr (requires { f.remove(keys, out, options); }) {
          return f.remove(keys, out, options);
        } else {
          refuse(row(), "take keys back", &kind_row::removes);
        }
      },
      held_);
}

void any_filter::merge(const any_filter& other) {
  std::visit(
      [&](auto& f) {
        using Filter = std::remove_reference_t<decltype(f)>;
        if constexpr (requires(const Filter& same) { f.merge(same); }) {
          if (const auto* same = other.get_if<Filter>()) return f.merge(*same);
          throw error(error_code::mismatch, "a " + std::string(row().name) + " filter and a " +
                                                std::string(other.row().name) +
                                                " one cannot be merged: they are of two kinds");
        } else {
          refuse(row(), "be merged", &kind_row::merges);
        }
      },
      held_);
}

any_filter any_filter::decoded(filter_reader& from, const load_options& options) {
  return row_of(from.header().kind).decode(from, options);
}

encoded_filter any_filter::encoded() const {
  return std::visit([](const auto& f) { return f.encode(); }, held_);
}

}  // namespace octobloom
