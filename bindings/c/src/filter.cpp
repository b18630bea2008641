#include "filter.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <octobloom/engines.h>
#include <octobloom/facts.h>
#include <octobloom/file.h>

#include "sized.h"

using namespace octobloom;
using namespace octobloom::c;

namespace {

static_assert(OCTOBLOOM_WINDOWED == static_cast<int>(filter_kind::windowed));

const kind_row* row_or_null(std::int32_t kind) noexcept {
  const std::span<const kind_row> rows = all_kinds();
  return kind >= 0 && static_cast<std::size_t>(kind) < rows.size()
             ? &rows[static_cast<std::size_t>(kind)]
             : nullptr;
}

const engine& engine_called(const char* name) {
  return name == nullptr ? default_engine() : find_engine(name);
}

template <class Make>
octobloom_status create(octobloom_filter** out, const char* const& engine, Make make) noexcept {
  return guarded([&] {
    deref(out, "the place for the result");
    any_filter made = make();
    *out = std::make_unique<octobloom_filter>(
               octobloom_filter{opened(std::move(made), engine_called(engine))})
               .release();
  });
}

filter_request request_of(const octobloom_create_options& options) {
  if (row_or_null(options.kind) == nullptr) {
    refuse("kinds of filters are 0 to " + std::to_string(all_kinds().size() - 1) + ", not " +
           std::to_string(options.kind));
  }
  if (options.reserved != 0) refuse("the reserved field of octobloom_create_options is not 0");
  return {.kind = static_cast<filter_kind>(options.kind),
          .expected_keys = options.expected_keys,
          .target_fpr = options.target_fpr,
          .blocks = options.blocks,
          .k = options.k,
          .seed = options.seed,
          .hashing = hashing_of(options.callers_hashes),
          .growth = options.growth,
          .grow_at = options.grow_at,
          .window_events = options.window_events,
          .window_duration = options.window_nanoseconds,
          .parts = options.window_parts};
}

any_filter decode(filter_reader& from, const octobloom_load_options& options) {
  const std::uint32_t number = static_cast<std::uint32_t>(from.header().kind);
  if (options.kinds != 0 && (options.kinds >> number & 1u) == 0) {
    std::string wanted;
    for (const kind_row& row : all_kinds()) {
      if ((options.kinds >> static_cast<unsigned>(row.kind) & 1u) == 0) continue;
      wanted += (wanted.empty() ? "" : " or ") + std::string(to_string(row.kind));
    }
    from.refuse("holds a " + std::string(to_string(from.header().kind)) + " filter, not a " +
                (wanted.empty() ? std::string("kind that was asked for") : wanted + " one"));
  }
  return any_filter::decode(from, {.verify_body = options.skip_verify == 0});
}

/// A plain filter inside, for what other kinds have not.
template <class Any>
auto& plain_in(Any& held, const char* what) {
  if (auto* plain = held.template get_if<octobloom::filter>()) return *plain;
  refuse("a " + std::string(to_string(held.kind())) + " filter has no " + what +
         "; plain ones have");
}

}  // namespace

const char* octobloom_kind_name(int32_t kind) {
  const kind_row* row = row_or_null(kind);
  return row == nullptr ? nullptr : to_string(row->kind).data();
}

uint32_t octobloom_kind_abilities(int32_t kind) {
  const kind_row* row = row_or_null(kind);
  if (row == nullptr) return 0;
  std::uint32_t abilities = 0;
  if (row->removes) abilities |= OCTOBLOOM_CAN_REMOVE;
  if (row->merges) abilities |= OCTOBLOOM_CAN_MERGE;
  if (row->grows) abilities |= OCTOBLOOM_CAN_GROW;
  if (row->forgets) abilities |= OCTOBLOOM_CAN_FORGET;
  return abilities;
}

// ---- from and to

octobloom_status octobloom_filter_create(const octobloom_create_options* options,
                                         octobloom_filter** filter) {
  octobloom_create_options given{};
  return create(filter, given.engine, [&] {
    given = read_sized(&deref(options, "options"), "octobloom_create_options");
    return any_filter::make(request_of(given));
  });
}

void octobloom_filter_destroy(octobloom_filter* filter) {
  delete filter;
}

octobloom_status octobloom_filter_load(const char* path, const octobloom_load_options* options,
                                       octobloom_filter** filter) {
  octobloom_load_options given{};
  return create(filter, given.engine, [&] {
    given = read_sized(options, "octobloom_load_options");
    filter_reader file(&deref(path, "path"));
    return decode(file, given);
  });
}

octobloom_status octobloom_filter_from_bytes(const void* bytes, uint64_t size,
                                             const octobloom_load_options* options,
                                             octobloom_filter** filter) {
  octobloom_load_options given{};
  return create(filter, given.engine, [&] {
    given = read_sized(options, "octobloom_load_options");
    const auto& first = deref(static_cast<const std::byte*>(bytes), "bytes");
    filter_reader from(std::span(&first, size));
    return decode(from, given);
  });
}

octobloom_status octobloom_filter_save(const octobloom_filter* filter, const char* path) {
  return guarded([&] { deref(filter, "filter").held.filter().save(&deref(path, "path")); });
}

octobloom_status octobloom_filter_to_bytes(const octobloom_filter* filter, void* bytes,
                                           uint64_t capacity, uint64_t* size) {
  return guarded([&] {
    const auto& held = deref(filter, "filter").held;
    std::uint64_t& told = deref(size, "size");
    const std::uint64_t needed = held.unsettled().bytes_size();
    if (bytes != nullptr) {
      if (capacity < needed) {
        refuse("the filter has " + std::to_string(needed) + " bytes, the memory for them " +
               std::to_string(capacity));
      }
      auto* to = static_cast<std::byte*>(bytes);
      held.filter().write([&to](std::span<const std::byte> piece) {
        to = std::copy(piece.begin(), piece.end(), to);
      });
    }
    told = needed;
  });
}

octobloom_status octobloom_filter_use(octobloom_filter* filter, const char* engine) {
  return guarded([&] {
    auto& held = deref(filter, "filter").held;
    const octobloom::engine& next = find_engine(&deref(engine, "engine"));
    if (&next == &held.engine()) return;
    (void)held.home();  // what can fail comes first
    held = opened(std::move(held).close(), next);
  });
}

const char* octobloom_filter_engine(const octobloom_filter* filter) {
  return filter->held.engine().name;
}

// ---- many keys

octobloom_status octobloom_filter_insert(octobloom_filter* filter, const octobloom_keys* keys,
                                         const octobloom_call_options* options) {
  return guarded([&] {
    call_for_many(filter, options, [&](auto& f, const bulk_options& o) {
      f.insert(keys_of(keys), o);
      return std::uint64_t{0};
    });
  });
}

octobloom_status octobloom_filter_insert_new(octobloom_filter* filter, const octobloom_keys* keys,
                                             const octobloom_call_options* options, uint8_t* bitmap,
                                             uint64_t* fresh) {
  return guarded([&] {
    give(call_for_many(filter, options,
                       [&](auto& f, const bulk_options& o) {
                         return f.insert_new(keys_of(keys), bitmap, o);
                       }),
         fresh);
  });
}

octobloom_status octobloom_filter_may_contain(const octobloom_filter* filter,
                                              const octobloom_keys* keys,
                                              const octobloom_call_options* options,
                                              uint8_t* bitmap, uint64_t* found) {
  return guarded([&] {
    give(call_for_many(filter, options,
                       [&](auto& f, const bulk_options& o) {
                         return f.may_contain(keys_of(keys), bitmap, o);
                       }),
         found);
  });
}

octobloom_status octobloom_filter_remove(octobloom_filter* filter, const octobloom_keys* keys,
                                         const octobloom_call_options* options, uint8_t* bitmap,
                                         uint64_t* removed) {
  return guarded([&] {
    give(call_for_many(
             filter, options,
             [&](auto& f, const bulk_options& o) { return f.remove(keys_of(keys), bitmap, o); }),
         removed);
  });
}

// ---- single keys

int32_t octobloom_filter_insert_hash(octobloom_filter* filter, uint64_t hash, int32_t family) {
  return guarded_answer([&] {
    filter->held.home().insert_hash(hash, hash_family_of(family));
    return true;
  });
}

int32_t octobloom_filter_insert_new_hash(octobloom_filter* filter, uint64_t hash, int32_t family) {
  return guarded_answer(
      [&] { return filter->held.home().insert_new_hash(hash, hash_family_of(family)); });
}

int32_t octobloom_filter_may_contain_hash(const octobloom_filter* filter, uint64_t hash,
                                          int32_t family) {
  return guarded_answer(
      [&] { return filter->held.filter().may_contain_hash(hash, hash_family_of(family)); });
}

int32_t octobloom_filter_remove_hash(octobloom_filter* filter, uint64_t hash, int32_t family) {
  return guarded_answer(
      [&] { return filter->held.home().remove_hash(hash, hash_family_of(family)); });
}

// ---- whole filters

octobloom_status octobloom_filter_merge(octobloom_filter* filter, const octobloom_filter* other) {
  return guarded(
      [&] { deref(filter, "filter").held.home().merge(deref(other, "other").held.filter()); });
}

octobloom_status octobloom_filter_clear(octobloom_filter* filter) {
  return guarded([&] { deref(filter, "filter").held.home().clear(); });
}

octobloom_status octobloom_filter_accept_any_family(octobloom_filter* filter, int32_t any) {
  return guarded([&] { deref(filter, "filter").held.home().accept_any_family(any != 0); });
}

octobloom_status octobloom_filter_snapshot(const octobloom_filter* filter,
                                           octobloom_filter** snapshot) {
  return create(snapshot, nullptr, [&]() -> any_filter {
    const any_filter& held = deref(filter, "filter").held.filter();
    if (const auto* counting = held.get_if<counting_filter>()) return counting->snapshot();
    return plain_in(held, "snapshot").copy();
  });
}

octobloom_status octobloom_filter_get_facts(const octobloom_filter* filter,
                                            octobloom_facts* facts) {
  return guarded([&] {
    const any_filter& held = deref(filter, "filter").held.unsettled();
    octobloom_facts& out = deref(facts, "facts");
    const encoded_filter encoded = held.encode();
    const file_header& header = encoded.header;
    octobloom_facts result{};
    result.kind = static_cast<std::int32_t>(header.kind);
    result.callers_hashes = callers_hashes(header.shape.hashing);
    result.seed = header.shape.seed;
    result.blocks = header.shape.blocks;
    result.k = header.shape.k;
    result.families = header.families;
    result.levels = 1;
    if (const auto* growing = held.get_if<growing_filter>()) {
      result.levels = static_cast<std::uint32_t>(growing->levels().size());
    } else if (const auto* windowed = held.get_if<windowed_filter>()) {
      result.levels = static_cast<std::uint32_t>(windowed->layers().size());
    }
    result.bytes = encoded.bytes_size() - file_header_bytes - encoded.table.size();
    result.file_bytes = encoded.bytes_size();
    result.planned_keys = header.planned_keys;
    result.target_fpr = header.target_fpr;
    result.inserted_keys = header.inserted_keys;
    write_sized(result, out, "octobloom_facts");
  });
}

void octobloom::c::give_statistics(const filter_statistics& statistics, saturation verdict,
                                   octobloom_statistics* out) {
  octobloom_statistics result{};
  result.fill = statistics.fill;
  result.estimated_keys = statistics.estimated_keys.value_or(-1);
  result.current_fpr = statistics.current_fpr;
  result.fpr_error = statistics.fpr_error;
  result.verdict = static_cast<std::int32_t>(verdict);
  write_sized(result, deref(out, "statistics"), "octobloom_statistics");
}

octobloom_status octobloom_filter_get_statistics(const octobloom_filter* filter,
                                                 octobloom_statistics* statistics) {
  return guarded([&] {
    const filter_facts facts = facts_of(deref(filter, "filter").held.filter());
    give_statistics({.fill = facts.fill,
                     .estimated_keys = facts.estimated_keys,
                     .current_fpr = facts.current_fpr,
                     .fpr_error = facts.fpr_error},
                    facts.verdict, statistics);
  });
}

octobloom_status octobloom_filter_get_view(octobloom_filter* filter, octobloom_view* view) {
  return guarded([&] {
    octobloom_filter& owner = deref(filter, "filter");
    octobloom_view& out = deref(view, "view");
    const filter_view inside = plain_in(owner.held.home(), "memory of bits to view").view();
    owner.view_given = true;
    out = {inside.words(), inside.blocks(), inside.k(), inside.seed(),
           callers_hashes(inside.shape().hashing)};
  });
}

octobloom_status octobloom_filter_count_inserted(octobloom_filter* filter, uint64_t keys,
                                                 int32_t family) {
  return guarded([&] {
    auto& plain = plain_in(deref(filter, "filter").held.home(), "count of its own to add to");
    if (family == 0) return plain.count_inserted(keys);
    plain.count_inserted(keys, hash_family_of(family));
  });
}
