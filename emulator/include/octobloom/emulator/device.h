#pragma once

#include <driver_types.h>

#include <cstdint>
#include <string>

/// A GPU that is not there: a CUDA runtime whose kernels are the compiled PTX, interpreted on the
/// CPU, and whose streams run as late, as early or as mixed up as CUDA lets them. A program that is
/// linked with it runs all of its CUDA code, and finds what a forgiving device would hide:
///
/// - memory that is used before it is allocated or after it is freed, in the order of the streams;
///   addresses outside what was allocated; device memory touched by the host;
/// - copies and kernels that nothing orders;
/// - calls that a real runtime refuses: too much shared memory, dead handles, empty grids;
/// - at the end of the program: memory, streams and events that nobody gave back.
///
/// A wrong use of the runtime ends the program with a message. A fault in a kernel is told on
/// stderr and is from then on the answer of every call, as on a device.
///
/// OCTOBLOOM_EMULATED_SCHEDULE is `late` (what is queued runs when somebody waits for it), `early`
/// (at once) or a number (mixed up, the same way for the same number; 1 when it is not set).
/// OCTOBLOOM_EMULATED_MEMORY is the size of the device's memory in bytes; 2 GiB when it is not set.
namespace octobloom::emulated_device {

/// As OCTOBLOOM_EMULATED_SCHEDULE. Runs what is queued.
void set_schedule(const std::string& schedule);

/// How often the program asked the runtime for something that can fail, so far.
[[nodiscard]] std::uint64_t calls();

/// Bytes that were copied between host and device so far. Runs what is queued.
struct traffic {
  std::uint64_t to_device = 0;
  std::uint64_t to_host = 0;
};
[[nodiscard]] traffic copied_bytes();

/// The n-th such call from now (from 1) does nothing and answers with `status`; 0: none does.
void fail_call(std::uint64_t n, cudaError_t status);

/// The name of the call that was made to fail, empty when it was not reached.
[[nodiscard]] std::string failed_call();

/// Bytes of device and page-locked memory that are taken now. Runs what is queued.
[[nodiscard]] std::uint64_t bytes_in_use();

/// Streams and events that are not destroyed.
[[nodiscard]] std::uint64_t handles_in_use();

}  // namespace octobloom::emulated_device
