#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <octobloom/emulator/device.h>
#include "device/images.h"
#include "device/memory.h"
#include "device/misuse.h"
#include "device/streams.h"

namespace octobloom::emulated_device {

inline constexpr int multiprocessors = 4;
inline constexpr int shared_bytes = 48 << 10;
inline constexpr int shared_bytes_opt_in = 227 << 10;
// Small, so that filters beyond it are quickly made.
inline constexpr int l2_bytes = 1 << 20;
inline constexpr int persisting_l2_bytes = l2_bytes / 2;

struct recorded_event {
  bool timing;
  operation_ptr record;
};

/// All that the runtime knows, of both devices. Its functions hold `mutex` while they use it.
class device {
 public:
  static device& instance();

  std::recursive_mutex mutex;
  memory memory_of;
  stream_scheduler streams;
  std::vector<std::unique_ptr<image>> images;
  std::map<const void*, kernel> kernels;
  std::map<void*, std::unique_ptr<recorded_event>> events;
  std::map<void*, cudaAccessPolicyWindow> windows;
  std::size_t persisting_limit = 0;
  static thread_local cudaError_t last_error;
  static thread_local int current;
  cudaError_t broken = cudaSuccess;  ///< what a device answers to everything after a fault

  traffic copied;

  // Failures that a test asks for.
  std::uint64_t calls = 0;
  std::uint64_t call_to_fail = 0;
  cudaError_t failure = cudaSuccess;
  std::string failed_call;

  /// What the runtime answers and remembers.
  static cudaError_t answer(cudaError_t status);
  /// From now on, every call is answered with `status`.
  void fault(cudaError_t status, const std::string& what);

  /// They end the program when there is no such stream, event or kernel.
  [[nodiscard]] stream_queue& checked(cudaStream_t stream) {
    return streams.checked(stream, current);
  }
  [[nodiscard]] recorded_event& checked(cudaEvent_t event);
  [[nodiscard]] kernel& checked_kernel(const void* function);

  [[nodiscard]] std::uint64_t handles_in_use() const { return events.size() + streams.in_use(); }
  /// The newest that there is code for, times ten.
  [[nodiscard]] int capability() const;

  // They queue work, and answer what is wrong with it at once.
  cudaError_t launch(kernel& launched, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                     cudaStream_t on);
  cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                   cudaStream_t on);
  cudaError_t fill(void* to, int value, std::size_t bytes, cudaStream_t on);

 private:
  device();
  void end();
  void interpret(const kernel& launched, int number, dim3 grid, dim3 block, const parameters& given,
                 std::size_t shared);

  std::uint64_t launches_ = 0;
};

/// Runs a call of the runtime that can fail. `f` gets the device.
template <class F>
cudaError_t call(const char* name, F f) {
  device& on = device::instance();
  const std::lock_guard lock(on.mutex);
  ++on.calls;
  if (on.call_to_fail != 0 && --on.call_to_fail == 0) {
    on.failed_call = name;
    return device::answer(on.failure);
  }
  if (on.broken != cudaSuccess) return device::answer(on.broken);
  const cudaError_t status = f(on);
  return device::answer(status != cudaSuccess ? status : on.broken);
}

/// One that is part of cleaning up, and is let succeed.
template <class F>
cudaError_t clean_up(F f) {
  device& on = device::instance();
  const std::lock_guard lock(on.mutex);
  if (on.broken != cudaSuccess) return device::answer(on.broken);
  f(on);
  return cudaSuccess;
}

}  // namespace octobloom::emulated_device
