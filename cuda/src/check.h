#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include <octobloom/error.h>

namespace octobloom::gpu::detail {

/// Throws octobloom::error when the runtime refused: {out_of_memory} for its memory errors,
/// {device} otherwise. `what` completes "cannot …".
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // or the next call would report it again
  const std::string reason =
      std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation) {
    throw error(error_code::out_of_memory,
                "out of memory for the GPU, cannot " + std::string(what) + " (" + reason + ")");
  }
  throw error(error_code::device,
              "the GPU reports an error, cannot " + std::string(what) + " (" + reason + ")");
}

/// Throws octobloom::error{engine_unavailable} where no device can be used.
void require_device();

[[nodiscard]] inline int current_device_number() {
  int number = 0;
  check(cudaGetDevice(&number), "ask for the current device");
  return number;
}

/// Throws octobloom::error{invalid_argument} when another device than `device` is current.
inline void require_current(int device, const char* what) {
  const int current = current_device_number();
  if (current == device) return;
  const std::string number = std::to_string(device);
  throw error(error_code::invalid_argument, std::string(what) + " is on device " + number +
                                                ", but device " + std::to_string(current) +
                                                " is current: call cudaSetDevice(" + number +
                                                ") first");
}

/// For what is cleaned up: nobody can be told, and the runtime must not tell the next caller.
inline void ignore(cudaError_t status) noexcept {
  if (status != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace octobloom::gpu::detail
