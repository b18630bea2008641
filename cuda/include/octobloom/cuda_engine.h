#pragma once

#include <octobloom/engine.h>

namespace octobloom {

/// The row of the engine that runs on a GPU of NVIDIA, without the functions that a device lacks;
/// find_engine("cuda") has it whole. Opened on a filter (see <octobloom/opened.h>) it keeps the
/// filter on the device and streams the keys of each call past it. A call of its own copies the
/// filter there and, for inserts, back, so that is for batches that are large against the filter.
/// Those who have their keys on the device too use <octobloom/gpu/…>.
///
/// Available only where there are a driver and a device that the kernels can run on; it links no
/// driver library, and its why_unavailable() says what is missing. Its functions throw
/// error{engine_unavailable}, {out_of_memory} when the filter does not fit the device, or {device};
/// the filter is then as it was.
[[nodiscard]] const engine& cuda_engine() noexcept;

}  // namespace octobloom
