#pragma once

#include <span>
#include <string_view>

#include <octobloom/engine.h>

/// The one place that knows every engine.
namespace octobloom {

/// The engines that were built, slowest first: "reference", then "simd", then "cuda". A built
/// engine may still be unavailable on this machine: ask its why_unavailable().
[[nodiscard]] std::span<const engine* const> all_engines() noexcept;

/// What find_engine() may be asked for: "auto" and every engine of the project, built or not.
[[nodiscard]] std::span<const std::string_view> engine_names() noexcept;

/// The engine of that name. "auto" is the fastest one that is available here for keys in host
/// memory. Throws error{engine_unavailable} for a name that is unknown, not built, or cannot run
/// here, and says which; never falls back.
[[nodiscard]] const engine& find_engine(std::string_view name);

/// default_engine() of programs that link this room: the environment's OCTOBLOOM_ENGINE when that
/// is set and not empty, otherwise find_engine("auto"). Decided once. Throws as find_engine does.
[[nodiscard]] const engine& choose_engine();

}  // namespace octobloom
