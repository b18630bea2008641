#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include <octobloom/gpu/detail/bodies.h>

#include "check.h"
#include "launch.h"

namespace octobloom::gpu::detail {

inline int device_attribute(cudaDeviceAttr attribute) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, current_device_number()),
        "ask for a property of the device");
  return value;
}

/// How a kernel is spread over the device.
struct launch_shape {
  std::uint64_t work = 0;  ///< blocks that have something to do
  unsigned threads = block_threads;
  std::size_t shared = 0;  ///< bytes of dynamic shared memory
  /// Only as many blocks as run at the same time: work that lies side by side is then done at about
  /// the same time, and what is cached for it serves all of them.
  bool one_wave = false;
};

/// Launches a kernel over as many blocks as there is work for, at most a few for each place on a
/// multiprocessor: the loops in the kernels take the rest. Reports what the launch reports.
template <class... Parameters, class... Arguments>
void start(const place& at, void (*kernel)(Parameters...), const launch_shape& shape,
           const char* what, Arguments... arguments) {
  if (shape.work == 0) return;
  int blocks_of_each = 32;
  if (shape.one_wave) {
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
              &blocks_of_each, kernel, static_cast<int>(shape.threads), shape.shared),
          what);
  }
  const auto room = static_cast<std::uint64_t>(device_attribute(cudaDevAttrMultiProcessorCount) *
                                               std::max(blocks_of_each, 1));
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(std::min(shape.work, room)));
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared;
  config.stream = at.on;
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), what);
}

/// Blocks' worth of keys.
inline std::uint64_t turns(std::uint64_t keys) {
  return (keys + block_threads - 1) / block_threads;
}

}  // namespace octobloom::gpu::detail
