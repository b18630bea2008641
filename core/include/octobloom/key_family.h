#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <octobloom/hash.h>

namespace octobloom {

/// What a key was before it became bytes. 5 and "5" are two keys: a question with a family that was
/// never inserted finds nothing but false positives, so it is taken for a mistake. The numbers are
/// the bits of a file's header.
enum class key_family : std::uint8_t {
  integers = 1,    ///< every width and sign, booleans, dates, times, decimals
  floats = 2,      ///< floating point
  strings = 4,     ///< strings and binary
  composites = 8,  ///< several columns together
  hashes = 16,     ///< ready hashes of whatever it was
};

/// A set of families, a bit each.
using key_families = std::uint8_t;

inline constexpr key_families all_key_families = 31;

/// Each of them, in the order of their bits.
inline constexpr std::array all_families{key_family::integers, key_family::floats,
                                         key_family::strings, key_family::composites,
                                         key_family::hashes};

[[nodiscard]] constexpr bool has_family(key_families set, key_family family) noexcept {
  return (set & static_cast<key_families>(family)) != 0;
}

/// The family of a single key's type.
template <class Key>
[[nodiscard]] constexpr key_family family_of() noexcept {
  if constexpr (integer_key<std::remove_cvref_t<Key>>) {
    return key_family::integers;
  } else if constexpr (float_key<std::remove_cvref_t<Key>>) {
    return key_family::floats;
  } else {
    return key_family::strings;
  }
}

/// "integers", "floating point", "strings", "composites", "hashes".
[[nodiscard]] std::string_view to_string(key_family family) noexcept;
/// "integers and strings"; "not known" for none.
[[nodiscard]] std::string describe_families(key_families set);

namespace detail {

/// The families of the keys in a filter, in one byte that threads may share: what is stated, or
/// that it is not known, since keys came in without a word. Not known absorbs: no statement that
/// comes later tells of the keys from before.
class family_record {
 public:
  constexpr family_record() noexcept = default;
  family_record(const family_record& other) noexcept : state_(other.load()) {}
  family_record& operator=(const family_record& other) noexcept {
    state_.store(other.load(), std::memory_order_relaxed);
    return *this;
  }
  ~family_record() = default;

  /// The stated families; 0 when nothing was inserted or something is not known.
  [[nodiscard]] key_families families() const noexcept {
    return static_cast<key_families>(load() & all_key_families);
  }

  /// Whether a question with keys of `family` makes no sense: others were inserted only.
  [[nodiscard]] bool is_strange(key_family family) const noexcept {
    return (load() & (bit(family) | empty | not_known | accept_any)) == 0;
  }
  /// Whether stating `family` would change something.
  [[nodiscard]] bool is_news(key_family family) const noexcept {
    return (load() & (bit(family) | not_known)) == 0;
  }
  [[nodiscard]] bool is_empty() const noexcept { return (load() & empty) != 0; }

  /// Keys of `family` come in. O(1); safe beside itself and questions.
  void state(key_family family) noexcept {
    if (is_news(family)) add(bit(family));
  }
  /// Keys come in of which nobody says what they are.
  void forget() noexcept {
    update([](unsigned s) { return (s & accept_any) | not_known; });
  }
  /// Keys of a file or of another filter come in: `families` 0 is not known where it `holds_keys`.
  void unite(key_families families, bool holds_keys) noexcept {
    if (families != 0) {
      add(families);
    } else if (holds_keys) {
      forget();
    }
  }
  void unite(const family_record& other) noexcept {
    const unsigned s = other.load();
    unite(static_cast<key_families>(s & all_key_families), (s & not_known) != 0);
  }
  /// Every key goes.
  void clear() noexcept {
    update([](unsigned s) { return (s & accept_any) | empty; });
  }
  void accept(bool any) noexcept {
    update([any](unsigned s) { return any ? s | accept_any : s & ~accept_any; });
  }

 private:
  static constexpr unsigned not_known = 32;
  static constexpr unsigned accept_any = 64;
  static constexpr unsigned empty = 128;

  static constexpr unsigned bit(key_family family) noexcept {
    return static_cast<unsigned>(family);
  }
  [[nodiscard]] std::uint8_t load() const noexcept {
    return state_.load(std::memory_order_relaxed);
  }

  void add(unsigned families) noexcept {
    update([families](unsigned s) { return (s & not_known) != 0 ? s : (s & ~empty) | families; });
  }
  template <class Change>
  void update(Change change) noexcept {
    std::uint8_t old = state_.load(std::memory_order_relaxed);
    while (!state_.compare_exchange_weak(old, static_cast<std::uint8_t>(change(old)),
                                         std::memory_order_relaxed)) {
    }
  }

  std::atomic<std::uint8_t> state_{empty};
};

/// Throws error{wrong_key} that says which families are in, which was asked for, and how to go on.
[[noreturn]] void refuse_family(key_families in, key_family asked);

}  // namespace detail

}  // namespace octobloom
