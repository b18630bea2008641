#include <octobloom/gpu/streaming.h>

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <octobloom/error.h>
#include <octobloom/gpu/detail/key_stream.h>
#include <octobloom/gpu/device.h>

#include "check.h"
#include "launch.h"

namespace octobloom::gpu {

namespace {

using detail::check;
using detail::ignore;
using detail::queue;

/// Page-locked host memory, which the device copies from and to while the host goes on.
class pinned_buffer {
 public:
  explicit pinned_buffer(std::size_t bytes) {
    void* memory = nullptr;
    check(cudaMallocHost(&memory, bytes), "take page-locked host memory");
    memory_.reset(memory);
  }
  template <class T>
  [[nodiscard]] T* data() const noexcept {
    return static_cast<T*>(memory_.get());
  }

 private:
  struct unpin {
    void operator()(void* memory) const noexcept { ignore(cudaFreeHost(memory)); }
  };
  std::unique_ptr<void, unpin> memory_;
};

class event {
 public:
  explicit event(cudaStream_t after) {
    cudaEvent_t created = nullptr;
    check(cudaEventCreateWithFlags(&created, cudaEventDisableTiming), "create an event");
    handle_.reset(created);
    check(cudaEventRecord(created, after), "record an event");
  }
  [[nodiscard]] cudaEvent_t get() const noexcept { return handle_.get(); }

 private:
  struct destroy {
    void operator()(cudaEvent_t handle) const noexcept { ignore(cudaEventDestroy(handle)); }
  };
  std::unique_ptr<CUevent_st, destroy> handle_;
};

bool is_page_locked(const void* address) {
  cudaPointerAttributes about{};
  check(cudaPointerGetAttributes(&about, address), "ask where keys are");
  if (about.type == cudaMemoryTypeDevice) {
    throw error(error_code::wrong_key,
                "the keys are in device memory: give them to the filter as gpu::keys");
  }
  return about.type == cudaMemoryTypeHost;
}

/// The device of key_stream: three streams of the runtime.
class stream_device {
 public:
  stream_device() {
    for (auto& one : streams_) {
      cudaStream_t created = nullptr;
      check(cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking), "create a stream");
      one.reset(created);
    }
  }

  [[nodiscard]] static pinned_buffer pinned(std::size_t bytes) { return pinned_buffer(bytes); }
  [[nodiscard]] buffer memory(std::size_t bytes) const {
    buffer taken(bytes, on(queue::work));
    // Other streams use it too.
    synchronize(on(queue::work));
    return taken;
  }
  [[nodiscard]] static bool is_pinned(const void* from, std::size_t bytes) {
    return bytes > 0 && is_page_locked(from) &&
           is_page_locked(static_cast<const std::byte*>(from) + bytes - 1);
  }
  void copy_in(queue q, std::byte* to, const std::byte* from, std::size_t bytes) const {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, on(q)), "upload keys");
  }
  void copy_out(queue q, std::byte* to, const std::byte* from, std::size_t bytes) const {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, on(q)), "download answers");
  }
  [[nodiscard]] event record(queue q) const { return event(on(q)); }
  void wait(queue q, const event& until) const {
    check(cudaStreamWaitEvent(on(q), until.get(), 0), "order two streams");
  }
  static void finish(const event& until) {
    check(cudaEventSynchronize(until.get()), "finish a chunk of keys");
  }
  void finish() const noexcept {
    for (const auto& one : streams_) ignore(cudaStreamSynchronize(one.get()));
  }

  [[nodiscard]] stream on(queue q) const noexcept {
    return streams_[static_cast<std::size_t>(q)].get();
  }

 private:
  struct destroy {
    void operator()(cudaStream_t handle) const noexcept { ignore(cudaStreamDestroy(handle)); }
  };
  std::array<std::unique_ptr<CUstream_st, destroy>, 3> streams_;
};

/// Keys of a chunk at most; insert_new decides that many together.
constexpr std::size_t most_keys = std::size_t{1} << 24;

[[noreturn]] void throw_io(const std::string& path, const char* what) {
  throw error(error_code::io,
              "cannot " + std::string(what) + " '" + path + "': " + std::strerror(errno));
}

}  // namespace

class streamer::ring {
 public:
  explicit ring(const stream_options& options) : chunks_(device_, options, most_keys) {}

  template <class Work>
  std::uint64_t run(const filter_shape& shape, const key_batch& keys, bool results,
                    std::uint8_t* bitmap, Work work) {
    detail::require_current(number_, "the streamer");
    // The streams here do not wait for those that the filter was last used on.
    check(cudaDeviceSynchronize(), "wait for the device");
    const std::uint64_t found = chunks_.run(keys, shape.seed, results, bitmap,
                                            [&](const gpu::keys& chunk, std::uint8_t* answers) {
                                              work(chunk, answers, device_.on(queue::work));
                                            });
    synchronize(device_.on(queue::work));
    return found;
  }

 private:
  int number_ = detail::current_device_number();
  stream_device device_;
  detail::key_stream<stream_device> chunks_;
};

streamer::streamer(const stream_options& options) {
  detail::require_device();
  ring_ = std::make_unique<ring>(options);
}

streamer::streamer(streamer&&) noexcept = default;
streamer& streamer::operator=(streamer&&) noexcept = default;
streamer::~streamer() = default;

void streamer::insert(filter& target, const key_batch& keys) {
  ring_->run(target.shape(), keys, false, nullptr,
             [&](const gpu::keys& chunk, std::uint8_t*, stream on) { target.insert(chunk, on); });
}

std::uint64_t streamer::may_contain(const filter& source, const key_batch& keys,
                                    std::uint8_t* bitmap) {
  return ring_->run(source.shape(), keys, true, bitmap,
                    [&](const gpu::keys& chunk, std::uint8_t* answers, stream on) {
                      source.may_contain(chunk, answers, on);
                    });
}

std::uint64_t streamer::insert_new(filter& target, const key_batch& keys, std::uint8_t* bitmap) {
  return ring_->run(target.shape(), keys, true, bitmap,
                    [&](const gpu::keys& chunk, std::uint8_t* answers, stream on) {
                      (void)target.insert_new(chunk, answers, on);
                    });
}

void insert(filter& target, const key_batch& keys, const stream_options& options) {
  streamer(options).insert(target, keys);
}

std::uint64_t may_contain(const filter& source, const key_batch& keys, std::uint8_t* bitmap,
                          const stream_options& options) {
  return streamer(options).may_contain(source, keys, bitmap);
}

std::uint64_t insert_new(filter& target, const key_batch& keys, std::uint8_t* bitmap,
                         const stream_options& options) {
  return streamer(options).insert_new(target, keys, bitmap);
}

mapped_integers::mapped_integers(const std::string& path) {
  struct file {
    int descriptor;
    ~file() { (void)::close(descriptor); }
  };
  const file opened{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (opened.descriptor < 0) throw_io(path, "open");
  struct stat status {};
  if (::fstat(opened.descriptor, &status) != 0) throw_io(path, "look at");
  if (!S_ISREG(status.st_mode)) {
    throw error(error_code::io, "cannot map '" + path + "': it is not a regular file");
  }
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes % sizeof(std::uint64_t) != 0) {
    throw error(error_code::bad_file, "'" + path + "' holds " + std::to_string(bytes) +
                                          " bytes, which is no whole number of 64-bit integers");
  }
  if (bytes == 0) return;
  void* mapping = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, opened.descriptor, 0);
  if (mapping == MAP_FAILED) throw_io(path, "map");
  (void)::madvise(mapping, bytes, MADV_SEQUENTIAL);
  values_ = {static_cast<const std::uint64_t*>(mapping), bytes / sizeof(std::uint64_t)};
}

mapped_integers::mapped_integers(mapped_integers&& other) noexcept
    : values_(std::exchange(other.values_, {})) {}

mapped_integers& mapped_integers::operator=(mapped_integers&& other) noexcept {
  std::swap(values_, other.values_);
  return *this;
}

mapped_integers::~mapped_integers() {
  if (!values_.empty()) {
    (void)::munmap(const_cast<std::uint64_t*>(values_.data()), values_.size_bytes());
  }
}

}  // namespace octobloom::gpu
