// octobloom-gpu-bench: insert and contains on a GPU over filter sizes, resident and streamed,
// beside the floor of the same run and the CPU.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <octobloom/engines.h>
#include <octobloom/error.h>
#include <octobloom/filter.h>
#include <octobloom/gpu/device.h>
#include <octobloom/gpu/filter.h>
#include <octobloom/gpu/streaming.h>

#include "floor.h"
#include "gpu_report.h"
#include "options.h"
#include "recorder.h"
#include "require.h"

namespace octobloom::bench {
namespace {

std::vector<std::uint64_t> random_keys(std::uint64_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> keys(count);
  for (auto& key : keys) {
    std::uint64_t z = seed += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    key = z ^ (z >> 31);
  }
  return keys;
}

gpu_row summarise(std::uint64_t filter_bytes, std::string what, std::uint64_t keys,
                  double bytes_per_key, std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  return {filter_bytes, std::move(what), keys, median, (seconds.back() - seconds.front()) / median,
          bytes_per_key};
}

/// Time on the device, by events around the work; `before` is not counted.
class device_timer {
 public:
  explicit device_timer(unsigned repeat) : repeat_(repeat) {
    require(cudaEventCreate(&start_), "create an event");
    require(cudaEventCreate(&stop_), "create an event");
  }
  device_timer(const device_timer&) = delete;
  device_timer& operator=(const device_timer&) = delete;
  ~device_timer() {
    (void)cudaEventDestroy(start_);
    (void)cudaEventDestroy(stop_);
  }
  std::vector<double> run(const std::function<void()>& before, const std::function<void()>& work) {
    std::vector<double> seconds;
    for (unsigned i = 0; i <= repeat_; ++i) {
      before();
      require(cudaEventRecord(start_, nullptr), "record an event");
      work();
      require(cudaEventRecord(stop_, nullptr), "record an event");
      require(cudaEventSynchronize(stop_), "wait for an event");
      float milliseconds = 0;
      require(cudaEventElapsedTime(&milliseconds, start_, stop_), "read a time");
      if (i > 0) seconds.push_back(static_cast<double>(milliseconds) / 1e3);  // the first warms up
    }
    return seconds;
  }

 private:
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
  unsigned repeat_;
};

std::vector<double> wall(unsigned repeat, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (unsigned i = 0; i <= repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (i > 0) seconds.push_back(took.count());
  }
  return seconds;
}

/// Host to device, pinned: what streaming can reach.
double link_rate() {
  constexpr std::size_t bytes = std::size_t{256} << 20;
  void* taken = nullptr;
  require(cudaMallocHost(&taken, bytes), "take page-locked memory");
  const std::unique_ptr<void, decltype(&cudaFreeHost)> host(taken, cudaFreeHost);
  std::memset(host.get(), 1, bytes);
  const gpu::buffer device(bytes, nullptr);
  device_timer timer(5);
  const auto seconds = timer.run(
      [] {},
      [&] {
        require(cudaMemcpyAsync(device.data(), host.get(), bytes, cudaMemcpyHostToDevice, nullptr),
                "copy");
      });
  return static_cast<double>(bytes) / *std::min_element(seconds.begin(), seconds.end());
}

/// How much free memory the pool keeps when the device is waited for.
void let_pool_keep(std::uint64_t bytes) {
  int device = 0;
  cudaMemPool_t pool = nullptr;
  require(cudaGetDevice(&device), "ask for the device");
  require(cudaDeviceGetDefaultMemPool(&pool, device), "ask for the pool");
  require(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes),
          "set what the pool keeps");
}
constexpr std::uint64_t everything = ~std::uint64_t{0};

class gpu_measurement {
 public:
  gpu_measurement(recorder& record, const options& o, const std::vector<std::uint64_t>& keys,
                  std::uint64_t l2_bytes)
      : record_(record),
        options_(o),
        host_keys_(keys),
        keys_(keys.size() * 8, nullptr),
        blocks_of_(keys.size() * 8, nullptr),
        bitmap_(bitmap_bytes(keys.size()), nullptr),
        timer_(o.repeat),
        l2_bytes_(l2_bytes) {
    require(cudaMemcpy(keys_.data(), keys.data(), keys.size() * 8, cudaMemcpyHostToDevice),
            "upload keys");
  }

  /// False when the device has no room for such a filter.
  [[nodiscard]] bool measure(std::uint64_t filter_bytes) {
    std::optional<gpu::filter> made;
    try {
      made.emplace(plan_with_blocks(filter_bytes / 64, 8));
    } catch (const error& e) {
      if (e.code() != error_code::out_of_memory) throw;
      record_.leave_out({filter_bytes, "every row", e.what(), false});
      return false;
    }
    gpu::filter& f = *made;
    const std::uint64_t count = host_keys_.size();
    const auto* values = keys_.data<const std::uint64_t>();
    const auto batch = gpu::keys::integers(values, count);
    auto* bits = bitmap_.data<std::uint8_t>();
    auto* blocks_of = blocks_of_.data<std::uint64_t>();
    // As many keys as fill half of the filter's bits, if those are enough to be timed and there are
    // so many.
    const std::uint64_t inserted =
        std::min<std::uint64_t>(count, std::max<std::uint64_t>(filter_bytes * 8 / 12, 1 << 24));
    const auto some = batch.slice(0, inserted);
    find_blocks(f.view(), values, count, blocks_of, nullptr);

    const auto add = [&](const std::string& what, std::uint64_t n, double bytes, auto before,
                         auto work) {
      record_.attempt(filter_bytes, what, [&] {
        record_.add(summarise(filter_bytes, what, n, bytes, timer_.run(before, work)));
      });
    };
    const auto clear = [&] { f.clear(); };
    const auto nothing = [] {};
    add("floor update", inserted, 64 + 64 + 8, clear,
        [&] { update_floor(f.view(), blocks_of, inserted / 32 * 32, nullptr); });
    using gpu::insert_method;
    add("insert direct", inserted, 64 + 64 + 8, clear,
        [&] { f.insert(some, nullptr, insert_method::direct); });
    const double slices = 2.0 * static_cast<double>(filter_bytes) / static_cast<double>(inserted);
    for (const auto method : {insert_method::l2_slices, insert_method::shared_slices}) {
      const auto plan = gpu::plan_insert(f.shape(), inserted, l2_bytes_, method);
      // Read, write the hash, count, a pass each way for 8 bits, read again; every slice there and
      // back.
      const unsigned passes = (plan.bits + 7) / 8;
      const double moved = 8 + 8 + 8 + 16.0 * passes + 8 + slices;
      add(method == insert_method::l2_slices ? "insert by L2 slices" : "insert by shared slices",
          inserted, moved, clear, [&] { f.insert(some, nullptr, method); });
    }
    add("floor read", count, 64 + 8 + 0.125, nothing,
        [&] { read_floor(f.view(), blocks_of, count, bits, nullptr); });
    add("contains", count, 64 + 8 + 0.125, nothing, [&] { f.may_contain(batch, bits); });
    if (options_.widths) {
      for (const width w : {width{1, 2}, {2, 2}, {2, 4}, {4, 2}, {8, 1}}) {
        const std::string name = "contains " + std::to_string(w.lanes) + " lanes of " +
                                 std::to_string(8 * w.words) + " bytes";
        add(name, count, 64 + 8 + 0.125, nothing,
            [&] { contains_by_width(w, f.view(), values, count, bits, nullptr); });
      }
      for (const unsigned lanes : {1u, 2u, 4u, 8u}) {
        const std::string name = "insert " + std::to_string(lanes) + " lanes";
        add(name, inserted, 64 + 64 + 8, clear, [&] {
          insert_by_width({lanes, 1}, f.view(), values, inserted, nullptr);
        });
      }
    }
    const std::uint64_t fresh_keys = std::min<std::uint64_t>(inserted, 1 << 26);
    const auto insert_new = [&](const char* what) {
      add(what, fresh_keys, 64 + 64 + 8 + 24 * 8, clear,
          [&] { (void)f.insert_new(batch.slice(0, fresh_keys), bits); });
    };
    insert_new("insert_new");
    // As for a caller who leaves the pool alone: each call takes its temporaries anew.
    let_pool_keep(0);
    insert_new("insert_new, pool as it comes");
    let_pool_keep(everything);
    const key_batch host = key_batch::integers(host_keys_);
    std::vector<std::uint8_t> answers(bitmap_bytes(count));
    const auto stream = [&](const char* what) {
      record_.add(summarise(
          filter_bytes, what, count, 64 + 8 + 8 + 0.25,
          wall(options_.repeat, [&] { (void)streamer_.may_contain(f, host, answers.data()); })));
    };
    const char* const pageable = "streamed contains";
    record_.attempt(filter_bytes, pageable, [&] { stream(pageable); });
    const char* const page_locked = "streamed contains, page-locked";
    record_.attempt(filter_bytes, page_locked, [&] {
      void* const locked = const_cast<std::uint64_t*>(host_keys_.data());
      require(cudaHostRegister(locked, count * 8, cudaHostRegisterDefault), "lock pages");
      const std::unique_ptr<void, decltype(&cudaHostUnregister)> unlock(locked, cudaHostUnregister);
      stream(page_locked);
    });
    return true;
  }

 private:
  recorder& record_;
  const options& options_;
  const std::vector<std::uint64_t>& host_keys_;
  gpu::buffer keys_;
  gpu::buffer blocks_of_;
  gpu::buffer bitmap_;
  device_timer timer_;
  gpu::streamer streamer_;
  std::uint64_t l2_bytes_;
};

/// The fastest CPU engine, on the same keys.
void measure_cpu(recorder& record, const options& o, const std::vector<std::uint64_t>& keys,
                 std::uint64_t filter_bytes) {
  const engine& cpu = find_engine("auto");
  filter f(plan_with_blocks(filter_bytes / 64, 8));
  const std::uint64_t count = std::min<std::uint64_t>(keys.size(), 1 << 25);
  const key_batch batch = key_batch::integers(std::span(keys).first(count));
  const key_batch some = batch.slice(0, std::min<std::uint64_t>(count, filter_bytes * 8 / 12));
  const bulk_options threads{o.cpu_threads};
  std::vector<std::uint8_t> answers(bitmap_bytes(count));
  record.add(summarise(filter_bytes, "insert, CPU", some.size(), 64 + 64 + 8,
                       wall(o.repeat, [&] { cpu.insert(f.view(), some, threads); })));
  record.add(summarise(filter_bytes, "contains, CPU", count, 64 + 8 + 0.125, wall(o.repeat, [&] {
                         (void)cpu.may_contain(f.view(), batch, answers.data(), threads);
                       })));
}

/// Size by size, on the GPU where there is one and then on the CPU, so that whatever ends the
/// program has left comparisons.
void measure_all(recorder& record, const options& o, const gpu::device_info* device) {
  const auto keys = random_keys(o.keys, 1);
  const std::uint64_t cpu_max = std::min(available_memory() / 4, std::uint64_t{1} << 30);
  std::optional<gpu_measurement> gpu;
  double link = 0;
  if (device != nullptr) {
    let_pool_keep(everything);
    record.attempt(0, "host link", [&] { link = link_rate(); });
    gpu.emplace(record, o, keys, device->l2_bytes);
  }
  record.begin(link);
  for (const std::uint64_t bytes : o.sizes()) {
    if (gpu && !gpu->measure(bytes)) break;
    if (bytes <= cpu_max) {
      record.attempt(bytes, "the CPU's rows", [&] { measure_cpu(record, o, keys, bytes); });
    }
    record.write();
  }
}

int run(const options& o) {
  gpu_report start;
  start.cpu_threads = o.cpu_threads;
  start.why_none = gpu::why_unavailable();
  std::optional<gpu::device_info> device;
  if (start.why_none.empty()) {
    device = gpu::current_device();
    start.device = device->name;
    start.bandwidth = device->bandwidth;
  } else if (!o.dry_run) {
    std::fprintf(stderr, "octobloom-gpu-bench: no GPU: %s\n", start.why_none.c_str());
    return 77;
  }
  recorder record(std::move(start), o.json, o.svg);
  try {
    measure_all(record, o, device ? &*device : nullptr);
  } catch (...) {
    record.write();
    throw;
  }
  return record.finish();
}

}  // namespace
}  // namespace octobloom::bench

int main(int argc, char** argv) {
  try {
    return octobloom::bench::run(octobloom::bench::parse(argc, argv));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "octobloom-gpu-bench: %s\n", e.what());
    return 2;
  }
}
