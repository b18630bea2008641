#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include <octobloom/gpu/detail/bodies.h>

#include "check.h"
#include "launch.h"

namespace octobloom::gpu::detail {

inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  check(cudaGetDevice(&device), "ask for the current device");
  check(cudaDeviceGetAttribute(&value, attribute, device), "ask for a property of the device");
  return value;
}

/// Launches a kernel over as many blocks as there is work for, at most a few for each place on a
/// multiprocessor: the loops in the kernels take the rest. Reports what the launch reports.
template <class... Parameters, class... Arguments>
void start(const place& at, void (*kernel)(Parameters...), std::uint64_t work, std::size_t shared,
           const char* what, Arguments... arguments) {
  if (work == 0) return;
  const auto room =
      static_cast<std::uint64_t>(device_attribute(cudaDevAttrMultiProcessorCount) * 32);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(std::min(work, room)));
  config.blockDim = dim3(block_threads);
  config.dynamicSmemBytes = shared;
  config.stream = at.on;
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), what);
}

/// Blocks' worth of keys.
inline std::uint64_t turns(std::uint64_t keys) {
  return (keys + block_threads - 1) / block_threads;
}

}  // namespace octobloom::gpu::detail
