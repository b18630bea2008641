#include <octobloom/any_filter.h>

#include <array>
#include <chrono>
#include <string>
#include <type_traits>
#include <vector>

#include <octobloom/error.h>

namespace octobloom {

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw error(error_code::invalid_argument, what);
}

std::string name_of(filter_kind kind) {
  return "a " + std::string(to_string(kind)) + " filter";
}

/// One thing that only some kinds take.
struct particular {
  const char* name;
  bool is_set;
  bool is_taken;
};

void require_own(const filter_request& request) {
  const filter_kind kind = request.kind;
  const bool growing = kind == filter_kind::growing;
  const bool windowed = kind == filter_kind::windowed;
  const bool of_blocks = kind == filter_kind::plain || kind == filter_kind::counting;
  for (const particular& p : {
           particular{"blocks", request.blocks != 0, of_blocks},
           particular{"k", request.k != 0, of_blocks},
           particular{"growth", request.growth != 0, growing},
           particular{"grow_at", request.grow_at != 0, growing},
           particular{"window_events", request.window_events != 0, windowed},
           particular{"window_duration", request.window_duration != 0, windowed},
           particular{"parts", request.parts != 0, windowed},
       }) {
    if (p.is_set && !p.is_taken) refuse(name_of(kind) + " takes no " + p.name + ": leave it 0");
  }
}

plan plan_of(const filter_request& request) {
  require_own(request);
  if (request.blocks == 0 && request.k == 0) {
    return plan_for(request.expected_keys, request.target_fpr);
  }
  plan size = plan_with_blocks(request.blocks, request.k);
  size.expected_keys = request.expected_keys;
  size.target_fpr = request.target_fpr;
  return size;
}

filter_options options_of(const filter_request& request) {
  return {.seed = request.seed, .hashing = request.hashing};
}

template <class Filter>
any_filter make_of_blocks(const filter_request& request) {
  return Filter(plan_of(request), options_of(request));
}

any_filter make_growing(const filter_request& request) {
  require_own(request);
  growing_options options{.seed = request.seed, .hashing = request.hashing};
  if (request.growth != 0) options.growth = request.growth;
  if (request.grow_at != 0) options.grow_at = request.grow_at;
  return growing_filter(request.expected_keys, request.target_fpr, options);
}

any_filter make_cuckoo(const filter_request& request) {
  require_own(request);
  return cuckoo_filter::with_fpr(request.expected_keys, request.target_fpr, options_of(request));
}

any_filter make_windowed(const filter_request& request) {
  require_own(request);
  window_options options{.seed = request.seed, .hashing = request.hashing};
  if (request.parts != 0) options.parts = request.parts;
  if ((request.window_events != 0) == (request.window_duration != 0)) {
    refuse("a windowed filter is of so many events or of a duration: give one of them");
  }
  if (request.window_duration > INT64_MAX) {
    refuse("a window lasts at most 100 years, not " + std::to_string(request.window_duration) +
           " nanoseconds");
  }
  if (request.window_events == 0) {
    return windowed_filter::last_duration(
        std::chrono::nanoseconds(static_cast<std::int64_t>(request.window_duration)),
        request.expected_keys, request.target_fpr, options);
  }
  if (request.expected_keys != 0 && request.expected_keys != request.window_events) {
    refuse("a window by events is planned for as many keys: leave expected_keys 0");
  }
  return windowed_filter::last_events(request.window_events, request.target_fpr, options);
}

template <class Filter>
any_filter decode_as(filter_reader& from, const load_options& options) {
  return Filter::decode(from, options);
}

/// In the order of the alternatives, which is that of the numbers in files.
constexpr std::array<kind_row, std::variant_size_v<any_filter::alternatives>> kinds{{
    {.kind = filter_kind::plain,
     .removes = false,
     .merges = true,
     .grows = false,
     .forgets = false,
     .make = make_of_blocks<filter>,
     .decode = decode_as<filter>},
    {.kind = filter_kind::growing,
     .removes = false,
     .merges = false,
     .grows = true,
     .forgets = false,
     .make = make_growing,
     .decode = decode_as<growing_filter>},
    {.kind = filter_kind::counting,
     .removes = true,
     .merges = true,
     .grows = false,
     .forgets = false,
     .make = make_of_blocks<counting_filter>,
     .decode = decode_as<counting_filter>},
    {.kind = filter_kind::cuckoo,
     .removes = true,
     .merges = false,
     .grows = false,
     .forgets = false,
     .make = make_cuckoo,
     .decode = decode_as<cuckoo_filter>},
    {.kind = filter_kind::windowed,
     .removes = false,
     .merges = true,
     .grows = false,
     .forgets = true,
     .make = make_windowed,
     .decode = decode_as<windowed_filter>},
}};

/// "plain, counting and windowed": the kinds that can.
std::string kinds_that(bool kind_row::*can) {
  std::vector<std::string> names;
  for (const kind_row& row : kinds) {
    if (row.*can) names.emplace_back(to_string(row.kind));
  }
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) {
    text += (i + 1 < names.size() ? ", " : " and ") + names[i];
  }
  return text;
}

[[noreturn]] void refuse_call(filter_kind kind, const char* what, bool kind_row::*can) {
  refuse(name_of(kind) + " cannot " + what + "; " + kinds_that(can) + " ones can");
}

}  // namespace

std::span<const kind_row> all_kinds() noexcept {
  return kinds;
}

const kind_row& row_of(filter_kind kind) {
  const auto number = static_cast<std::size_t>(kind);
  if (number >= kinds.size()) {
    refuse("kinds of filters are 0 to " + std::to_string(kinds.size() - 1) + ", not " +
           std::to_string(number));
  }
  return kinds[number];
}

filter_kind any_filter::kind() const noexcept {
  return row().kind;
}
const kind_row& any_filter::row() const noexcept {
  return kinds[held_.index()];
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
filter_facts facts_of(const any_filter& filter, reading how) {
  return std::visit([how](const auto& f) { return facts_of(f, how); }, filter.held_);
}
void any_filter::clear() {
  std::visit([](auto& f) { f.clear(); }, held_);
}

bool any_filter::may_contain_hash(std::uint64_t hash, key_family family) const {
  return std::visit([&](const auto& f) { return f.may_contain_hash(hash, family); }, held_);
}
bool any_filter::insert_new_hash(std::uint64_t hash, key_family family) {
  return std::visit([&](auto& f) { return f.insert_new_hash(hash, family); }, held_);
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

[[noreturn]] void refuse_full(const cuckoo_filter& f) {
  throw error(error_code::full, "the cuckoo filter is full at " +
                                    std::to_string(f.inserted_keys()) + " keys in " +
                                    std::to_string(f.slots()) +
                                    " slots, or has a key eight times: make a larger one");
}

void insert_all(cuckoo_filter& f, const key_batch& keys, const bulk_options& options) {
  if (f.insert(keys, options) < keys.size()) refuse_full(f);
}

}  // namespace

void any_filter::insert_hash(std::uint64_t hash, key_family family) {
  std::visit(
      [&](auto& f) {
        if constexpr (std::is_same_v<decltype(f), cuckoo_filter&>) {
          if (!f.insert_hash(hash, family)) refuse_full(f);
        } else {
          f.insert_hash(hash, family);
        }
      },
      held_);
}

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
          return detail::answer_rows(
              keys, f.seed(), f.hashing(), f.bytes(), null_rows::drop, {}, options,
              [&](const key_batch& batch, std::uint8_t*, const bulk_options& within) {
                insert_all(f, batch, within);
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
  return std::visit([&](auto& f) { return f.insert_new(keys, bitmap, options); }, held_);
}

std::uint64_t any_filter::insert_new(const key_columns& keys, const row_answers& out,
                                     const bulk_options& options) {
  return std::visit([&](auto& f) { return f.insert_new(keys, out, options); }, held_);
}

bool any_filter::remove_hash(std::uint64_t hash, key_family family) {
  return std::visit(
      [&](auto& f) -> bool {
        if constexpr (requires { f.remove_hash(hash, family); }) {
          return f.remove_hash(hash, family);
        } else {
          refuse_call(kind(), "take keys back", &kind_row::removes);
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
          refuse_call(kind(), "take keys back", &kind_row::removes);
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
          refuse_call(kind(), "take keys back", &kind_row::removes);
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
          throw error(error_code::mismatch, name_of(kind()) + " and a " +
                                                std::string(to_string(other.kind())) +
                                                " one cannot be merged: they are of two kinds");
        } else {
          refuse_call(kind(), "be merged", &kind_row::merges);
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
