#include "device/device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace octobloom::emulated_device {

namespace {

constexpr int exit_status_of_a_leak = 70;
constexpr int exit_status_of_a_setting = 2;

constexpr std::uint64_t default_memory = std::uint64_t{2} << 30;
constexpr std::uint64_t most_memory = std::uint64_t{16} << 40;

[[noreturn]] void refuse(const char* name, const char* value, const std::string& allowed) {
  std::fprintf(stderr, "emulated device: %s is \"%s\"; it takes %s\n", name, value,
               allowed.c_str());
  std::fflush(nullptr);
  std::_Exit(exit_status_of_a_setting);
}

std::uint64_t memory_setting() {
  constexpr const char* name = "OCTOBLOOM_EMULATED_MEMORY";
  const char* const value = std::getenv(name);
  if (value == nullptr) return default_memory;
  const auto bytes = whole_number(value);
  if (!bytes || *bytes == 0 || *bytes > most_memory) {
    refuse(name, value, "a number of bytes from 1 to " + std::to_string(most_memory));
  }
  return *bytes;
}

std::string schedule_setting() {
  constexpr const char* name = "OCTOBLOOM_EMULATED_SCHEDULE";
  const char* const value = std::getenv(name);
  if (value == nullptr) return "1";
  if (!stream_scheduler::is_order(value)) refuse(name, value, stream_scheduler::orders);
  return value;
}

}  // namespace

thread_local cudaError_t device::last_error = cudaSuccess;
thread_local int device::current = 0;

device& device::instance() {
  static device* const one = [] {
    std::atexit([] { instance().end(); });
    return new device;  // registered code and late destructors need it to the end
  }();
  return *one;
}

device::device() : memory_of(memory_setting()), streams(schedule_setting()) {}

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
  stream_queue& queue = checked(on);
  if (queue.device != current) return cudaErrorInvalidResourceHandle;
  const ptx::kernel_entry& entry = launched.code->entry(launched.name);
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || threads == 0 || threads > 1024 ||
      grid.x > 0x7FFFFFFF || grid.y > 65535 || grid.z > 65535) {
    return cudaErrorInvalidConfiguration;
  }
  const std::size_t room =
      std::max<std::size_t>(shared_bytes - entry.static_shared, launched.dynamic_shared_limit);
  if (shared > room) return cudaErrorInvalidValue;
  streams.add(queue, [this, &launched, number = current, grid, block, shared,
                      given = copy_parameters(launched, arguments)] {
    interpret(launched, number, grid, block, given, shared);
  });
  return cudaSuccess;
}

void device::interpret(const kernel& launched, int number, dim3 grid, dim3 block,
                       const parameters& given, std::size_t shared) {
  if (broken != cudaSuccess) return;
  const ptx::kernel_entry& entry = launched.code->entry(launched.name);
  std::vector<ptx::argument> arguments;
  for (std::size_t i = 0; i < given.size(); ++i) {
    arguments.push_back(argument(given[i], entry.params[i].align, memory_of, number));
  }
  ptx::launch_options options;
  options.seed = ++launches_;
  options.collect_stats = false;
  // CUB reads shared memory by vectors, parts of which nobody wrote and nobody uses.
  options.check_init = entry.demangled.find("cub::") == std::string::npos;
  try {
    launched.code->module().launch(entry.name, {grid.x, grid.y, grid.z},
                                   {block.x, block.y, block.z}, shared, arguments, options);
  } catch (const ptx::kernel_fault& failed) {
    fault(cudaErrorIllegalAddress, failed.what());
  }
}

cudaError_t device::copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                         cudaStream_t on) {
  stream_queue& queue = checked(on);
  if (bytes == 0) return cudaSuccess;
  const bool to_device = kind != cudaMemcpyDeviceToHost;
  const bool from_device = kind != cudaMemcpyHostToDevice;
  if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDefault) misuse("a copy of unused kind");

  // The host's pageable memory is read before the call returns, and written before it returns;
  // page-locked memory when the stream gets there.
  const allocation* const host =
      to_device && from_device ? nullptr : memory_of.find(to_device ? from : to, bytes);
  if (host != nullptr && host->on_device()) misuse("device memory is given as the host's");
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
      if (found != nullptr && found->on_device() == on_device) return found->at(address);
      fault(cudaErrorIllegalAddress, on_device ? "a copy of " + std::to_string(bytes) +
                                                     " bytes outside of the device's live memory"
                                               : "page-locked memory was freed under a copy");
      return nullptr;
    };
    std::byte* const target = place(to, to_device);
    const std::byte* const source = staged.empty() ? place(from, from_device) : staged.data();
    if (target == nullptr || source == nullptr) return;
    std::memcpy(target, source, bytes);
    if (!from_device) copied.to_device += bytes;
    if (!to_device) copied.to_host += bytes;
  });
  if (pageable && from_device) streams.finish(added);
  return broken;
}

cudaError_t device::fill(void* to, int value, std::size_t bytes, cudaStream_t on) {
  streams.add(checked(on), [this, to, value, bytes] {
    if (broken != cudaSuccess || bytes == 0) return;
    const allocation* const target = memory_of.find(to, bytes);
    if (target == nullptr || !target->on_device()) {
      fault(cudaErrorIllegalAddress, "memory is set outside of the device's live memory");
      return;
    }
    std::memset(target->at(to), value, bytes);
  });
  return cudaSuccess;
}

cudaError_t device::answer(cudaError_t status) {
  if (status != cudaSuccess) last_error = status;
  return status;
}

void device::fault(cudaError_t status, const std::string& what) {
  std::fprintf(stderr, "emulated device: %s\n", what.c_str());
  if (broken == cudaSuccess) broken = status;
}

recorded_event& device::checked(cudaEvent_t event) {
  const auto found = events.find(event);
  if (found == events.end()) misuse("an event is used that was not created, or is destroyed");
  return *found->second;
}

kernel& device::checked_kernel(const void* function) {
  const auto found = kernels.find(function);
  if (found == kernels.end()) misuse("a kernel is launched that was not registered");
  return found->second;
}

int device::capability() const {
  int newest = 0;
  for (const auto& one : images) newest = std::max(newest, one->capability());
  return newest;
}

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

traffic copied_bytes() {
  device& on = device::instance();
  const std::lock_guard lock(on.mutex);
  on.streams.finish_all();
  return on.copied;
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

}  // namespace octobloom::emulated_device
