#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <octobloom/cuckoo_view.h>
#include <octobloom/filter_view.h>
#include <octobloom/keys.h>

namespace octobloom {

struct bulk_options {
  unsigned threads =
      1;  ///< 0: as many as the machine has cores; results are the same at any number
  /// Questions: go on where keys of their family were never inserted, instead of error{wrong_key}.
  bool any_family = false;
};

/// One way to run the bulk operations. All engines give identical filter bytes and answers; they
/// differ in speed. A row of a table: no state, and every function is safe to call from any thread
/// as long as writers have the filter to themselves.
///
/// `bitmap` receives one bit a key (bitmap_bytes(keys.size()) bytes, tail zero) and may be null
/// when only the count is wanted. The functions return the number of bits set.
struct engine {
  const char* name;

  /// Empty when the engine can run here; otherwise what is missing.
  std::string (*why_unavailable)();

  /// Adds every key.
  void (*insert)(const filter_view&, const key_batch&, const bulk_options&);

  /// Tells which keys may be in the filter.
  std::uint64_t (*may_contain)(const const_filter_view&, const key_batch&, std::uint8_t* bitmap,
                               const bulk_options&);

  /// Tells for each key, in input order, whether it was absent, and then inserts it.
  std::uint64_t (*insert_new)(const filter_view&, const key_batch&, std::uint8_t* bitmap,
                              const bulk_options&);

  /// Tells which keys may be in a cuckoo filter.
  std::uint64_t (*cuckoo_may_contain)(const cuckoo_view&, const key_batch&, std::uint8_t* bitmap,
                                      const bulk_options&);

  /// Writes the hash of every key to `hashes` (keys.size() of them).
  void (*hash)(const key_batch&, std::uint64_t seed, std::uint64_t* hashes, const bulk_options&);
};

/// The plain scalar engine: the definition that the others are checked against.
[[nodiscard]] const engine& reference_engine() noexcept;

/// The engine that filters use for bulk operations when none is named: the reference, unless a
/// chooser was installed (including <octobloom/octobloom.h> installs the one that knows every
/// engine that was built). Throws error{engine_unavailable} when the environment forces one that
/// cannot run.
[[nodiscard]] const engine& default_engine();

using engine_chooser = const engine& (*)();

/// Installs what default_engine() asks. Thread safe; the last call wins; null restores the
/// reference.
void set_engine_chooser(engine_chooser chooser) noexcept;

}  // namespace octobloom
