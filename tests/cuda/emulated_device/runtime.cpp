// The part of the CUDA runtime that octobloom, Thrust and CUB call, on the emulated device. Linked
// before the real one, whose functions are then not looked for.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cuda/emulated_device/emulated_device.h"
#include "cuda/emulated_device/images.h"
#include "cuda/emulated_device/memory.h"
#include "cuda/emulated_device/misuse.h"
#include "cuda/emulated_device/streams.h"

namespace octobloom::emulated_device {
namespace {

constexpr int multiprocessors = 4;
constexpr int shared_bytes = 48 << 10;
constexpr int shared_bytes_opt_in = 227 << 10;
// Small, so that filters beyond it are quickly made.
constexpr int l2_bytes = 1 << 20;
constexpr int persisting_l2_bytes = l2_bytes / 2;
constexpr int exit_status_of_a_leak = 70;

std::string setting(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

struct recorded_event {
  bool timing;
  operation_ptr record;
};

class device {
 public:
  static device& instance() {
    static device* const one = [] {
      std::atexit([] { instance().end(); });
      return new device;  // registered code and late destructors need it to the end
    }();
    return *one;
  }

  std::recursive_mutex mutex;
  memory memory_of{std::stoull(setting("OCTOBLOOM_EMULATED_MEMORY", "2147483648"))};
  stream_scheduler streams{setting("OCTOBLOOM_EMULATED_SCHEDULE", "1")};
  std::vector<std::unique_ptr<image>> images;
  std::map<const void*, kernel> kernels;
  std::map<void*, std::unique_ptr<recorded_event>> events;
  std::map<void*, cudaAccessPolicyWindow> windows;
  std::vector<std::tuple<dim3, dim3, std::size_t, cudaStream_t>> configurations;
  std::size_t persisting_limit = 0;
  cudaError_t last_error = cudaSuccess;
  cudaError_t broken = cudaSuccess;  ///< what a device answers to everything after a fault
  std::uint64_t calls = 0;
  std::uint64_t call_to_fail = 0;
  cudaError_t failure = cudaSuccess;
  std::string failed_call;
  work done;

  /// What the runtime answers and remembers.
  cudaError_t answer(cudaError_t status) {
    if (status != cudaSuccess) last_error = status;
    return status;
  }

  void fault(cudaError_t status, const std::string& what) {
    std::fprintf(stderr, "emulated device: %s\n", what.c_str());
    if (broken == cudaSuccess) broken = status;
  }

  recorded_event& checked(cudaEvent_t event) {
    const auto found = events.find(event);
    if (found == events.end()) misuse("an event is used that was not created, or is destroyed");
    return *found->second;
  }

  kernel& checked_kernel(const void* function) {
    const auto found = kernels.find(function);
    if (found == kernels.end()) misuse("a kernel is launched that was not registered");
    return found->second;
  }

  [[nodiscard]] std::uint64_t handles_in_use() const { return events.size() + streams.in_use(); }

  [[nodiscard]] int capability() const {
    int newest = 0;
    for (const auto& one : images) newest = std::max(newest, one->capability());
    return newest;
  }

  cudaError_t launch(kernel& launched, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                     cudaStream_t on);
  cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                   cudaStream_t on);
  cudaError_t fill(void* to, int value, std::size_t bytes, cudaStream_t on);

 private:
  void end();
  void interpret(const kernel& launched, dim3 grid, dim3 block, const parameters& given,
                 std::size_t shared);
};

void device::end() {
  const std::lock_guard lock(mutex);
  streams.finish_all();
  if (broken != cudaSuccess) return;
  if (memory_of.bytes_in_use() != 0 || handles_in_use() != 0) {
    std::fprintf(stderr,
                 "emulated device: %llu bytes, %llu streams and events were never given back\n",
                 static_cast<unsigned long long>(memory_of.bytes_in_use()),
                 static_cast<unsigned long long>(handles_in_use()));
    std::fflush(nullptr);
    std::_Exit(exit_status_of_a_leak);
  }
}

cudaError_t device::launch(kernel& launched, dim3 grid, dim3 block, void** arguments,
                           std::size_t shared, cudaStream_t on) {
  stream_queue& queue = streams.checked(on);
  const ptxrun::Entry& entry = launched.code->entry(launched.name);
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || threads == 0 || threads > 1024 ||
      grid.x > 0x7FFFFFFF || grid.y > 65535 || grid.z > 65535) {
    return cudaErrorInvalidConfiguration;
  }
  const std::size_t room =
      std::max<std::size_t>(shared_bytes - entry.static_shared, launched.dynamic_shared_limit);
  if (shared > room) return cudaErrorInvalidValue;
  streams.add(queue,
              [this, &launched, grid, block, shared, given = copy_parameters(launched, arguments)] {
                interpret(launched, grid, block, given, shared);
              });
  return cudaSuccess;
}

void device::interpret(const kernel& launched, dim3 grid, dim3 block, const parameters& given,
                       std::size_t shared) {
  if (broken != cudaSuccess) return;
  const ptxrun::Entry& entry = launched.code->entry(launched.name);
  std::vector<ptxrun::Arg> arguments;
  for (std::size_t i = 0; i < given.size(); ++i) {
    arguments.push_back(argument(given[i], entry.params[i].align, memory_of));
  }
  ptxrun::Options options;
  options.seed = ++done.launches;
  options.collect_stats = false;
  // CUB reads shared memory by vectors, parts of which nobody wrote and nobody uses.
  options.check_init = entry.demangled.find("cub::") == std::string::npos;
  try {
    const ptxrun::Stats stats =
        launched.code->module().launch(entry.name, {grid.x, grid.y, grid.z},
                                       {block.x, block.y, block.z}, shared, arguments, options);
    done.instructions += stats.lane_instructions;
  } catch (const ptxrun::Fault& failed) {
    fault(cudaErrorIllegalAddress, failed.what());
  }
}

cudaError_t device::copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                         cudaStream_t on) {
  stream_queue& queue = streams.checked(on);
  if (bytes == 0) return cudaSuccess;
  const bool to_device = kind != cudaMemcpyDeviceToHost;
  const bool from_device = kind != cudaMemcpyHostToDevice;
  if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDefault) misuse("a copy of unused kind");

  // The host's pageable memory is read before the call returns, and written before it returns;
  // page-locked memory when the stream gets there.
  const allocation* const host =
      to_device && from_device ? nullptr : memory_of.find(to_device ? from : to, bytes);
  if (host != nullptr && host->on_device) misuse("device memory is given as the host's");
  const bool pageable = !(to_device && from_device) && host == nullptr;
  std::vector<std::byte> staged;
  if (pageable && to_device) {
    const auto* const start = static_cast<const std::byte*>(from);
    staged.assign(start, start + bytes);
  }
  const operation_ptr added = streams.add(queue, [this, to, from, bytes, to_device, from_device,
                                                  pageable, staged = std::move(staged)] {
    if (broken != cudaSuccess) return;
    const auto place = [&](const void* address, bool on_device) -> std::byte* {
      if (!on_device && pageable) {
        return const_cast<std::byte*>(static_cast<const std::byte*>(address));
      }
      const allocation* const found = memory_of.find(address, bytes);
      if (found != nullptr && found->on_device == on_device) return found->at(address);
      fault(cudaErrorIllegalAddress, on_device ? "a copy of " + std::to_string(bytes) +
                                                     " bytes outside of the device's live memory"
                                               : "page-locked memory was freed under a copy");
      return nullptr;
    };
    std::byte* const target = place(to, to_device);
    const std::byte* const source = staged.empty() ? place(from, from_device) : staged.data();
    if (target != nullptr && source != nullptr) std::memcpy(target, source, bytes);
  });
  if (pageable && from_device) streams.finish(added);
  return broken;
}

cudaError_t device::fill(void* to, int value, std::size_t bytes, cudaStream_t on) {
  streams.add(streams.checked(on), [this, to, value, bytes] {
    if (broken != cudaSuccess || bytes == 0) return;
    const allocation* const target = memory_of.find(to, bytes);
    if (target == nullptr || !target->on_device) {
      fault(cudaErrorIllegalAddress, "memory is set outside of the device's live memory");
      return;
    }
    std::memset(target->at(to), value, bytes);
  });
  return cudaSuccess;
}

/// Runs a call of the runtime that can fail. `f` gets the device.
template <class F>
cudaError_t call(const char* name, F f) {
  device& on = device::instance();
  const std::lock_guard lock(on.mutex);
  ++on.calls;
  if (on.call_to_fail != 0 && --on.call_to_fail == 0) {
    on.failed_call = name;
    return on.answer(on.failure);
  }
  if (on.broken != cudaSuccess) return on.answer(on.broken);
  const cudaError_t status = f(on);
  return on.answer(status != cudaSuccess ? status : on.broken);
}

/// One that is part of cleaning up, and is let succeed.
template <class F>
cudaError_t clean_up(F f) {
  device& on = device::instance();
  const std::lock_guard lock(on.mutex);
  if (on.broken != cudaSuccess) return on.answer(on.broken);
  f(on);
  return cudaSuccess;
}

}  // namespace

void set_schedule(const std::string& schedule) {
  device& on = device::instance();
  const std::lock_guard lock(on.mutex);
  on.streams.finish_all();
  on.streams.set_order(schedule);
}

std::uint64_t calls() {
  device& on = device::instance();
  const std::lock_guard lock(on.mutex);
  return on.calls;
}

void fail_call(std::uint64_t n, cudaError_t status) {
  device& on = device::instance();
  const std::lock_guard lock(on.mutex);
  on.call_to_fail = n;
  on.failure = status;
  on.failed_call.clear();
}

std::string failed_call() {
  device& on = device::instance();
  const std::lock_guard lock(on.mutex);
  return on.failed_call;
}

std::uint64_t bytes_in_use() {
  device& on = device::instance();
  const std::lock_guard lock(on.mutex);
  on.streams.finish_all();
  return on.memory_of.bytes_in_use();
}

std::uint64_t handles_in_use() {
  device& on = device::instance();
  const std::lock_guard lock(on.mutex);
  return on.handles_in_use();
}

work work_done() {
  device& on = device::instance();
  const std::lock_guard lock(on.mutex);
  return on.done;
}

}  // namespace octobloom::emulated_device

using namespace octobloom::emulated_device;

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
  device::instance().configurations.emplace_back(grid, block, shared, stream);
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  auto& all = device::instance().configurations;
  std::tie(*grid, *block, *shared, *static_cast<cudaStream_t*>(stream)) = all.back();
  all.pop_back();
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
    *count = 1;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* number) {
  return call("cudaGetDevice", [&](device&) {
    *number = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int number) {
  return call("cudaSetDevice",
              [&](device&) { return number == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
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
    on.streams.finish_all();
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
  return std::exchange(on.last_error, on.broken);
}

cudaError_t cudaPeekAtLastError() {
  device& on = device::instance();
  const std::lock_guard lock(on.mutex);
  return on.last_error;
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
    stream_queue& queue = on.streams.checked(stream);
    *memory = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (bytes > on.memory_of.free_bytes()) on.streams.finish_all();  // what is freed by then counts
    void* const address = on.memory_of.reserve_on_device(bytes);
    if (address == nullptr) return cudaErrorMemoryAllocation;
    on.streams.add(queue, [&on, address] { on.memory_of.make_live(address); });
    *memory = address;
    return cudaSuccess;
  });
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  return clean_up([&](device& on) {
    stream_queue& queue = on.streams.checked(stream);
    if (memory != nullptr) on.streams.add(queue, [&on, memory] { on.memory_of.release(memory); });
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
    attributes->type = found == nullptr   ? cudaMemoryTypeUnregistered
                       : found->on_device ? cudaMemoryTypeDevice
                                          : cudaMemoryTypeHost;
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
    on.streams.finish(on.streams.default_stream());
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
    stream_queue& created = on.streams.create(flags != cudaStreamNonBlocking);
    *stream = reinterpret_cast<cudaStream_t>(&created);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return clean_up([&](device& on) { on.streams.destroy(on.streams.checked(stream)); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call("cudaStreamSynchronize", [&](device& on) {
    on.streams.finish(on.streams.checked(stream));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return call("cudaStreamWaitEvent", [&](device& on) {
    const operation_ptr record = on.checked(event).record;
    stream_queue& queue = on.streams.checked(stream);
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
    on.windows[&on.streams.checked(stream)] = window;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                   cudaStreamAttrValue* value) {
  return call("cudaStreamGetAttribute", [&](device& on) {
    if (id != cudaStreamAttributeAccessPolicyWindow) misuse("a stream's attribute not known here");
    value->accessPolicyWindow = on.windows[&on.streams.checked(stream)];
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
    on.checked(event).record = on.streams.add(on.streams.checked(stream), [] {});
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

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int,
                                                                   std::size_t, unsigned) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](device&) {
    *blocks = 2;
    return cudaSuccess;
  });
}

}  // extern "C"
