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
                "the GPU is out of memory, cannot " + std::string(what) + " (" + reason + ")");
  }
  throw error(error_code::device,
              "the GPU reports an error, cannot " + std::string(what) + " (" + reason + ")");
}

/// Throws octobloom::error{engine_unavailable} where no device can be used.
void require_device();

/// For what is cleaned up: nobody can be told, and the runtime must not tell the next caller.
inline void ignore(cudaError_t status) noexcept {
  if (status != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace octobloom::gpu::detail
