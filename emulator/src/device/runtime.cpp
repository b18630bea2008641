// The part of the CUDA runtime that octobloom, Thrust and CUB call, on the emulated device. Linked
// before the real one, whose functions are then not looked for.

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "device/device.h"

using namespace octobloom::emulated_device;

namespace {
/// Of the <<<…>>> that this thread is at.
thread_local std::vector<std::tuple<dim3, dim3, std::size_t, cudaStream_t>> configurations;
}  // namespace

// The header's names for the parameters say less.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" {

// What nvcc's host code calls.

void** __cudaRegisterFatBinary(void* wrapper) {
  device& on = device::instance();
  const std::lock_guard lock(on.mutex);
  on.images.push_back(std::make_unique<image>(wrapper));
  return reinterpret_cast<void**>(on.images.back().get());
}

void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}

void __cudaRegisterFunction(void** code, const char* host_function, char*, const char* name, int,
                            uint3*, uint3*, dim3*, dim3*, int*) {
  device& on = device::instance();
  const std::lock_guard lock(on.mutex);
  on.kernels[host_function] = {reinterpret_cast<image*>(code), name, 0};
}

cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* host_function) {
  *handle = static_cast<cudaKernel_t>(const_cast<void*>(host_function));
  return cudaSuccess;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                     cudaStream_t stream) {
  configurations.emplace_back(grid, block, shared, stream);
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  std::tie(*grid, *block, *shared, *static_cast<cudaStream_t*>(stream)) = configurations.back();
  configurations.pop_back();
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t launched, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t stream) {
  return call("a launch", [&](device& on) {
    return on.launch(on.checked_kernel(launched), grid, block, arguments, shared, stream);
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* c, const void* function,
                                void** arguments) {
  return call("cudaLaunchKernelEx", [&](device& on) {
    return on.launch(on.checked_kernel(function), c->gridDim, c->blockDim, arguments,
                     c->dynamicSmemBytes, c->stream);
  });
}

// Devices.

cudaError_t cudaGetDeviceCount(int* count) {
  return call("cudaGetDeviceCount", [&](device&) {
    *count = devices;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* number) {
  return call("cudaGetDevice", [&](device&) {
    *number = device::current;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int number) {
  return call("cudaSetDevice", [&](device&) {
    if (number < 0 || number >= devices) return cudaErrorInvalidDevice;
    device::current = number;
    return cudaSuccess;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  return call("cudaDeviceGetAttribute", [&](device& on) {
    switch (attribute) {
      case cudaDevAttrComputeCapabilityMajor:
        *value = on.capability() / 10;
        break;
      case cudaDevAttrComputeCapabilityMinor:
        *value = on.capability() % 10;
        break;
      case cudaDevAttrMultiProcessorCount:
        *value = multiprocessors;
        break;
      case cudaDevAttrL2CacheSize:
        *value = l2_bytes;
        break;
      case cudaDevAttrMaxPersistingL2CacheSize:
        *value = persisting_l2_bytes;
        break;
      case cudaDevAttrMaxAccessPolicyWindowSize:
        *value = l2_bytes;
        break;
      case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = shared_bytes;
        break;
      case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = shared_bytes_opt_in;
        break;
      case cudaDevAttrReservedSharedMemoryPerBlock:
        *value = 1024;
        break;
      case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = shared_bytes_opt_in + 1024;
        break;
      case cudaDevAttrMaxThreadsPerBlock:
        *value = 1024;
        break;
      case cudaDevAttrMaxGridDimX:
        *value = 0x7FFFFFFF;
        break;
      case cudaDevAttrWarpSize:
        *value = 32;
        break;
      case cudaDevAttrMemoryClockRate:
        *value = 1'000'000;
        break;
      case cudaDevAttrGlobalMemoryBusWidth:
        *value = 512;
        break;
      default:
        misuse("attribute " + std::to_string(attribute) + " is not known here");
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  return call("cudaGetDeviceProperties", [&](device& on) {
    *properties = {};
    std::strcpy(properties->name, "emulated device (PTX on the CPU)");
    properties->major = on.capability() / 10;
    properties->minor = on.capability() % 10;
    properties->multiProcessorCount = multiprocessors;
    properties->l2CacheSize = l2_bytes;
    properties->persistingL2CacheMaxSize = persisting_l2_bytes;
    properties->totalGlobalMem = on.memory_of.device_bytes();
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* all_bytes) {
  return call("cudaMemGetInfo", [&](device& on) {
    *free_bytes = on.memory_of.free_bytes();
    *all_bytes = on.memory_of.device_bytes();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", [](device& on) {
    on.streams.finish_device(device::current);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return call("cudaDeviceGetLimit", [&](device& on) {
    if (limit != cudaLimitPersistingL2CacheSize) misuse("a limit that is not known here");
    *value = on.persisting_limit;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return call("cudaDeviceSetLimit", [&](device& on) {
    if (limit != cudaLimitPersistingL2CacheSize) misuse("a limit that is not known here");
    if (value > persisting_l2_bytes) return cudaErrorInvalidValue;
    on.persisting_limit = value;
    return cudaSuccess;
  });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return call("cudaCtxResetPersistingL2Cache", [](device&) { return cudaSuccess; });
}

// Errors.

cudaError_t cudaGetLastError() {
  device& on = device::instance();
  const std::lock_guard lock(on.mutex);
  return std::exchange(device::last_error, on.broken);
}

cudaError_t cudaPeekAtLastError() {
  return device::last_error;
}

const char* cudaGetErrorName(cudaError_t status) {
  switch (status) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorIllegalAddress:
      return "cudaErrorIllegalAddress";
    default:
      return "another CUDA error";
  }
}

const char* cudaGetErrorString(cudaError_t) {
  return "told by the emulated device";
}

// Memory.

cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream) {
  return call("cudaMallocAsync", [&](device& on) {
    stream_queue& queue = on.checked(stream);
    *memory = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (bytes > on.memory_of.free_bytes()) on.streams.finish_all();  // what is freed by then counts
    void* const address = on.memory_of.reserve_on_device(bytes, queue.device);
    if (address == nullptr) return cudaErrorMemoryAllocation;
    on.streams.add(queue, [&on, address] { on.memory_of.make_live(address); });
    *memory = address;
    return cudaSuccess;
  });
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  return clean_up([&](device& on) {
    stream_queue& queue = on.checked(stream);
    if (memory == nullptr) return;
    const allocation* const freed = on.memory_of.find(memory);
    if (freed != nullptr && freed->device != queue.device) {
      misuse("memory is freed on a stream of another device");
    }
    on.streams.add(queue, [&on, memory] { on.memory_of.release(memory); });
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  return call("cudaDeviceGetDefaultMemPool", [&](device& on) {
    *pool = reinterpret_cast<cudaMemPool_t>(&on);  // there is one
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return call("cudaMemPoolSetAttribute", [](device&) { return cudaSuccess; });
}

cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  return call("cudaMallocHost", [&](device& on) {
    *memory = on.memory_of.take_page_locked(bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaFreeHost(void* memory) {
  return clean_up([&](device& on) { on.memory_of.release(memory); });
}

cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned) {
  return call("cudaHostRegister", [&](device& on) {
    on.memory_of.lock_pages(memory, bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* memory) {
  return clean_up([&](device& on) { on.memory_of.unlock_pages(memory); });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  return call("cudaPointerGetAttributes", [&](device& on) {
    *attributes = {};
    const allocation* const found = on.memory_of.find(address, 1);
    attributes->type = found == nullptr     ? cudaMemoryTypeUnregistered
                       : found->on_device() ? cudaMemoryTypeDevice
                                            : cudaMemoryTypeHost;
    attributes->device = found == nullptr || !found->on_device() ? device::current : found->device;
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call("cudaMemcpyAsync",
              [&](device& on) { return on.copy(to, from, bytes, kind, stream); });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call("cudaMemcpy", [&](device& on) {
    const cudaError_t status = on.copy(to, from, bytes, kind, nullptr);
    on.streams.finish(on.streams.default_stream(device::current));
    return status;
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return call("cudaMemsetAsync", [&](device& on) { return on.fill(to, value, bytes, stream); });
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return call("cudaMemset", [&](device& on) { return on.fill(to, value, bytes, nullptr); });
}

// Streams and events.

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call("cudaStreamCreate", [&](device& on) {
    stream_queue& created = on.streams.create(device::current, flags != cudaStreamNonBlocking);
    *stream = reinterpret_cast<cudaStream_t>(&created);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return clean_up([&](device& on) { on.streams.destroy(on.checked(stream)); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call("cudaStreamSynchronize", [&](device& on) {
    on.streams.finish(on.checked(stream));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return call("cudaStreamWaitEvent", [&](device& on) {
    const operation_ptr record = on.checked(event).record;
    stream_queue& queue = on.checked(stream);
    if (record != nullptr) queue.next_after.push_back(record);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                   const cudaStreamAttrValue* value) {
  return call("cudaStreamSetAttribute", [&](device& on) {
    if (id != cudaStreamAttributeAccessPolicyWindow) misuse("a stream's attribute not known here");
    const cudaAccessPolicyWindow& window = value->accessPolicyWindow;
    if (window.num_bytes > l2_bytes || window.hitRatio < 0 || window.hitRatio > 1) {
      return cudaErrorInvalidValue;
    }
    on.windows[&on.checked(stream)] = window;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                   cudaStreamAttrValue* value) {
  return call("cudaStreamGetAttribute", [&](device& on) {
    if (id != cudaStreamAttributeAccessPolicyWindow) misuse("a stream's attribute not known here");
    value->accessPolicyWindow = on.windows[&on.checked(stream)];
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call("cudaEventCreate", [&](device& on) {
    auto created = std::make_unique<recorded_event>();
    created->timing = (flags & cudaEventDisableTiming) == 0;
    *event = reinterpret_cast<cudaEvent_t>(created.get());
    on.events.emplace(*event, std::move(created));
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return clean_up([&](device& on) {
    (void)on.checked(event);
    on.events.erase(event);
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call("cudaEventRecord", [&](device& on) {
    on.checked(event).record = on.streams.add(on.checked(stream), [] {});
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call("cudaEventSynchronize", [&](device& on) {
    const operation_ptr record = on.checked(event).record;
    if (record != nullptr) on.streams.finish(record);
    return cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return call("cudaEventElapsedTime", [&](device& on) {
    const recorded_event& first = on.checked(from);
    const recorded_event& second = on.checked(to);
    if (!first.timing || !second.timing || first.record == nullptr || second.record == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (!first.record->done || !second.record->done) return cudaErrorNotReady;
    const std::chrono::duration<float, std::milli> took =
        second.record->finished - first.record->finished;
    *milliseconds = took.count();
    return cudaSuccess;
  });
}

// Kernels.

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return call("cudaFuncGetAttributes", [&](device& on) {
    const kernel& asked = on.checked_kernel(function);
    *attributes = {};
    attributes->ptxVersion = asked.code->capability();
    attributes->binaryVersion = asked.code->capability();
    attributes->maxThreadsPerBlock = 1024;
    attributes->sharedSizeBytes = asked.code->entry(asked.name).static_shared;
    attributes->maxDynamicSharedSizeBytes = shared_bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return call("cudaFuncSetAttribute", [&](device& on) {
    kernel& changed = on.checked_kernel(function);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) {
      misuse("a kernel's attribute that is not known here");
    }
    const std::size_t taken = changed.code->entry(changed.name).static_shared;
    if (value < 0 || taken + static_cast<std::size_t>(value) > shared_bytes_opt_in) {
      return cudaErrorInvalidValue;
    }
    changed.dynamic_shared_limit = static_cast<std::size_t>(value);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int,
                                                          std::size_t) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](device&) {
    *blocks = 2;
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void* function,
                                                                   int threads, std::size_t shared,
                                                                   unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}

}  // extern "C"
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
