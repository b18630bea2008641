#include <octobloom/gpu/device.h>

#include <cuda_runtime_api.h>

#include <algorithm>

#include <octobloom/error.h>

#include "check.h"
#include "launch.h"

namespace octobloom::gpu {

namespace {

int attribute(cudaDeviceAttr which, int device) noexcept {
  int value = 0;
  detail::ignore(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

std::string in_words(cudaError_t status) {
  return std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status);
}

/// While it lives, the device that memory belongs to is current.
class on_device_of {
 public:
  explicit on_device_of(const void* memory) noexcept {
    cudaPointerAttributes about{};
    detail::ignore(cudaPointerGetAttributes(&about, memory));
    detail::ignore(cudaGetDevice(&before_));
    moved_ = about.type == cudaMemoryTypeDevice && about.device != before_;
    if (moved_) detail::ignore(cudaSetDevice(about.device));
  }
  on_device_of(const on_device_of&) = delete;
  on_device_of& operator=(const on_device_of&) = delete;
  ~on_device_of() {
    if (moved_) detail::ignore(cudaSetDevice(before_));
  }

 private:
  int before_ = 0;
  bool moved_ = false;
};

/// What a device answers to everything after a fault in a kernel.
bool is_lost(cudaError_t status) noexcept {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
      return true;
    default:
      return false;
  }
}

/// The oldest devices that there is machine code for.
constexpr int oldest_capability = 80;

}  // namespace

std::string why_unavailable() {
  int devices = 0;
  const cudaError_t counted = cudaGetDeviceCount(&devices);
  (void)cudaGetLastError();
  if (counted == cudaErrorInsufficientDriver) {
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    if (driver == 0) {
      return "no NVIDIA driver is installed (libcuda.so.1 was not found); install one, or use "
             "another engine";
    }
    return "the NVIDIA driver is too old: it supports CUDA " + std::to_string(driver / 1000) + "." +
           std::to_string(driver % 1000 / 10) + ", this build needs " +
           std::to_string(CUDART_VERSION / 1000) + "." +
           std::to_string(CUDART_VERSION % 1000 / 10) + "; update the driver";
  }
  if (counted == cudaErrorNoDevice || (counted == cudaSuccess && devices == 0)) {
    return "the NVIDIA driver shows no device (is CUDA_VISIBLE_DEVICES empty?)";
  }
  if (counted != cudaSuccess) return "the CUDA runtime cannot start (" + in_words(counted) + ")";

  int device = 0;
  if (const cudaError_t status = cudaGetDevice(&device); status != cudaSuccess) {
    (void)cudaGetLastError();
    return "there is no current device (" + in_words(status) + ")";
  }
  const int capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor, device) +
                         attribute(cudaDevAttrComputeCapabilityMinor, device);
  const auto image = static_cast<cudaError_t>(detail::probe_kernel_image());
  if (image == cudaSuccess) return {};
  const std::string which = "device " + std::to_string(device) + " has compute capability " +
                            std::to_string(capability / 10) + "." + std::to_string(capability % 10);
  if (capability < oldest_capability) return which + "; the kernels need 8.0 or newer";
  if (image == cudaErrorNoKernelImageForDevice || image == cudaErrorInvalidDeviceFunction ||
      image == cudaErrorUnsupportedPtxVersion) {
    return which + ", and this build has no kernel image for it (" + in_words(image) +
           "); build with CMAKE_CUDA_ARCHITECTURES set for it";
  }
  return which + ", and its kernels cannot be loaded (" + in_words(image) + ")";
}

void detail::require_device() {
  const std::string reason = why_unavailable();
  if (reason.empty()) return;
  int devices = 0;
  cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess) status = static_cast<cudaError_t>(probe_kernel_image());
  if (is_lost(status)) {
    check(status,
          "use it: an earlier kernel of this program has failed, and the device does nothing more "
          "for it");
  }
  ignore(status);
  throw error(error_code::engine_unavailable, "no GPU can be used: " + reason);
}

device_info current_device() {
  detail::require_device();
  const int device = detail::current_device_number();
  cudaDeviceProp properties;
  detail::check(cudaGetDeviceProperties(&properties, device), "ask for the device's properties");
  device_info info;
  info.name = properties.name;
  info.capability = 10 * properties.major + properties.minor;
  info.multiprocessors = static_cast<unsigned>(properties.multiProcessorCount);
  info.l2_bytes = static_cast<std::uint64_t>(properties.l2CacheSize);
  info.persisting_l2_bytes = static_cast<std::uint64_t>(properties.persistingL2CacheMaxSize);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  detail::check(cudaMemGetInfo(&free_bytes, &total_bytes), "ask for free memory");
  info.free_bytes = free_bytes;
  info.memory_bytes = total_bytes;
  // Two transfers a clock, in kilohertz, over a bus of so many bits.
  info.bandwidth = 2.0 * 1000.0 * attribute(cudaDevAttrMemoryClockRate, device) *
                   attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8;
  return info;
}

void synchronize(stream on) {
  detail::check(cudaStreamSynchronize(on), "wait for the stream");
}

allocator stream_ordered_allocator() noexcept {
  return {nullptr,
          [](void*, std::size_t bytes, stream on) {
            void* memory = nullptr;
            const std::string what = "allocate " + std::to_string(bytes) + " bytes";
            detail::check(cudaMallocAsync(&memory, bytes, on), what.c_str());
            return memory;
          },
          [](void*, void* memory, std::size_t, stream on) noexcept {
            const on_device_of scope(memory);  // whose default stream `on` may be
            // A context that is gone at exit has taken its memory with it.
            detail::ignore(cudaFreeAsync(memory, on));
          }};
}

l2_window::l2_window(stream on, const void* words, std::uint64_t bytes) : stream_(on) {
  const device_info device = current_device();
  const auto largest = static_cast<std::uint64_t>(
      attribute(cudaDevAttrMaxAccessPolicyWindowSize, detail::current_device_number()));
  const std::uint64_t window = std::min(bytes, largest);
  bytes_ = std::min(window, device.persisting_l2_bytes);
  if (bytes_ == 0) return;

  std::size_t limit = 0;
  detail::check(cudaDeviceGetLimit(&limit, cudaLimitPersistingL2CacheSize),
                "ask for the L2's part");
  limit_before_ = limit;
  const cudaError_t allowed = cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes_);
  if (allowed == cudaErrorUnsupportedLimit || allowed == cudaErrorNotSupported) {
    (void)cudaGetLastError();
    bytes_ = 0;  // a part of a device, or one that is shared: the cache is not ours to divide
    return;
  }
  detail::check(allowed, "set aside L2 cache");
  cudaStreamAttrValue value{};
  value.accessPolicyWindow.base_ptr = const_cast<void*>(words);
  value.accessPolicyWindow.num_bytes = window;
  // Of a filter that does not fit, so many of its lines that they do: all of them would evict each
  // other.
  value.accessPolicyWindow.hitRatio =
      static_cast<float>(static_cast<double>(bytes_) / static_cast<double>(window));
  value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  const cudaError_t status =
      cudaStreamSetAttribute(on, cudaStreamAttributeAccessPolicyWindow, &value);
  if (status != cudaSuccess) {
    detail::ignore(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, limit));
    detail::check(status, "keep a filter in the L2");
  }
}

l2_window::~l2_window() {
  if (bytes_ == 0) return;
  cudaStreamAttrValue value{};  // a window of no bytes
  detail::ignore(cudaStreamSetAttribute(stream_, cudaStreamAttributeAccessPolicyWindow, &value));
  detail::ignore(cudaCtxResetPersistingL2Cache());
  detail::ignore(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, limit_before_));
}

}  // namespace octobloom::gpu
