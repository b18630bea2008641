#pragma once

#include <octobloom/engine.h>

namespace octobloom {

/// The engine that runs on a GPU of NVIDIA. Keys and filter are in host memory: each call copies
/// the filter there, streams the keys past it, and for inserts copies it back, so it is for batches
/// that are large against the filter. Those who keep a filter on the device use <octobloom/gpu/…>.
///
/// Available only where there are a driver and a device that the kernels can run on; it links no
/// driver library, and its why_unavailable() says what is missing. Its functions throw
/// error{engine_unavailable}, {out_of_memory} when the filter does not fit the device, or {device};
/// the filter is then as it was.
[[nodiscard]] const engine& cuda_engine() noexcept;

}  // namespace octobloom
