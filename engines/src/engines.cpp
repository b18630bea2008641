#include <octobloom/engines.h>

#include <array>
#include <cstdlib>
#include <string>

#include <octobloom/error.h>
#ifdef OCTOBLOOM_WITH_SIMD
#include <octobloom/simd_engine.h>
#endif
#ifdef OCTOBLOOM_WITH_CUDA
#include <octobloom/cuda_engine.h>
#endif

namespace octobloom {

namespace {

/// Names that exist in the project, for a clear word about those that were not built.
constexpr std::array<std::string_view, 3> known_names{"reference", "simd", "cuda"};

const auto& table() noexcept {
  static const std::array engines{
      &reference_engine(),
#ifdef OCTOBLOOM_WITH_SIMD
      &simd_engine(),
#endif
#ifdef OCTOBLOOM_WITH_CUDA
      &cuda_engine(),
#endif
  };
  return engines;
}

const engine& automatic() {
  // Who forces an instruction set wants the engine that has it, or to hear why not.
  if (const char* target = std::getenv("OCTOBLOOM_TARGET"); target != nullptr && *target != '\0') {
    return find_engine("simd");
  }
  // Keys that are in host memory do not reach an accelerator faster than a core reads them, so the
  // choice is among the engines of the CPU: the last one that runs here.
  const engine* best = &reference_engine();
  for (const engine* candidate : table()) {
    if (std::string_view(candidate->name) != "cuda" && candidate->why_unavailable().empty()) {
      best = candidate;
    }
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

const engine& find_engine(std::string_view name) {
  if (name == "auto") return automatic();
  for (const engine* e : table()) {
    if (name != e->name) continue;
    if (const std::string reason = e->why_unavailable(); !reason.empty()) {
      throw error(error_code::engine_unavailable,
                  "the engine \"" + std::string(name) + "\" cannot run here: " + reason);
    }
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
