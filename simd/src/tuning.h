#pragma once

#include "kernels.h"

#include <octobloom/simd_hooks.h>

namespace octobloom::simd {

/// The kernels in force: an override's, the environment's, or the best. Throws
/// error{engine_unavailable} when a forced target is not there.
[[nodiscard]] const kernels& current_kernels();

/// The tuning in force.
[[nodiscard]] const simd_tuning& current_tuning() noexcept;

}  // namespace octobloom::simd
