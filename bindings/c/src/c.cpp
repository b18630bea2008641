#include <octobloom/c.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include <octobloom/octobloom.h>

using octobloom::error;
using octobloom::error_code;
using octobloom::key_family;

struct octobloom_filter {
  octobloom::filter value;
};
struct octobloom_growing {
  octobloom::growing_filter value;
};
struct octobloom_counting {
  octobloom::counting_filter value;
};

namespace {

static_assert(OCTOBLOOM_INVALID_ARGUMENT == static_cast<int>(error_code::invalid_argument));
static_assert(OCTOBLOOM_VERDICT_OVER_FULL == static_cast<int>(octobloom::saturation::over_full));
static_assert(OCTOBLOOM_DEVICE == static_cast<int>(error_code::device));
static_assert(OCTOBLOOM_FAMILY_INTEGERS == static_cast<int>(key_family::integers));
static_assert(OCTOBLOOM_FAMILY_FLOATS == static_cast<int>(key_family::floats));
static_assert(OCTOBLOOM_FAMILY_STRINGS == static_cast<int>(key_family::strings));
static_assert(OCTOBLOOM_FAMILY_COMPOSITES == static_cast<int>(key_family::composites));
static_assert(OCTOBLOOM_FAMILY_HASHES == static_cast<int>(key_family::hashes));

thread_local std::array<char, 1024> last_message{};

octobloom_status failed(octobloom_status status, std::string_view message) noexcept {
  const std::size_t size = std::min(message.size(), last_message.size() - 1);
  std::memcpy(last_message.data(), message.data(), size);
  last_message[size] = '\0';
  return status;
}

/// Runs `action` and turns what it throws into a status.
template <class Action>
octobloom_status guarded(Action action) noexcept {
  try {
    action();
    return OCTOBLOOM_OK;
  } catch (const error& e) {
    return failed(static_cast<octobloom_status>(e.code()), e.what());
  } catch (const std::bad_alloc&) {
    return failed(OCTOBLOOM_OUT_OF_MEMORY, "the system refused memory");
  } catch (const std::exception& e) {
    return failed(OCTOBLOOM_INTERNAL, e.what());
  } catch (...) {
    return failed(OCTOBLOOM_INTERNAL, "unknown exception");
  }
}

[[noreturn]] void refuse(const std::string& message) {
  throw error(error_code::invalid_argument, message);
}

template <class T>
T& deref(T* pointer, const char* name) {
  if (pointer == nullptr) refuse(std::string(name) + " is null");
  return *pointer;
}

octobloom::key_hashing hashing_of(std::int32_t callers_hashes) noexcept {
  return callers_hashes != 0 ? octobloom::key_hashing::caller : octobloom::key_hashing::xxh64;
}

std::int32_t callers_hashes(octobloom::key_hashing hashing) noexcept {
  return hashing == octobloom::key_hashing::caller ? 1 : 0;
}

template <class Options>
Options options_of(const octobloom_options* options) {
  Options result;
  if (options != nullptr) {
    result.seed = options->seed;
    result.hashing = hashing_of(options->callers_hashes);
  }
  return result;
}

octobloom::plan plan_of(const octobloom_plan* source) {
  const octobloom_plan& plan = deref(source, "plan");
  octobloom::plan result = octobloom::plan_with_blocks(plan.blocks, plan.k);
  if (!(plan.target_fpr >= 0 && plan.target_fpr < 1)) {
    refuse("a plan's target rate is from 0 up to, not including, 1");
  }
  result.expected_keys = plan.expected_keys;
  result.target_fpr = plan.target_fpr;
  return result;
}

void give_plan(const octobloom::plan& plan, octobloom_plan* out) {
  deref(out, "plan") = {plan.expected_keys, plan.target_fpr, plan.blocks, plan.k,
                        plan.expected_fpr};
}

bool is_family(std::int32_t family) noexcept {
  switch (family) {
    case OCTOBLOOM_FAMILY_INTEGERS:
    case OCTOBLOOM_FAMILY_FLOATS:
    case OCTOBLOOM_FAMILY_STRINGS:
    case OCTOBLOOM_FAMILY_COMPOSITES:
    case OCTOBLOOM_FAMILY_HASHES:
      return true;
    default:
      return false;
  }
}

/// Of hashes whose family cannot be refused: what is no family is unnamed.
key_family family_or_hashes(std::int32_t family) noexcept {
  return is_family(family) ? static_cast<key_family>(family) : key_family::hashes;
}

void require_family(std::int32_t family) {
  if (family == 0 || is_family(family)) return;
  refuse("a family is 0, 1, 2, 4, 8 or 16, not " + std::to_string(family));
}

octobloom::key_batch keys_of(const octobloom_keys* source) {
  const octobloom_keys& keys = deref(source, "keys");
  if (keys.kind == OCTOBLOOM_STRINGS) {
    static constexpr std::uint64_t no_offsets = 0;
    if (keys.count > 0) deref(keys.offsets, "the keys' offsets");
    const octobloom::string_keys strings{keys.bytes, keys.count > 0 ? keys.offsets : &no_offsets,
                                         keys.count, keys.separator};
    if (const std::size_t i = strings.first_invalid(); i < strings.count) {
      refuse("the keys' offsets give string " + std::to_string(i) + " no length: from " +
             std::to_string(strings.offsets[i]) + " to " + std::to_string(strings.offsets[i + 1]) +
             ", less a separator of " + std::to_string(strings.separator));
    }
    if (strings.offsets[strings.count] > strings.offsets[0]) deref(keys.bytes, "the keys' bytes");
    return octobloom::key_batch::strings(strings);
  }
  if (keys.kind != OCTOBLOOM_INTEGERS && keys.kind != OCTOBLOOM_HASHES) {
    refuse("the keys' kind is 0, 1 or 2, not " + std::to_string(keys.kind));
  }
  if (keys.count > 0) deref(keys.values, "the keys' values");
  const std::span values(keys.values, keys.count);
  require_family(keys.family);
  if (keys.kind == OCTOBLOOM_HASHES) {
    return octobloom::key_batch::hashes(values, family_or_hashes(keys.family));
  }
  if (keys.family == OCTOBLOOM_FAMILY_FLOATS) return octobloom::key_batch::floats(values);
  if (keys.family != 0 && keys.family != OCTOBLOOM_FAMILY_INTEGERS) {
    refuse("the family of integers is 0, 1 or, for the bits of doubles, 2, not " +
           std::to_string(keys.family));
  }
  return octobloom::key_batch::integers(values);
}

void give(std::uint64_t value, std::uint64_t* out) noexcept {
  if (out != nullptr) *out = value;
}

template <class Handle, class Make>
octobloom_status create(Handle** out, Make make) noexcept {
  return guarded([&] {
    deref(out, "the place for the result");
    *out = std::make_unique<Handle>(Handle{make()}).release();
  });
}

template <class Handle>
octobloom_status load(const char* path, std::int32_t verify, Handle** out) noexcept {
  return create(out, [&] {
    using value = decltype(Handle::value);
    return value::load(&deref(path, "path"), {.verify_body = verify != 0});
  });
}

template <class Handle>
octobloom_status save(const Handle* filter, const char* path) noexcept {
  return guarded([&] { deref(filter, "filter").value.save(&deref(path, "path")); });
}

template <class Handle>
octobloom_status to_bytes(const Handle* filter, void* bytes, std::uint64_t capacity,
                          std::uint64_t* size) noexcept {
  return guarded([&] {
    const auto& value = deref(filter, "filter").value;
    std::uint64_t& told = deref(size, "size");
    const std::uint64_t needed = value.bytes_size();
    if (bytes != nullptr) {
      if (capacity < needed) {
        refuse("the filter has " + std::to_string(needed) + " bytes, the memory for them " +
               std::to_string(capacity));
      }
      auto* to = static_cast<std::byte*>(bytes);
      value.write([&to](std::span<const std::byte> piece) {
        to = std::copy(piece.begin(), piece.end(), to);
      });
    }
    told = needed;
  });
}

template <class Handle>
octobloom_status from_bytes(const void* bytes, std::uint64_t size, std::int32_t verify,
                            Handle** out) noexcept {
  return create(out, [&] {
    using value = decltype(Handle::value);
    const auto& first = deref(static_cast<const std::byte*>(bytes), "bytes");
    return value::from_bytes({&first, size}, {.verify_body = verify != 0});
  });
}

template <class Handle>
octobloom_status insert(Handle* filter, const octobloom_keys* keys,
                        std::uint32_t threads) noexcept {
  return guarded([&] { deref(filter, "filter").value.insert(keys_of(keys), {threads}); });
}

template <class Handle>
octobloom_status insert_new(Handle* filter, const octobloom_keys* keys, std::uint8_t* bitmap,
                            std::uint64_t* fresh, std::uint32_t threads) noexcept {
  return guarded([&] {
    give(deref(filter, "filter").value.insert_new(keys_of(keys), bitmap, {threads}), fresh);
  });
}

template <class Handle>
octobloom_status may_contain(const Handle* filter, const octobloom_keys* keys, std::uint8_t* bitmap,
                             std::uint64_t* found, std::uint32_t threads) noexcept {
  return guarded([&] {
    give(deref(filter, "filter").value.may_contain(keys_of(keys), bitmap, {threads}), found);
  });
}

template <class Handle>
octobloom_status merge(Handle* filter, const Handle* other) noexcept {
  return guarded([&] { deref(filter, "filter").value.merge(deref(other, "other").value); });
}

template <class Handle>
octobloom_status clear(Handle* filter) noexcept {
  return guarded([&] { deref(filter, "filter").value.clear(); });
}

template <class Handle>
octobloom_status accept_any_family(Handle* filter, std::int32_t any) noexcept {
  return guarded([&] { deref(filter, "filter").value.accept_any_family(any != 0); });
}

template <class Filter>
octobloom_info info_of(const Filter& filter, const octobloom::filter_shape& shape,
                       std::size_t levels, std::uint64_t bytes) {
  return {shape.blocks,
          shape.k,
          shape.seed,
          callers_hashes(shape.hashing),
          static_cast<std::uint32_t>(levels),
          bytes,
          filter.planned_keys(),
          filter.inserted_keys(),
          filter.target_fpr(),
          filter.families()};
}

octobloom_statistics told_by(const octobloom::const_filter_view& view, std::uint64_t planned_keys,
                             double target_fpr) {
  const octobloom::filter_statistics s = octobloom::statistics_of(view);
  const auto use = octobloom::use_of_plan(s, view.shape(), planned_keys, target_fpr);
  return {s.fill, s.estimated_keys.value_or(-1), s.current_fpr, s.fpr_error,
          static_cast<octobloom_verdict>(octobloom::judge(s, target_fpr, use))};
}

template <class Filter>
octobloom_statistics told_by(const Filter& filter) {
  return told_by(filter.view(), filter.planned_keys(), filter.target_fpr());
}

octobloom_statistics told_by(const octobloom::growing_filter& filter) {
  const octobloom::filter_facts facts = octobloom::facts_of(filter);
  return {facts.fill, facts.estimated_keys.value_or(-1), facts.current_fpr, facts.fpr_error,
          static_cast<octobloom_verdict>(facts.verdict)};
}

template <class Handle>
octobloom_status get_statistics(const Handle* filter, octobloom_statistics* statistics) noexcept {
  return guarded([&] { deref(statistics, "statistics") = told_by(deref(filter, "filter").value); });
}

octobloom::filter_view view_of(const octobloom_view* source) {
  const octobloom_view& view = deref(source, "view");
  deref(view.words, "the view's words");
  if (reinterpret_cast<std::uintptr_t>(view.words) % octobloom::rot8::bytes_per_block != 0) {
    refuse("a view's words have to be aligned to 64 bytes");
  }
  (void)octobloom::plan_with_blocks(view.blocks, view.k);  // refuses what is out of range
  return {view.words, {view.blocks, view.k, view.seed, hashing_of(view.callers_hashes)}};
}

octobloom::key_batch keys_for(const octobloom::filter_view& view, const octobloom_keys* source) {
  const octobloom::key_batch keys = keys_of(source);
  octobloom::detail::require_keys(view.shape().hashing, keys.kind());
  return keys;
}

}  // namespace

const char* octobloom_message(void) {
  return last_message.data();
}

const char* octobloom_status_name(octobloom_status status) {
  if (status == OCTOBLOOM_OK) return "ok";
  if (status == OCTOBLOOM_INTERNAL) return "internal";
  return octobloom::to_string(static_cast<error_code>(status)).data();
}

const char* octobloom_verdict_name(octobloom_verdict verdict) {
  return octobloom::to_string(static_cast<octobloom::saturation>(verdict)).data();
}

const char* octobloom_version(void) {
  return OCTOBLOOM_VERSION;
}

uint64_t octobloom_hash_bytes(const void* bytes, size_t size, uint64_t seed) {
  return octobloom::xxh64(static_cast<const std::byte*>(bytes), size, seed);
}

uint64_t octobloom_hash_integer(uint64_t value, uint64_t seed) {
  return octobloom::hash_integer(value, seed);
}

uint64_t octobloom_hash_double(double value, uint64_t seed) {
  return octobloom::key_hash(value, seed);
}

octobloom_status octobloom_plan_for(uint64_t keys, double fpr, octobloom_plan* plan) {
  return guarded([&] { give_plan(octobloom::plan_for(keys, fpr), plan); });
}

octobloom_status octobloom_plan_with_memory(uint64_t bytes, uint64_t keys, octobloom_plan* plan) {
  return guarded([&] { give_plan(octobloom::plan_with_memory(bytes, keys), plan); });
}

octobloom_status octobloom_plan_with_blocks(uint64_t blocks, uint32_t k, octobloom_plan* plan) {
  return guarded([&] { give_plan(octobloom::plan_with_blocks(blocks, k), plan); });
}

// ---- views

octobloom_status octobloom_view_insert(const octobloom_view* view, const octobloom_keys* keys,
                                       uint32_t threads) {
  return guarded([&] {
    const octobloom::filter_view target = view_of(view);
    octobloom::default_engine().insert(target, keys_for(target, keys), {threads});
  });
}

octobloom_status octobloom_view_insert_new(const octobloom_view* view, const octobloom_keys* keys,
                                           uint8_t* bitmap, uint64_t* fresh, uint32_t threads) {
  return guarded([&] {
    const octobloom::filter_view target = view_of(view);
    give(octobloom::default_engine().insert_new(target, keys_for(target, keys), bitmap, {threads}),
         fresh);
  });
}

octobloom_status octobloom_view_may_contain(const octobloom_view* view, const octobloom_keys* keys,
                                            uint8_t* bitmap, uint64_t* found, uint32_t threads) {
  return guarded([&] {
    const octobloom::filter_view source = view_of(view);
    give(octobloom::default_engine().may_contain(source, keys_for(source, keys), bitmap, {threads}),
         found);
  });
}

octobloom_status octobloom_view_get_statistics(const octobloom_view* view,
                                               octobloom_statistics* statistics) {
  return guarded([&] { deref(statistics, "statistics") = told_by(view_of(view), 0, 0); });
}

// ---- what all kinds do

// NOLINTBEGIN(bugprone-macro-parentheses): a type's name.
#define OCTOBLOOM_COMMON_FUNCTIONS(handle)                                                         \
  void handle##_destroy(handle* filter) {                                                          \
    delete filter;                                                                                 \
  }                                                                                                \
  octobloom_status handle##_load(const char* path, int32_t verify, handle** filter) {              \
    return load(path, verify, filter);                                                             \
  }                                                                                                \
  octobloom_status handle##_save(const handle* filter, const char* path) {                         \
    return save(filter, path);                                                                     \
  }                                                                                                \
  octobloom_status handle##_to_bytes(const handle* filter, void* bytes, uint64_t capacity,         \
                                     uint64_t* size) {                                             \
    return to_bytes(filter, bytes, capacity, size);                                                \
  }                                                                                                \
  octobloom_status handle##_from_bytes(const void* bytes, uint64_t size, int32_t verify,           \
                                       handle** filter) {                                          \
    return from_bytes(bytes, size, verify, filter);                                                \
  }                                                                                                \
  octobloom_status handle##_insert(handle* filter, const octobloom_keys* keys, uint32_t threads) { \
    return insert(filter, keys, threads);                                                          \
  }                                                                                                \
  octobloom_status handle##_insert_new(handle* filter, const octobloom_keys* keys,                 \
                                       uint8_t* bitmap, uint64_t* fresh, uint32_t threads) {       \
    return insert_new(filter, keys, bitmap, fresh, threads);                                       \
  }                                                                                                \
  octobloom_status handle##_may_contain(const handle* filter, const octobloom_keys* keys,          \
                                        uint8_t* bitmap, uint64_t* found, uint32_t threads) {      \
    return may_contain(filter, keys, bitmap, found, threads);                                      \
  }                                                                                                \
  octobloom_status handle##_clear(handle* filter) {                                                \
    return clear(filter);                                                                          \
  }                                                                                                \
  octobloom_status handle##_accept_any_family(handle* filter, int32_t any) {                       \
    return accept_any_family(filter, any);                                                         \
  }

// NOLINTEND(bugprone-macro-parentheses)

OCTOBLOOM_COMMON_FUNCTIONS(octobloom_filter)
OCTOBLOOM_COMMON_FUNCTIONS(octobloom_growing)
OCTOBLOOM_COMMON_FUNCTIONS(octobloom_counting)

// ---- plain

octobloom_status octobloom_filter_create(const octobloom_plan* plan,
                                         const octobloom_options* options,
                                         octobloom_filter** filter) {
  return create(filter, [&] {
    return octobloom::filter(plan_of(plan), options_of<octobloom::filter_options>(options));
  });
}

void octobloom_filter_insert_hash(octobloom_filter* filter, uint64_t hash, int32_t family) {
  filter->value.insert_hash(hash, family_or_hashes(family));
}

int32_t octobloom_filter_insert_new_hash(octobloom_filter* filter, uint64_t hash, int32_t family) {
  return filter->value.insert_new_hash(hash, family_or_hashes(family)) ? 1 : 0;
}

int32_t octobloom_filter_may_contain_hash(const octobloom_filter* filter, uint64_t hash,
                                          int32_t family) {
  bool found = false;
  const octobloom_status status =
      guarded([&] { found = filter->value.may_contain_hash(hash, family_or_hashes(family)); });
  return status == OCTOBLOOM_OK ? std::int32_t{found} : -static_cast<std::int32_t>(status);
}

octobloom_status octobloom_filter_count_inserted(octobloom_filter* filter, uint64_t keys,
                                                 int32_t family) {
  return guarded([&] {
    octobloom::filter& target = deref(filter, "filter").value;
    require_family(family);
    if (family == 0) {
      target.count_inserted(keys);
    } else {
      target.count_inserted(keys, static_cast<key_family>(family));
    }
  });
}

octobloom_status octobloom_filter_merge(octobloom_filter* filter, const octobloom_filter* other) {
  return merge(filter, other);
}

octobloom_status octobloom_filter_get_info(const octobloom_filter* filter, octobloom_info* info) {
  return guarded([&] {
    const octobloom::filter& source = deref(filter, "filter").value;
    deref(info, "info") = info_of(source, source.view().shape(), 1, source.bytes());
  });
}

octobloom_status octobloom_filter_get_statistics(const octobloom_filter* filter,
                                                 octobloom_statistics* statistics) {
  return get_statistics(filter, statistics);
}

octobloom_status octobloom_filter_get_view(octobloom_filter* filter, octobloom_view* view) {
  return guarded([&] {
    const octobloom::filter_view source = deref(filter, "filter").value.view();
    deref(view, "view") = {source.words(), source.blocks(), source.k(), source.seed(),
                           callers_hashes(source.shape().hashing)};
  });
}

// ---- growing

octobloom_status octobloom_growing_create(uint64_t initial_keys, double fpr, uint32_t growth,
                                          double grow_at, const octobloom_options* options,
                                          octobloom_growing** filter) {
  return create(filter, [&] {
    auto growing = options_of<octobloom::growing_options>(options);
    if (growth != 0) growing.growth = growth;
    if (grow_at != 0) growing.grow_at = grow_at;
    return octobloom::growing_filter(initial_keys, fpr, growing);
  });
}

octobloom_status octobloom_growing_get_info(const octobloom_growing* filter, octobloom_info* info) {
  return guarded([&] {
    const octobloom::growing_filter& source = deref(filter, "filter").value;
    deref(info, "info") = info_of(source, source.levels().back().view().shape(),
                                  source.levels().size(), source.bytes());
  });
}

octobloom_status octobloom_growing_get_statistics(const octobloom_growing* filter,
                                                  octobloom_statistics* statistics) {
  return get_statistics(filter, statistics);
}

// ---- counting

octobloom_status octobloom_counting_create(const octobloom_plan* plan,
                                           const octobloom_options* options,
                                           octobloom_counting** filter) {
  return create(filter, [&] {
    return octobloom::counting_filter(plan_of(plan),
                                      options_of<octobloom::filter_options>(options));
  });
}

octobloom_status octobloom_counting_remove(octobloom_counting* filter, const octobloom_keys* keys,
                                           uint8_t* bitmap, uint64_t* removed, uint32_t threads) {
  return guarded([&] {
    give(deref(filter, "filter").value.remove(keys_of(keys), bitmap, {threads}), removed);
  });
}

octobloom_status octobloom_counting_merge(octobloom_counting* filter,
                                          const octobloom_counting* other) {
  return merge(filter, other);
}

octobloom_status octobloom_counting_snapshot(const octobloom_counting* filter,
                                             octobloom_filter** snapshot) {
  return create(snapshot, [&] { return deref(filter, "filter").value.snapshot(); });
}

octobloom_status octobloom_counting_get_info(const octobloom_counting* filter,
                                             octobloom_info* info) {
  return guarded([&] {
    const octobloom::counting_filter& source = deref(filter, "filter").value;
    deref(info, "info") = info_of(source, source.view().shape(), 1, source.total_bytes());
  });
}

octobloom_status octobloom_counting_get_statistics(const octobloom_counting* filter,
                                                   octobloom_statistics* statistics) {
  return get_statistics(filter, statistics);
}
