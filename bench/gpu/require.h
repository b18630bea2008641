#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace octobloom::bench {

/// Throws when the runtime refused; `what` completes "cannot …". The next caller is not told again.
inline void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  throw std::runtime_error(std::string("cannot ") + what + " (" + cudaGetErrorName(status) + ": " +
                           cudaGetErrorString(status) + ")");
}

}  // namespace octobloom::bench
