#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <octobloom/cuckoo_view.h>
#include <octobloom/filter_view.h>
#include <octobloom/keys.h>

namespace octobloom {

struct engine;

namespace detail {
class open_filters;
}

struct bulk_options {
  unsigned threads =
      1;  ///< 0: as many as the machine has cores; results are the same at any number
  /// Questions: go on where keys of their family were never inserted, instead of error{wrong_key}.
  bool any_family = false;
  /// Who does the work; null: default_engine(). Writing to the kinds that go key by key (counting,
  /// cuckoo, shared) stays on the CPU, whoever is named.
  const octobloom::engine* engine = nullptr;
  /// Set by opened<Filter> for its calls: what the engine holds between them.
  detail::open_filters* open = nullptr;
};

/// A filter as an engine holds it between calls, in the memory of a device for instance. It has
/// its own copy of the words. Several threads may ask may_contain at once; the others need it to
/// themselves. Calls throw as the engine's own do.
class opened_filter {
 public:
  opened_filter() = default;
  opened_filter(const opened_filter&) = delete;
  opened_filter& operator=(const opened_filter&) = delete;
  virtual ~opened_filter() = default;

  virtual void insert(const key_batch& keys, const bulk_options& options) = 0;
  virtual std::uint64_t may_contain(const key_batch& keys, std::uint8_t* bitmap,
                                    const bulk_options& options) = 0;
  virtual std::uint64_t insert_new(const key_batch& keys, std::uint8_t* bitmap,
                                   const bulk_options& options) = 0;
  /// Writes all words of the filter as it is now.
  virtual void copy_to(std::uint64_t* words) = 0;
};

/// One way to run the bulk operations. All engines give identical filter bytes and answers; they
/// differ in speed. A row of a table: no state, and every function is safe to call from any thread
/// as long as writers have the filter to themselves.
///
/// `bitmap` receives one bit a key (bitmap_bytes(keys.size()) bytes, tail zero) and may be null
/// when only the count is wanted. The functions return the number of bits set.
///
/// A room may leave out the functions that say so: in find_engine() and all_engines() they are
/// those of the CPU then.
struct engine {
  const char* name;

  /// Whether "auto" may choose it for keys in host memory.
  bool automatic;

  /// Empty when the engine can run here; otherwise what is missing.
  std::string (*why_unavailable)();

  /// Takes a copy of a filter for the calls to come. Null: the engine works on the host's memory,
  /// and nothing is held.
  std::unique_ptr<opened_filter> (*open)(const const_filter_view&);

  /// Adds every key.
  void (*insert)(const filter_view&, const key_batch&, const bulk_options&);

  /// Tells which keys may be in the filter.
  std::uint64_t (*may_contain)(const const_filter_view&, const key_batch&, std::uint8_t* bitmap,
                               const bulk_options&);

  /// Tells for each key, in input order, whether it was absent, and then inserts it.
  std::uint64_t (*insert_new)(const filter_view&, const key_batch&, std::uint8_t* bitmap,
                              const bulk_options&);

  /// Tells which keys may be in a cuckoo filter. May be left out.
  std::uint64_t (*cuckoo_may_contain)(const cuckoo_view&, const key_batch&, std::uint8_t* bitmap,
                                      const bulk_options&);

  /// Writes the hash of every key to `hashes` (keys.size() of them). May be left out.
  void (*hash)(const key_batch&, std::uint64_t seed, std::uint64_t* hashes, const bulk_options&);
};

/// The plain scalar engine: the definition that the others are checked against.
[[nodiscard]] const engine& reference_engine() noexcept;

/// The engine of bulk operations that name none: choose_engine() of <octobloom/engines.h> wherever
/// octobloom::engines is linked (octobloom::octobloom brings it), the reference in programs that
/// link octobloom::core alone. Throws error{engine_unavailable} when the environment forces one
/// that cannot run.
[[nodiscard]] const engine& default_engine();

[[nodiscard]] inline const engine& engine_of(const bulk_options& options) {
  return options.engine != nullptr ? *options.engine : default_engine();
}

}  // namespace octobloom
