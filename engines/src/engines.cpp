#include <octobloom/engines.h>

#include <array>
#include <cstdlib>
#include <string>

#include <octobloom/detail/open_filters.h>
#include <octobloom/error.h>

#include "engine_rooms.h"

extern "C" const octobloom::engine* octobloom_linked_engine();

namespace octobloom {

namespace {

const engine& automatic();

/// What an engine leaves out is done by the fastest one of the CPU.
const engine& stand_in() {
  static const engine& cpu = automatic();
  return cpu;
}

/// The engines, whole.
const auto& table() noexcept {
  static const auto whole = [] {
    auto rows = engine_rows();
    static std::array<engine, std::tuple_size_v<decltype(rows)>> completed;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i]->cuckoo_may_contain != nullptr && rows[i]->hash != nullptr) continue;
      engine& row = completed[i] = *rows[i];
      if (row.cuckoo_may_contain == nullptr) {
        row.cuckoo_may_contain = [](const cuckoo_view& view, const key_batch& keys,
                                    std::uint8_t* bitmap, const bulk_options& options) {
          return stand_in().cuckoo_may_contain(view, keys, bitmap, options);
        };
      }
      if (row.hash == nullptr) {
        row.hash = [](const key_batch& keys, std::uint64_t seed, std::uint64_t* hashes,
                      const bulk_options& options) {
          stand_in().hash(keys, seed, hashes, options);
        };
      }
      rows[i] = &row;
    }
    return rows;
  }();
  return whole;
}

const engine& automatic() {
  // Who forces an instruction set wants the engine that has it, or to hear why not.
  if (const char* target = std::getenv("OCTOBLOOM_TARGET"); target != nullptr && *target != '\0') {
    return find_engine("simd");
  }
  const engine* best = &reference_engine();
  for (const engine* candidate : table()) {
    if (candidate->automatic && candidate->why_unavailable().empty()) best = candidate;
  }
  return *best;
}

std::string names() {
  std::string text = "auto";
  for (const engine* e : table()) text += std::string(", ") + e->name;
  return text;
}

}  // namespace

std::span<const engine* const> all_engines() noexcept {
  return table();
}

std::span<const std::string_view> engine_names() noexcept {
  return known_names;
}

const engine& find_engine(std::string_view name) {
  if (name == "auto") return automatic();
  for (const engine* e : table()) {
    if (name != e->name) continue;
    detail::require_available(*e);
    return *e;
  }
  for (const std::string_view known : known_names) {
    if (name == known) {
      throw error(error_code::engine_unavailable,
                  "the engine \"" + std::string(name) +
                      "\" is not part of this build; there are: " + names());
    }
  }
  throw error(error_code::engine_unavailable,
              "no engine is called \"" + std::string(name) + "\"; there are: " + names());
}

const engine& choose_engine() {
  static const engine& chosen = []() -> const engine& {
    const char* forced = std::getenv("OCTOBLOOM_ENGINE");
    return forced == nullptr || *forced == '\0' ? automatic() : find_engine(forced);
  }();
  return chosen;
}

}  // namespace octobloom

const octobloom::engine* octobloom_linked_engine() {
  return &octobloom::choose_engine();
}
