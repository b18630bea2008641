// octobloom-gpu-bench: insert and contains on a GPU over filter sizes, resident and streamed,
// beside the floor of the same run and the CPU.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <octobloom/engines.h>
#include <octobloom/filter.h>
#include <octobloom/gpu/device.h>
#include <octobloom/gpu/filter.h>
#include <octobloom/gpu/streaming.h>

#include "floor.h"
#include "gpu_report.h"

namespace octobloom::bench {
namespace {

constexpr const char* usage = R"(octobloom-gpu-bench [OPTION...]
  --min SIZE, --max SIZE  filter sizes, doubled from min to max; 1M and 16G
  --step N                multiply the size by N instead of 4
  --keys N                keys of a measurement; 134217728
  --repeat N              repetitions, of which the median counts; 5
  --widths                measure the kernels' other widths too
  --cpu-threads N         of the CPU's rows; 2
  --json FILE, --svg FILE
  --dry-run               no GPU: the CPU's rows alone
Exit status: 0 done, 2 an error, 77 no GPU.
)";

struct options {
  std::uint64_t min = 1 << 20;
  std::uint64_t max = std::uint64_t{16} << 30;
  std::uint64_t step = 4;
  std::uint64_t keys = std::uint64_t{1} << 27;
  unsigned repeat = 5;
  bool widths = false;
  unsigned cpu_threads = 2;
  std::string json;
  std::string svg;
  bool dry_run = false;
};

std::uint64_t number(const std::string& text) {
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text.c_str(), &end, 10);
  const std::string unit = end;
  unsigned shift = 0;
  if (unit == "K") shift = 10;
  if (unit == "M") shift = 20;
  if (unit == "G") shift = 30;
  if (end == text.c_str() || (shift == 0 && !unit.empty()) || value == 0) {
    throw std::invalid_argument("'" + text + "' is no positive number");
  }
  return value << shift;
}

options parse(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&] {
      if (++i == argc) throw std::invalid_argument(name + " needs a value");
      return std::string(argv[i]);
    };
    if (name == "--help" || name == "-h") {
      std::fputs(usage, stdout);
      std::exit(0);
    } else if (name == "--min") {
      o.min = number(value());
    } else if (name == "--max") {
      o.max = number(value());
    } else if (name == "--step") {
      o.step = std::max<std::uint64_t>(2, number(value()));
    } else if (name == "--keys") {
      o.keys = (number(value()) + 255) / 256 * 256;
    } else if (name == "--repeat") {
      o.repeat = static_cast<unsigned>(number(value()));
    } else if (name == "--widths") {
      o.widths = true;
    } else if (name == "--cpu-threads") {
      o.cpu_threads = static_cast<unsigned>(number(value()));
    } else if (name == "--json") {
      o.json = value();
    } else if (name == "--svg") {
      o.svg = value();
    } else if (name == "--dry-run") {
      o.dry_run = true;
    } else {
      throw std::invalid_argument("unknown option '" + name + "'; see --help");
    }
  }
  return o;
}

void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
  }
}

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

/// Temporaries come from memory that the pool keeps, as in a program that runs for long: without
/// this, it gives everything back whenever the device is waited for.
void keep_pool() {
  int device = 0;
  cudaMemPool_t pool = nullptr;
  std::uint64_t everything = ~std::uint64_t{0};
  require(cudaGetDevice(&device), "ask for the device");
  require(cudaDeviceGetDefaultMemPool(&pool, device), "ask for the pool");
  require(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything),
          "keep the pool's memory");
}

class gpu_measurement {
 public:
  gpu_measurement(gpu_report& report, const options& o, const std::vector<std::uint64_t>& keys)
      : report_(report),
        options_(o),
        host_keys_(keys),
        keys_(keys.size() * 8, nullptr),
        blocks_of_(keys.size() * 8, nullptr),
        bitmap_(bitmap_bytes(keys.size()), nullptr),
        timer_(o.repeat) {
    require(cudaMemcpy(keys_.data(), keys.data(), keys.size() * 8, cudaMemcpyHostToDevice),
            "upload keys");
  }

  void measure(std::uint64_t filter_bytes) {
    const auto blocks = static_cast<std::uint32_t>(filter_bytes / 64);
    gpu::filter f(plan_with_blocks(blocks, 8));
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

    const auto add = [&](const char* what, std::uint64_t n, double bytes, auto before, auto work) {
      report_.rows.push_back(summarise(filter_bytes, what, n, bytes, timer_.run(before, work)));
    };
    const auto clear = [&] { f.clear(); };
    const auto nothing = [] {};
    add("floor update", inserted, 64 + 64 + 8, clear,
        [&] { update_floor(f.view(), blocks_of, inserted / 32 * 32, nullptr); });
    using gpu::insert_method;
    add("insert direct", inserted, 64 + 64 + 8, clear,
        [&] { f.insert(some, nullptr, insert_method::direct); });
    const double slices = 128.0 * blocks / static_cast<double>(inserted);
    for (const auto method : {insert_method::l2_slices, insert_method::shared_slices}) {
      const auto plan = gpu::plan_insert(f.shape(), inserted, l2_bytes_, method);
      // Read, write the hash, a pass each way for 8 bits, read again; every slice there and back.
      const double moved = 8 + 8 + 16 * ((plan.bits + 7) / 8) + 8 + slices;
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
        add(name.c_str(), count, 64 + 8 + 0.125, nothing,
            [&] { contains_by_width(w, f.view(), values, count, bits, nullptr); });
      }
      for (const unsigned lanes : {1u, 2u, 4u, 8u}) {
        const std::string name = "insert " + std::to_string(lanes) + " lanes";
        add(name.c_str(), inserted, 64 + 64 + 8, clear, [&] {
          insert_by_width({lanes, 1}, f.view(), values, inserted, nullptr);
        });
      }
    }
    const std::uint64_t fresh_keys = std::min<std::uint64_t>(inserted, 1 << 26);
    add("insert_new", fresh_keys, 64 + 64 + 8 + 24 * 8, clear,
        [&] { (void)f.insert_new(batch.slice(0, fresh_keys), bits); });
    const key_batch host = key_batch::integers(host_keys_);
    std::vector<std::uint8_t> answers(bitmap_bytes(count));
    const auto stream = [&](const char* what) {
      report_.rows.push_back(summarise(
          filter_bytes, what, count, 64 + 8 + 8 + 0.25,
          wall(options_.repeat, [&] { (void)streamer_.may_contain(f, host, answers.data()); })));
    };
    stream("streamed contains");
    void* const locked = const_cast<std::uint64_t*>(host_keys_.data());
    require(cudaHostRegister(locked, count * 8, cudaHostRegisterDefault), "lock pages");
    const std::unique_ptr<void, decltype(&cudaHostUnregister)> unlock(locked, cudaHostUnregister);
    stream("streamed contains, page-locked");
  }

  void set_l2(std::uint64_t bytes) { l2_bytes_ = bytes; }

 private:
  gpu_report& report_;
  const options& options_;
  const std::vector<std::uint64_t>& host_keys_;
  gpu::buffer keys_;
  gpu::buffer blocks_of_;
  gpu::buffer bitmap_;
  device_timer timer_;
  gpu::streamer streamer_;
  std::uint64_t l2_bytes_ = 0;
};

/// The fastest CPU engine, on the same keys.
void measure_cpu(gpu_report& report, const options& o, const std::vector<std::uint64_t>& keys,
                 std::uint64_t filter_bytes) {
  const engine& cpu = find_engine("auto");
  filter f(plan_with_blocks(filter_bytes / 64, 8));
  const std::uint64_t count = std::min<std::uint64_t>(keys.size(), 1 << 25);
  const key_batch batch = key_batch::integers(std::span(keys).first(count));
  const key_batch some = batch.slice(0, std::min<std::uint64_t>(count, filter_bytes * 8 / 12));
  const bulk_options threads{o.cpu_threads};
  std::vector<std::uint8_t> answers(bitmap_bytes(count));
  report.rows.push_back(summarise(filter_bytes, "insert, CPU", some.size(), 64 + 64 + 8,
                                  wall(o.repeat, [&] { cpu.insert(f.view(), some, threads); })));
  report.rows.push_back(summarise(
      filter_bytes, "contains, CPU", count, 64 + 8 + 0.125,
      wall(o.repeat, [&] { (void)cpu.may_contain(f.view(), batch, answers.data(), threads); })));
}

void write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write '" + path + "'");
}

int run(const options& o) {
  gpu_report report;
  report.cpu_threads = o.cpu_threads;
  report.why_none = gpu::why_unavailable();
  const bool have_gpu = report.why_none.empty();
  if (!have_gpu && !o.dry_run) {
    std::fprintf(stderr, "octobloom-gpu-bench: no GPU: %s\n", report.why_none.c_str());
    return 77;
  }
  const auto keys = random_keys(o.keys, 1);
  std::uint64_t max = o.max;
  std::uint64_t cpu_max = available_memory() / 4;
  if (have_gpu) {
    const gpu::device_info device = gpu::current_device();
    report.device = device.name;
    report.bandwidth = device.bandwidth;
    keep_pool();
    report.link = link_rate();
    max = std::min(max, device.free_bytes / 2);
    gpu_measurement gpu(report, o, keys);
    gpu.set_l2(device.l2_bytes);
    for (std::uint64_t bytes = o.min; bytes <= max; bytes *= o.step) gpu.measure(bytes);
    // The size that a goal names, whatever the steps.
    const std::uint64_t half_gib = std::uint64_t{512} << 20;
    bool measured = half_gib > max || half_gib < o.min;
    for (const gpu_row& row : report.rows) measured = measured || row.filter_bytes == half_gib;
    if (!measured) gpu.measure(half_gib);
  }
  std::vector<std::uint64_t> sizes;
  for (const gpu_row& row : report.rows) sizes.push_back(row.filter_bytes);
  if (!have_gpu) {
    for (std::uint64_t bytes = o.min; bytes <= o.max; bytes *= o.step) sizes.push_back(bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  cpu_max = std::min(cpu_max, std::uint64_t{1} << 30);
  for (const std::uint64_t bytes : sizes) {
    if (bytes <= cpu_max) measure_cpu(report, o, keys, bytes);
  }
  std::stable_sort(report.rows.begin(), report.rows.end(), [](const gpu_row& a, const gpu_row& b) {
    return a.filter_bytes < b.filter_bytes;
  });
  print_text(report);
  write_file(o.json, to_json(report));
  write_file(o.svg, to_svg(report));
  return 0;
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
