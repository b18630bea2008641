// What only an emulated device can show: that every failing call of the runtime is noticed and
// leaves nothing behind, and that the emulation itself sees the faults that it is there for.

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <octobloom/cuda_engine.h>
#include <octobloom/emulator/device.h>
#include <octobloom/engine.h>
#include <octobloom/filter.h>
#include <octobloom/gpu/device.h>
#include <octobloom/gpu/filter.h>
#include <octobloom/gpu/streaming.h>
#include <octobloom/opened.h>

#include "cuda/cuda_test_data.h"
#include "cuda/view_kernels.h"

namespace octobloom::test {
namespace {

namespace emulated = emulated_device;

// What a program does with a device, each with an outcome that can be compared: bytes.

using outcome = std::vector<std::uint8_t>;

void append(outcome& to, const filter& f) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(f.view().words());
  to.insert(to.end(), bytes, bytes + f.bytes());
}

void append(outcome& to, std::uint64_t number) {
  for (unsigned shift = 0; shift < 64; shift += 8) {
    to.push_back(static_cast<std::uint8_t>(number >> shift));
  }
}

void own_call(cudaError_t status) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  throw error(error_code::device, "a call of the test's own");
}

void download(outcome& to, const gpu::buffer& device, gpu::stream on) {
  std::vector<std::uint8_t> bytes(device.bytes());
  own_call(cudaMemcpyAsync(bytes.data(), device.data(), bytes.size(), cudaMemcpyDeviceToHost, on));
  own_call(cudaStreamSynchronize(on));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

struct device_keys {
  explicit device_keys(const std::vector<std::uint64_t>& host, gpu::stream on = nullptr)
      : memory(host.size() * 8, on) {
    own_call(
        cudaMemcpyAsync(memory.data(), host.data(), host.size() * 8, cudaMemcpyHostToDevice, on));
  }
  [[nodiscard]] gpu::keys batch(std::size_t keys) const {
    return gpu::keys::integers(memory.data<const std::uint64_t>(), keys);
  }
  gpu::buffer memory;
};

constexpr std::uint32_t blocks = 2000;  // two slices of more than 48 KiB
constexpr std::size_t count = 3000;

const std::vector<std::uint64_t>& some_keys() {
  static const auto keys = random_keys(count, 77);
  return keys;
}

gpu::filter half_full(gpu::stream on) {
  filter host = make_filter(blocks, 8);
  host.insert(std::span(some_keys()).first(count / 2));
  return gpu::filter::from_host(host, on);
}

outcome insert_by(gpu::insert_method method, gpu::stream on) {
  const device_keys keys(some_keys(), on);
  gpu::filter f(plan_with_blocks(blocks, 8), {}, on);
  f.insert(keys.batch(count), on, method);
  outcome result;
  append(result, f.to_host(on));
  append(result, f.inserted_keys());
  return result;
}

/// `question(filter, keys, answers)` returns a number and fills `bytes` of answers.
template <class Question>
outcome ask(std::size_t bytes, gpu::stream on, Question question) {
  const device_keys keys(some_keys(), on);
  const gpu::filter f = half_full(on);
  const gpu::buffer answers(bytes, on);
  own_call(cudaMemsetAsync(answers.data(), 0, bytes, on));
  outcome result;
  append(result, question(f, keys.batch(count), answers));
  download(result, answers, on);
  return result;
}

const gpu::stream_options small_chunks{.memory_bytes = 64 << 10};

const std::vector<std::uint64_t>& stream_of_keys() {
  static const auto keys = random_keys(6000, 78);  // three chunks
  return keys;
}

struct door {
  std::string name;
  std::function<outcome(gpu::stream)> open;
};

const std::vector<door>& doors() {
  using gpu::insert_method;
  using keys = gpu::keys;
  static const std::vector<door> all = {
      {"insert_direct", [](auto on) { return insert_by(insert_method::direct, on); }},
      {"insert_by_L2_slices", [](auto on) { return insert_by(insert_method::l2_slices, on); }},
      {"insert_by_shared_slices",
       [](auto on) { return insert_by(insert_method::shared_slices, on); }},
      {"may_contain",
       [](auto on) {
         return ask(count / 8, on, [&](auto& f, const keys& batch, auto& answers) {
           f.may_contain(batch, answers.template data<std::uint8_t>(), on);
           return 0u;
         });
       }},
      {"may_contain_bytes",
       [](auto on) {
         return ask(count, on, [&](auto& f, const keys& batch, auto& answers) {
           f.may_contain_bytes(batch, answers.template data<std::uint8_t>(), on);
           return 0u;
         });
       }},
      {"count_contained",
       [](auto on) {
         return ask(8, on, [&](auto& f, const keys& batch, auto&) {
           return f.count_contained(batch, on);
         });
       }},
      {"select_contained",
       [](auto on) {
         return ask(count * 8, on, [&](auto& f, const keys& batch, auto& answers) {
           return f.select_contained(batch, answers.template data<std::uint64_t>(), on);
         });
       }},
      {"select_contained_values",
       [](auto on) {
         return ask(count * 8, on, [&](auto& f, const keys& batch, auto& answers) {
           return f.select_contained_values(batch, answers.data(), on);
         });
       }},
      {"insert_new",
       [](auto on) {
         const device_keys batch(some_keys(), on);
         gpu::filter f = half_full(on);
         const gpu::buffer fresh(count / 8, on);
         outcome result;
         append(result, f.insert_new(batch.batch(count), fresh.data<std::uint8_t>(), on));
         download(result, fresh, on);
         append(result, f.to_host(on));
         return result;
       }},
      {"merge_copy_clear_statistics",
       [](auto on) {
         gpu::filter f = half_full(on);
         gpu::filter other = f.copy(on);
         other.clear(on);
         other.merge(f, on);
         outcome result;
         append(result, other.to_host(on));
         append(result, other.popcount(on));
         append(result, static_cast<std::uint64_t>(*other.statistics(on).estimated_keys));
         return result;
       }},
      {"l2_window",
       [](auto on) {
         const device_keys batch(some_keys(), on);
         gpu::filter f(plan_with_blocks(blocks, 8), {}, on);
         {
           const gpu::l2_window window(on, f.view().words(), f.bytes());
           f.insert(batch.batch(count), on);
         }
         outcome result;
         append(result, f.to_host(on));
         return result;
       }},
      {"streamed_insert",
       [](auto on) {
         gpu::filter f(plan_with_blocks(blocks, 8), {}, on);
         gpu::insert(f, key_batch::integers(stream_of_keys()), small_chunks);
         outcome result;
         append(result, f.to_host(on));
         append(result, f.inserted_keys());
         return result;
       }},
      {"streamed_may_contain",
       [](auto on) {
         const gpu::filter f = half_full(on);
         outcome result(bitmap_bytes(stream_of_keys().size()));
         append(result, gpu::may_contain(f, key_batch::integers(stream_of_keys()), result.data(),
                                         small_chunks));
         return result;
       }},
      {"streamed_insert_new",
       [](auto on) {
         gpu::filter f = half_full(on);
         outcome result(bitmap_bytes(stream_of_keys().size()));
         append(result, gpu::insert_new(f, key_batch::integers(stream_of_keys()), result.data(),
                                        small_chunks));
         append(result, f.to_host(on));
         return result;
       }},
      {"kept_streamer_and_page_locked_keys",
       [](auto on) {
         gpu::filter f = half_full(on);
         auto keys_of_host = stream_of_keys();
         own_call(cudaHostRegister(keys_of_host.data(), keys_of_host.size() * 8,
                                   cudaHostRegisterDefault));
         const std::unique_ptr<void, decltype(&cudaHostUnregister)> locked(keys_of_host.data(),
                                                                           cudaHostUnregister);
         const auto batch = key_batch::integers(keys_of_host);
         gpu::streamer streamer(small_chunks);
         outcome result(bitmap_bytes(batch.size()));
         append(result, streamer.may_contain(f, batch.slice(0, 800), result.data()));
         append(result, streamer.may_contain(f, batch, result.data()));
         streamer.insert(f, batch.slice(1000, 5000));
         append(result, f.to_host(on));
         return result;
       }},
      {"engine_row",
       [](auto) {
         filter f = make_filter(blocks, 8);
         const auto batch = key_batch::integers(some_keys());
         outcome result(bitmap_bytes(count));
         const filter before = f.copy();
         try {
           cuda_engine().insert(f.view(), batch.slice(0, count / 2), {});
         } catch (const error&) {
           EXPECT_TRUE(same_words(f, before)) << "a host filter was half updated";
           throw;
         }
         append(result, cuda_engine().may_contain(f.view(), batch, result.data(), {}));
         append(result, f);
         return result;
       }},
      {"opened",
       [](auto) {
         const auto batch = key_batch::integers(some_keys());
         outcome result(bitmap_bytes(count));
         opened<filter> f(make_filter(blocks, 8), cuda_engine());
         f.insert(batch.slice(0, count / 2));
         append(result, f.may_contain(batch, result.data()));
         append(result, f.insert_new(batch, result.data()));
         append(result, f.filter());
         f.home().insert(std::uint64_t{3});
         append(result, f.may_contain(batch, result.data()));
         append(result, std::move(f).close());
         return result;
       }},
  };
  return all;
}

/// A stream that waits for no other.
class own_stream {
 public:
  own_stream() { own_call(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  own_stream(const own_stream&) = delete;
  own_stream& operator=(const own_stream&) = delete;
  ~own_stream() { EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess); }
  operator gpu::stream() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class EveryDoor : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] outcome open(gpu::stream on) const { return doors()[GetParam()].open(on); }
};

TEST_P(EveryDoor, GivesOneOutcomeUnderEverySchedule) {
  emulated::set_schedule("early");
  const outcome expected = open(nullptr);
  ASSERT_FALSE(expected.empty());
  const own_stream stream;
  for (const char* schedule : {"late", "early", "1", "2", "3", "4", "5"}) {
    SCOPED_TRACE(std::string("schedule ") + schedule);
    emulated::set_schedule(schedule);
    EXPECT_EQ(open(nullptr), expected);
    EXPECT_EQ(open(stream), expected);
    EXPECT_EQ(emulated::bytes_in_use(), 0u);
  }
}

// Whatever call fails: it is told as an error of ours, or makes no difference; everything is given
// back, nobody else is told, and the next try works.
TEST_P(EveryDoor, NoticesEveryFailingCall) {
  const own_stream stream;
  const outcome expected = open(stream);
  const std::uint64_t before = emulated::calls();
  (void)open(stream);
  const std::uint64_t calls = emulated::calls() - before;
  ASSERT_GE(calls, 5u);
  std::uint64_t told = 0;
  for (std::uint64_t n = 1; n <= calls; ++n) {
    const cudaError_t status = n % 2 == 0 ? cudaErrorMemoryAllocation : cudaErrorLaunchFailure;
    emulated::fail_call(n, status);
    const std::uint64_t handles = emulated::handles_in_use();
    try {
      EXPECT_EQ(open(stream), expected) << "call " << n << ", " << emulated::failed_call();
    } catch (const error& e) {
      ++told;
      const auto code = e.code();
      EXPECT_TRUE(code == error_code::out_of_memory || code == error_code::device ||
                  code == error_code::engine_unavailable)
          << "call " << n << ", " << emulated::failed_call() << ": " << e.what();
    } catch (const std::exception& e) {
      ADD_FAILURE() << "call " << n << ", " << emulated::failed_call()
                    << ", no error of octobloom: " << e.what();
    }
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "call " << n << ", " << emulated::failed_call()
                                               << ": the next caller would be told of it again";
    emulated::fail_call(0, cudaSuccess);
    ASSERT_EQ(emulated::bytes_in_use(), 0u) << "call " << n << ", " << status;
    ASSERT_EQ(emulated::handles_in_use(), handles) << "call " << n << ", " << status;
  }
  EXPECT_EQ(open(stream), expected);
  std::printf("%llu calls, %llu failures told\n", static_cast<unsigned long long>(calls),
              static_cast<unsigned long long>(told));
}

INSTANTIATE_TEST_SUITE_P(Emulated, EveryDoor, ::testing::Range(std::size_t{0}, doors().size()),
                         [](const auto& parameter) { return doors()[parameter.param].name; });

// Two devices.

/// While it lives, the other device is current.
class on_other_device {
 public:
  on_other_device() { own_call(cudaSetDevice(1)); }
  on_other_device(const on_other_device&) = delete;
  on_other_device& operator=(const on_other_device&) = delete;
  ~on_other_device() { EXPECT_EQ(cudaSetDevice(0), cudaSuccess); }
};

TEST(TwoDevices, AFilterIsUsedOnItsOwn) {
  const device_keys keys(some_keys());
  gpu::filter f = half_full(nullptr);
  gpu::streamer streamer(small_chunks);
  const filter before = f.to_host();
  const gpu::buffer memory(count * 8, nullptr);
  auto* const bytes = memory.data<std::uint8_t>();
  {
    const on_other_device scope;
    gpu::filter other = half_full(nullptr);
    const auto batch = keys.batch(count);
    const std::vector<std::function<void()>> uses = {
        [&] { f.insert(batch); },
        [&] { f.insert(batch, nullptr, gpu::insert_method::shared_slices); },
        [&] { f.may_contain(batch, bytes); },
        [&] { f.may_contain_bytes(batch, bytes); },
        [&] { (void)f.count_contained(batch); },
        [&] { (void)f.select_contained(batch, memory.data<std::uint64_t>()); },
        [&] { (void)f.select_contained_values(batch, bytes); },
        [&] { (void)f.insert_new(batch, bytes); },
        [&] { (void)f.insert_new(batch.slice(0, 0), bytes); },
        [&] { f.merge(other); },
        [&] { other.merge(f); },
        [&] { f.clear(); },
        [&] { (void)f.popcount(); },
        [&] { (void)f.statistics(); },
        [&] { (void)f.copy(); },
        [&] { (void)f.to_host(); },
        [&] { gpu::insert(f, key_batch::integers(some_keys())); },
        [&] { streamer.insert(other, key_batch::integers(some_keys())); },
    };
    for (std::size_t i = 0; i < uses.size(); ++i) {
      try {
        uses[i]();
        ADD_FAILURE() << "use " << i << " was let pass";
      } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::invalid_argument) << "use " << i << ": " << e.what();
        EXPECT_NE(std::string(e.what()).find("device 1 is current: call cudaSetDevice(0)"),
                  std::string::npos)
            << e.what();
      }
    }
    EXPECT_TRUE(same_words(before, other.to_host()));
  }
  EXPECT_TRUE(same_words(before, f.to_host()));
  ASSERT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(TwoDevices, MemoryGoesBackToItsOwnWhateverIsCurrent) {
  for (const char* schedule : {"late", "early", "3"}) {
    emulated::set_schedule(schedule);
    auto f = std::make_unique<gpu::filter>(half_full(nullptr));
    const on_other_device scope;
    f = std::make_unique<gpu::filter>(half_full(nullptr));
    f->insert(device_keys(some_keys()).batch(count));
    EXPECT_GT(f->to_host().inserted_keys(), 0u);
    f.reset();
    int current = 0;
    EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, 1);
    EXPECT_EQ(emulated::bytes_in_use(), 0u);
  }
}

// The emulation can see what it is there for.

class EmulatedDevice : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

/// Ends the program with 3 when the device reports a bad address.
[[noreturn]] void exit_with_verdict() {
  std::_Exit(cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 3 : 4);
}

TEST_F(EmulatedDevice, SeesAKernelBeyondItsMemory) {
  EXPECT_EXIT(
      {
        const gpu::filter f(plan_with_blocks(100, 8));
        const device_keys keys(some_keys());
        const gpu::buffer answers(count - 1, nullptr);
        run_view_kernels(0, f.view(), keys.memory.data<std::uint64_t>(), count, count / 2,
                         answers.data<std::uint8_t>());
        exit_with_verdict();
      },
      ::testing::ExitedWithCode(3), "of 2999 bytes");
}

TEST_F(EmulatedDevice, SeesMemoryUsedAfterItWasFreed) {
  EXPECT_EXIT(
      {
        gpu::filter f(plan_with_blocks(100, 8));
        const auto gone = device_keys(some_keys()).batch(count);
        f.insert(gone);
        exit_with_verdict();
      },
      ::testing::ExitedWithCode(3), "insert_kernel");
}

TEST_F(EmulatedDevice, SeesMemoryUsedBeforeItsStreamAllocatedIt) {
  EXPECT_EXIT(
      {
        emulated::set_schedule("late");
        const own_stream allocating;
        const own_stream using_it;
        const gpu::buffer memory(64, allocating);
        (void)cudaMemsetAsync(memory.data(), 0, 64, using_it);
        (void)cudaStreamSynchronize(using_it);
        exit_with_verdict();
      },
      ::testing::ExitedWithCode(3), "outside of the device's live memory");
}

TEST_F(EmulatedDevice, DoesUnorderedStreamsInTheWrongOrder) {
  emulated::set_schedule("late");
  const own_stream writer;
  const own_stream reader;
  cudaEvent_t written = nullptr;
  ASSERT_EQ(cudaEventCreate(&written), cudaSuccess);
  const gpu::buffer memory(64, writer);
  for (const bool ordered : {false, true}) {
    ASSERT_EQ(cudaMemsetAsync(memory.data(), 1, 64, writer), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(writer), cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(memory.data(), 2, 64, writer), cudaSuccess);
    ASSERT_EQ(cudaEventRecord(written, writer), cudaSuccess);
    if (ordered) {
      ASSERT_EQ(cudaStreamWaitEvent(reader, written, 0), cudaSuccess);
    }
    std::uint8_t seen = 0;
    ASSERT_EQ(cudaMemcpyAsync(&seen, memory.data(), 1, cudaMemcpyDeviceToHost, reader),
              cudaSuccess);
    EXPECT_EQ(seen, ordered ? 2 : 1);
  }
  EXPECT_EQ(cudaEventDestroy(written), cudaSuccess);
}

TEST_F(EmulatedDevice, ReadsPageLockedMemoryLateAndPageableAtOnce) {
  emulated::set_schedule("late");
  const gpu::buffer memory(2, nullptr);
  void* locked = nullptr;
  ASSERT_EQ(cudaMallocHost(&locked, 1), cudaSuccess);
  auto* const page_locked = static_cast<std::uint8_t*>(locked);
  std::uint8_t pageable = 5;
  *page_locked = 5;
  auto* const target = memory.data<std::uint8_t>();
  ASSERT_EQ(cudaMemcpyAsync(target, &pageable, 1, cudaMemcpyHostToDevice, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(target + 1, page_locked, 1, cudaMemcpyHostToDevice, nullptr),
            cudaSuccess);
  pageable = 6;
  *page_locked = 6;
  std::uint8_t seen[2];
  ASSERT_EQ(cudaMemcpy(seen, target, 2, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(seen[0], 5);
  EXPECT_EQ(seen[1], 6);
  EXPECT_EQ(cudaFreeHost(locked), cudaSuccess);
}

TEST_F(EmulatedDevice, SeesAKernelInAnotherDevicesMemory) {
  EXPECT_EXIT(
      {
        const gpu::filter f(plan_with_blocks(100, 8));
        const device_keys keys(some_keys());
        const gpu::buffer answers(count, nullptr);
        (void)cudaDeviceSynchronize();
        (void)cudaSetDevice(1);
        run_view_kernels(0, f.view(), keys.memory.data<std::uint64_t>(), count, count / 2,
                         answers.data<std::uint8_t>());
        exit_with_verdict();
      },
      ::testing::ExitedWithCode(3), "no buffer");
}

// Not as if there were no device: the program has lost it.
TEST_F(EmulatedDevice, IsReportedAsLostAfterAFault) {
  EXPECT_EXIT(
      {
        gpu::filter f(plan_with_blocks(100, 8));
        const auto gone = device_keys(some_keys()).batch(count);
        f.insert(gone);
        (void)cudaDeviceSynchronize();
        try {
          (void)gpu::filter(plan_with_blocks(100, 8));
        } catch (const error& e) {
          std::fprintf(stderr, "%s\n", e.what());
          std::_Exit(e.code() == error_code::device ? 3 : 4);
        }
        std::_Exit(5);
      },
      ::testing::ExitedWithCode(3), "an earlier kernel of this program has failed");
}

TEST_F(EmulatedDevice, GetsAnOpenedFilterOnce) {
  constexpr std::size_t calls = 30;
  opened<filter> f(filter(plan_with_blocks(2000, 8)), cuda_engine());
  const std::uint64_t bytes = f.unsettled().bytes();
  const emulated::traffic before = emulated::copied_bytes();
  std::vector<std::uint8_t> answers(bitmap_bytes(100));
  for (std::size_t call = 0; call < calls; ++call) {
    const key_batch keys = key_batch::integers(some_keys()).slice(100 * (call % 10), 100);
    f.insert(keys.slice(0, 50));
    EXPECT_GE(f.may_contain(keys, answers.data()), 50u);
    f.insert_new(keys, answers.data());
  }
  const emulated::traffic meanwhile = emulated::copied_bytes();
  EXPECT_GE(meanwhile.to_device - before.to_device, bytes);
  EXPECT_LT(meanwhile.to_device - before.to_device, bytes + calls * 250 * 8 * 2);
  EXPECT_LT(meanwhile.to_host - before.to_host, bytes) << "nothing but answers";
  (void)f.filter();
  const emulated::traffic after = emulated::copied_bytes();
  EXPECT_EQ(after.to_host - meanwhile.to_host, bytes);
  EXPECT_EQ(after.to_device, meanwhile.to_device);
}

TEST_F(EmulatedDevice, KeepsItsMemoryFromTheHost) {
  const gpu::buffer memory(64, nullptr);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_DEATH(*memory.data<volatile int>() = 1, "");
}

TEST_F(EmulatedDevice, TellsWhatWasNotGivenBack) {
  EXPECT_EXIT(
      {
        void* lost = nullptr;
        (void)cudaMallocAsync(&lost, 4321, nullptr);
        std::exit(0);
      },
      ::testing::ExitedWithCode(70), "4321 bytes, 0 streams and events were never given back");
}

TEST_F(EmulatedDevice, EndsProgramsThatFreeTwice) {
  EXPECT_DEATH(
      {
        void* memory = nullptr;
        (void)cudaMallocAsync(&memory, 64, nullptr);
        (void)cudaFreeAsync(memory, nullptr);
        (void)cudaFreeAsync(memory, nullptr);
        (void)cudaDeviceSynchronize();
      },
      "memory is freed that is not allocated");
}

}  // namespace
}  // namespace octobloom::test
