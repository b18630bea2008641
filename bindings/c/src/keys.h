#pragma once

#include <octobloom/c.h>

#include <cstdint>

#include <octobloom/engine.h>
#include <octobloom/key_family.h>
#include <octobloom/keys.h>

/// What callers say of keys and calls, checked.
namespace octobloom::c {

[[nodiscard]] key_batch keys_of(const octobloom_keys* source);

/// 0: of hashes that nobody says more of.
[[nodiscard]] key_family hash_family_of(std::int32_t family);

/// With the engine that is named; null when none is.
[[nodiscard]] bulk_options options_of(const octobloom_call_options* source);

[[nodiscard]] key_hashing hashing_of(std::int32_t callers_hashes) noexcept;
[[nodiscard]] std::int32_t callers_hashes(key_hashing hashing) noexcept;

}  // namespace octobloom::c
