#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <octobloom/file.h>
#include <octobloom/statistics.h>

/// What there is to say of a filter, for those who show it: one struct for all kinds.
namespace octobloom {

class filter;
class mapped_filter;

/// How much of a filter is read for its facts.
enum class reading : std::uint8_t {
  whole,   ///< all of it: O(size)
  sample,  ///< as sampled_statistics_of(): a few milliseconds at any size
};

struct counter_facts {
  std::uint64_t bytes = 0;  ///< beside those of the bits
  /// Counters that will never go down again; not known from a sample.
  std::optional<std::uint64_t> saturated;
};

struct slot_facts {
  std::uint64_t slots = 0;
  std::uint64_t taken = 0;
  std::uint32_t fingerprint_bits = 0;
};

struct window_facts {
  bool by_time = false;
  std::uint64_t length = 0;  ///< nanoseconds, or events
  std::uint32_t parts = 0;
};

struct filter_facts : filter_record {
  filter_kind kind = filter_kind::plain;  ///< of the file that it is, or would be saved to
  std::uint64_t bytes = 0;                ///< of the bits or slots, all levels and layers
  key_families families = 0;              ///< of the keys inserted so far; 0: none, or not known
  /// Share of the bits that are set, or of the slots that are taken, 0 to 1. Windowed: of the
  /// layers that still answer.
  double fill = 0;
  /// Distinct keys: from the bits; growing and windowed: those told new; cuckoo: the slots taken.
  /// Empty when every bit is set.
  std::optional<double> estimated_keys;
  double current_fpr = 0;  ///< the chance that a new, random key is taken for a known one
  double fpr_error = 0;    ///< its standard deviation over seeds; 0 for slots
  plan_use use = plan_use::unplanned;
  saturation verdict = saturation::fine;

  std::vector<filter_record> levels;      ///< growing, the oldest first; keys are those told new
  std::optional<counter_facts> counters;  ///< counting
  std::optional<slot_facts> slots;        ///< cuckoo
  std::optional<window_facts> window;     ///< windowed
};

/// The other kinds have one beside their class. Thread safe as const calls on the filter are.
[[nodiscard]] filter_facts facts_of(const filter& filter, reading how = reading::whole);
[[nodiscard]] filter_facts facts_of(const mapped_filter& filter, reading how = reading::whole);

}  // namespace octobloom
