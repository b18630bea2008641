#include "keys.h"

#include <span>
#include <string>

#include <octobloom/engines.h>

#include "sized.h"

namespace octobloom::c {

namespace {

static_assert(OCTOBLOOM_FAMILY_INTEGERS == static_cast<int>(key_family::integers));
static_assert(OCTOBLOOM_FAMILY_FLOATS == static_cast<int>(key_family::floats));
static_assert(OCTOBLOOM_FAMILY_STRINGS == static_cast<int>(key_family::strings));
static_assert(OCTOBLOOM_FAMILY_COMPOSITES == static_cast<int>(key_family::composites));
static_assert(OCTOBLOOM_FAMILY_HASHES == static_cast<int>(key_family::hashes));

key_batch strings_of(const octobloom_keys& keys) {
  static constexpr std::uint64_t no_offsets = 0;
  if (keys.count > 0) deref(keys.offsets, "the keys' offsets");
  const string_keys strings{keys.bytes, keys.count > 0 ? keys.offsets : &no_offsets, keys.count,
                            keys.separator};
  if (const std::size_t i = strings.first_invalid(); i < strings.count) {
    refuse("the keys' offsets give string " + std::to_string(i) + " no length: from " +
           std::to_string(strings.offsets[i]) + " to " + std::to_string(strings.offsets[i + 1]) +
           ", less a separator of " + std::to_string(strings.separator));
  }
  if (strings.offsets[strings.count] > strings.offsets[0]) deref(keys.bytes, "the keys' bytes");
  return key_batch::strings(strings);
}

}  // namespace

key_family hash_family_of(std::int32_t family) {
  if (family == 0) return key_family::hashes;
  for (const key_family one : all_families) {
    if (family == static_cast<std::int32_t>(one)) return one;
  }
  refuse("a family is 0, 1, 2, 4, 8 or 16, not " + std::to_string(family));
}

key_batch keys_of(const octobloom_keys* source) {
  const octobloom_keys& keys = deref(source, "keys");
  if (keys.kind == OCTOBLOOM_STRINGS) return strings_of(keys);
  if (keys.kind != OCTOBLOOM_INTEGERS && keys.kind != OCTOBLOOM_HASHES) {
    refuse("the keys' kind is 0, 1 or 2, not " + std::to_string(keys.kind));
  }
  if (keys.count > 0) deref(keys.values, "the keys' values");
  const std::span values(keys.values, keys.count);
  const key_family family = hash_family_of(keys.family);
  if (keys.kind == OCTOBLOOM_HASHES) return key_batch::hashes(values, family);
  if (family == key_family::floats) return key_batch::floats(values);
  if (keys.family != 0 && family != key_family::integers) {
    refuse("the family of integers is 0, 1 or, for the bits of doubles, 2, not " +
           std::to_string(keys.family));
  }
  return key_batch::integers(values);
}

bulk_options options_of(const octobloom_call_options* source) {
  const octobloom_call_options given = read_sized(source, "octobloom_call_options");
  bulk_options options;
  options.threads = given.threads == OCTOBLOOM_ALL_THREADS ? 0 : given.threads;
  if (given.threads == 0) options.threads = 1;
  options.any_family = given.any_family != 0;
  if (given.engine != nullptr) options.engine = &find_engine(given.engine);
  return options;
}

key_hashing hashing_of(std::int32_t callers_hashes) noexcept {
  return callers_hashes != 0 ? key_hashing::caller : key_hashing::xxh64;
}

std::int32_t callers_hashes(key_hashing hashing) noexcept {
  return hashing == key_hashing::caller ? 1 : 0;
}

}  // namespace octobloom::c

uint64_t octobloom_hash_bytes(const void* bytes, size_t size, uint64_t seed) {
  return octobloom::xxh64(static_cast<const std::byte*>(bytes), size, seed);
}

uint64_t octobloom_hash_integer(uint64_t value, uint64_t seed) {
  return octobloom::hash_integer(value, seed);
}

uint64_t octobloom_hash_double(double value, uint64_t seed) {
  return octobloom::key_hash(value, seed);
}

const char* octobloom_default_engine(void) {
  const char* name = nullptr;
  octobloom::c::guarded([&] { name = octobloom::default_engine().name; });
  return name;
}

octobloom_status octobloom_engine_require(const char* engine) {
  return octobloom::c::guarded(
      [&] { (void)octobloom::find_engine(&octobloom::c::deref(engine, "engine")); });
}
