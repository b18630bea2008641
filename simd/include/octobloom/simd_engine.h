#pragma once

#include <string>
#include <vector>

#include <octobloom/engine.h>

/// The engine for the CPU's vector units. Bits and answers are the reference's; docs/simd.md tells
/// how they come about faster.
namespace octobloom {

/// Chooses, once, the best instruction set of this processor, or the one that the environment's
/// OCTOBLOOM_TARGET names. When that one is not there, why_unavailable() says so, and the bulk
/// operations throw error{engine_unavailable}.
[[nodiscard]] const engine& simd_engine() noexcept;

/// The instruction sets ("targets", by Highway's names: AVX3, AVX2, SSE4, SSSE3, NEON, SVE, SCALAR,
/// EMU128 …) that are compiled in and that this processor has, best first. Never empty.
[[nodiscard]] std::vector<std::string> simd_targets();

/// Work by parts keeps its memory for the next call (the system may reclaim the pages meanwhile).
/// Gives it back.
void simd_release_memory() noexcept;

}  // namespace octobloom
