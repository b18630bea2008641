// Everything for real, on a GPU. Skips, with what is missing, where there is none.

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <thread>
#include <unordered_set>
#include <vector>

#include <octobloom/cuda_engine.h>
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

std::uint64_t comparisons = 0;

class report_comparisons : public ::testing::Environment {
 public:
  void TearDown() override {
    std::printf("comparisons with the reference on a GPU: %llu\n",
                static_cast<unsigned long long>(comparisons));
  }
};
const auto* const registered = ::testing::AddGlobalTestEnvironment(new report_comparisons);

class Gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = gpu::why_unavailable(); !reason.empty()) {
      GTEST_SKIP() << "no GPU: " << reason;
    }
  }
};

/// Device memory with a copy of a host array.
template <class T>
class device_copy {
 public:
  explicit device_copy(const std::vector<T>& host) : device_copy(host.data(), host.size()) {}
  device_copy(const T* host, std::size_t count)
      : memory_(std::max<std::size_t>(count, 1) * sizeof(T), nullptr) {
    EXPECT_EQ(cudaMemcpy(memory_.data(), host, count * sizeof(T), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  [[nodiscard]] T* get() const { return memory_.data<T>(); }
  [[nodiscard]] std::vector<T> read(std::size_t count) const {
    std::vector<T> host(count);
    EXPECT_EQ(cudaMemcpy(host.data(), get(), count * sizeof(T), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return host;
  }

 private:
  gpu::buffer memory_;
};

struct device_strings {
  explicit device_strings(const string_column& column)
      : bytes(column.bytes.data(), column.bytes.size()),
        offsets(column.offsets),
        keys{bytes.get(), offsets.get(), column.size(), column.separator} {}
  device_copy<char> bytes;
  device_copy<std::uint64_t> offsets;
  string_keys keys;
};

/// The whole bulk surface for one batch, host and device forms of the same keys.
void expect_like_reference(std::uint32_t blocks, std::uint32_t k, const key_batch& host,
                           const gpu::keys& device) {
  SCOPED_TRACE("blocks " + std::to_string(blocks) + ", k " + std::to_string(k) + ", keys " +
               std::to_string(host.size()));
  const filter_options options{.seed = 17};
  filter expected(plan_with_blocks(blocks, k), options);
  const std::size_t half = host.size() / 2 / 8 * 8;
  expected.insert(host.slice(0, half));
  for (const auto method : {gpu::insert_method::direct, gpu::insert_method::l2_slices,
                            gpu::insert_method::shared_slices}) {
    gpu::filter built(plan_with_blocks(blocks, k), options);
    built.insert(device.slice(0, half), nullptr, method);
    ASSERT_TRUE(same_words(expected, built.to_host())) << static_cast<int>(method);
    EXPECT_EQ(built.inserted_keys(), half);
  }

  gpu::filter f = gpu::filter::from_host(expected);
  const std::size_t bytes = bitmap_bytes(host.size());
  std::vector<std::uint8_t> answers(bytes);
  const std::uint64_t found =
      reference_engine().may_contain(expected.view(), host, answers.data(), {});
  const device_copy<std::uint8_t> bitmap(std::vector<std::uint8_t>(bytes, 0xEE));
  f.may_contain(device, bitmap.get());
  ASSERT_EQ(bitmap.read(bytes), answers);
  EXPECT_EQ(f.count_contained(device), found);
  const device_copy<std::uint64_t> positions(std::vector<std::uint64_t>(host.size()));
  EXPECT_EQ(f.select_contained(device, positions.get()), found);
  std::vector<std::uint64_t> expected_positions;
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (bitmap_get(answers.data(), i)) expected_positions.push_back(i);
  }
  ASSERT_EQ(positions.read(found), expected_positions);
  const device_copy<std::uint8_t> flags(std::vector<std::uint8_t>(host.size(), 9));
  f.may_contain_bytes(device, flags.get());
  const auto bytes_answers = flags.read(host.size());
  for (std::size_t i = 0; i < host.size(); ++i) {
    ASSERT_EQ(bytes_answers[i], bitmap_get(answers.data(), i) ? 1 : 0);
  }

  // Of equal hashes the first is new; the body is the reference's.
  std::unordered_set<std::uint64_t> seen;
  std::vector<std::uint8_t> fresh_bits(bytes);
  for (std::size_t i = 0; i < host.size(); ++i) {
    const std::uint64_t hash = host.hash(i, options.seed);
    if (!expected.view().may_contain_hash(hash) && seen.insert(hash).second) {
      fresh_bits[i / 8] = static_cast<std::uint8_t>(fresh_bits[i / 8] | 1u << (i % 8));
    }
  }
  EXPECT_EQ(f.insert_new(device, bitmap.get()), seen.size());
  ASSERT_EQ(bitmap.read(bytes), fresh_bits);
  expected.insert(host);
  ASSERT_TRUE(same_words(expected, f.to_host()));
  const filter_statistics exact = expected.statistics();
  const filter_statistics statistics = f.statistics();
  EXPECT_EQ(f.popcount(), popcount_of(expected.view()));
  EXPECT_EQ(statistics.fill, exact.fill);
  EXPECT_NEAR(statistics.current_fpr, exact.current_fpr, 1e-9 * exact.current_fpr);
  comparisons += 5 * host.size() + 5 * expected.view().shape().word_count();
}

class GpuForK : public Gpu, public ::testing::WithParamInterface<std::uint32_t> {};

TEST_P(GpuForK, EveryKindOfKeyAndTail) {
  const std::uint32_t k = GetParam();
  for (const std::size_t count : {1u, 31u, 33u, 255u, 257u, 1000u, 100'003u}) {
    auto wide = random_keys(count, count + k);
    for (std::size_t i = 3; i < count; i += 3) wide[i] = wide[i / 2];
    const device_copy<std::uint64_t> device_wide(wide);
    expect_like_reference(333, k, key_batch::integers(wide),
                          gpu::keys::integers(device_wide.get(), count));
    expect_like_reference(70'001, k, key_batch::hashes(wide),
                          gpu::keys::hashes(device_wide.get(), count));
    std::vector<std::int32_t> narrow(count);
    for (std::size_t i = 0; i < count; ++i) narrow[i] = static_cast<std::int32_t>(wide[i]);
    std::vector<std::uint64_t> widened(count);
    std::transform(narrow.begin(), narrow.end(), widened.begin(),
                   [](std::int32_t key) { return widen(key); });
    const device_copy<std::int32_t> device_narrow(narrow);
    expect_like_reference(5000, k, key_batch::integers(widened),
                          gpu::keys::integers(device_narrow.get(), count));
    const string_column column(count, k % 2, k);
    const device_strings strings(column);
    expect_like_reference(5000, k, key_batch::strings(column.keys()),
                          gpu::keys::strings(strings.keys));
  }
}

INSTANTIATE_TEST_SUITE_P(K, GpuForK, ::testing::Values(1u, 4u, 7u, 8u, 9u, 16u, 17u, 24u),
                         ::testing::PrintToStringParamName());

// Small, for the sanitizers: the kernel that works in shared memory.
TEST_F(Gpu, InsertsBySlices) {
  const auto keys = random_keys(20'000, 15);
  const device_copy<std::uint64_t> device(keys);
  for (const std::uint32_t k : {5u, 8u, 13u, 24u}) {
    for (const std::uint32_t blocks : {3u, 1000u, 9001u}) {
      filter expected = make_filter(blocks, k);
      expected.insert(std::span(keys).first(7));
      gpu::filter built = gpu::filter::from_host(expected);
      expected.insert(keys);
      built.insert(gpu::keys::integers(device.get(), keys.size()), nullptr,
                   gpu::insert_method::shared_slices);
      ASSERT_TRUE(same_words(expected, built.to_host())) << "k " << k << ", blocks " << blocks;
      comparisons += expected.view().shape().word_count();
    }
  }
}

TEST_F(Gpu, SelectsValues) {
  const auto keys = random_keys(10'001, 4);
  filter host = make_filter(2000, 8);
  host.insert(std::span(keys).first(3000));
  const gpu::filter f = gpu::filter::from_host(host);
  const device_copy<std::uint64_t> device(keys);
  const device_copy<std::uint64_t> selected(keys);
  const std::uint64_t found =
      f.select_contained_values(gpu::keys::integers(device.get(), keys.size()), selected.get());
  std::vector<std::uint64_t> expected;
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(expected),
               [&](std::uint64_t key) { return host.may_contain(key); });
  EXPECT_EQ(selected.read(found), expected);
  comparisons += keys.size();
}

TEST_F(Gpu, ViewInsideKernels) {
  const auto keys = random_keys(20'000, 5);
  const device_copy<std::uint64_t> device(keys);
  for (const std::uint32_t k : {3u, 8u, 13u, 24u}) {
    filter expected = make_filter(4000, k);
    expected.insert(std::span(keys).first(10'000));
    for (const unsigned lanes : {0u, 1u, 2u, 4u, 8u}) {
      const gpu::filter f(plan_with_blocks(4000, k));
      const device_copy<std::uint8_t> answers(std::vector<std::uint8_t>(keys.size()));
      run_view_kernels(lanes, f.view(), device.get(), keys.size(), 10'000, answers.get());
      ASSERT_EQ(cudaGetLastError(), cudaSuccess);
      const auto read = answers.read(keys.size());
      ASSERT_TRUE(same_words(expected, f.to_host())) << lanes;
      for (std::size_t i = 0; i < keys.size(); ++i) {
        ASSERT_EQ(read[i] != 0, expected.may_contain(keys[i])) << lanes;
      }
      comparisons += keys.size();
    }
  }
}

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

TEST_F(Gpu, FilesAreTheReferencesByteForByte) {
  const auto keys = random_keys(50'000, 6);
  const device_copy<std::uint64_t> device(keys);
  const std::string folder = ::testing::TempDir();
  filter host(plan_for(keys.size(), 0.001), {.seed = 99});
  host.insert(keys);
  host.save(folder + "octobloom-host");
  gpu::filter f(plan_for(keys.size(), 0.001), {.seed = 99});
  f.insert(gpu::keys::integers(device.get(), keys.size()));
  f.save(folder + "octobloom-gpu");
  EXPECT_EQ(read_file(folder + "octobloom-gpu"), read_file(folder + "octobloom-host"));
  const gpu::filter loaded = gpu::filter::load(folder + "octobloom-host");
  EXPECT_EQ(loaded.count_contained(gpu::keys::integers(device.get(), keys.size())), keys.size());
  loaded.save(folder + "octobloom-gpu");
  EXPECT_EQ(read_file(folder + "octobloom-gpu"), read_file(folder + "octobloom-host"));
  std::filesystem::remove(folder + "octobloom-host");
  std::filesystem::remove(folder + "octobloom-gpu");

  std::ofstream(folder + "octobloom-keys", std::ios::binary)
      .write(reinterpret_cast<const char*>(keys.data()),
             static_cast<std::streamsize>(keys.size() * 8));
  gpu::filter streamed(plan_for(keys.size(), 0.001), {.seed = 99});
  gpu::insert(streamed, gpu::mapped_integers(folder + "octobloom-keys").as_keys());
  EXPECT_TRUE(same_words(host, streamed.to_host()));
  std::filesystem::remove(folder + "octobloom-keys");
  comparisons += 3 * host.bytes();
}

/// Of the error that `call` throws; error_code{} for none.
template <class Call>
error_code code_of(Call f) {
  try {
    f();
  } catch (const error& e) {
    return e.code();
  }
  return error_code{};
}

TEST_F(Gpu, FamiliesOfKeysAreThoseOfTheHost) {
  const auto keys = random_keys(500, 16);
  const device_copy<std::uint64_t> device(keys);
  const auto integers = gpu::keys::integers(device.get(), keys.size());
  const auto hashes = gpu::keys::hashes(device.get(), keys.size());
  const string_column column(300, 0, 7);
  gpu::filter f(plan_for(2000, 0.001));
  EXPECT_EQ(f.families(), 0);
  EXPECT_EQ(code_of([&] { (void)f.count_contained(hashes); }), error_code{});
  f.insert(integers);
  EXPECT_EQ(f.families(), 1);
  EXPECT_EQ(code_of([&] { (void)f.count_contained(hashes); }), error_code::wrong_key);
  EXPECT_EQ(code_of([&] { (void)f.count_contained(integers.of(key_family::floats)); }),
            error_code::wrong_key);
  EXPECT_EQ(code_of([&] { (void)gpu::may_contain(f, key_batch::strings(column.keys()), nullptr); }),
            error_code::wrong_key);
  f.accept_any_family(true);
  EXPECT_EQ(code_of([&] { (void)f.count_contained(hashes); }), error_code{});
  f.accept_any_family(false);
  (void)f.insert_new(hashes.of(key_family::composites), nullptr);
  EXPECT_EQ(f.families(), 9);
  (void)gpu::insert_new(f, key_batch::strings(column.keys()), nullptr);
  gpu::insert(f, key_batch::floats(keys));
  EXPECT_EQ(f.families(), 15);
  EXPECT_EQ(f.copy().families(), 15);
  EXPECT_EQ(f.to_host().families(), 15);
  EXPECT_EQ(gpu::filter::from_host(f.to_host()).families(), 15);
  gpu::filter sum(plan_for(2000, 0.001));
  sum.insert(hashes);
  sum.merge(f);
  EXPECT_EQ(sum.families(), 31);
  f.count_inserted(1);
  EXPECT_EQ(f.families(), 0);
  sum.merge(f);
  sum.insert(integers);
  EXPECT_EQ(sum.families(), 0);
  sum.clear();
  sum.insert(integers);
  EXPECT_EQ(sum.families(), 1);
}

TEST_F(Gpu, MergeCopyClearAndMove) {
  const auto keys = random_keys(6000, 7);
  filter a = make_filter(900, 8);
  filter b = make_filter(900, 8);
  a.insert(std::span(keys).first(3000));
  b.insert(std::span(keys).subspan(3000));
  gpu::filter device_a = gpu::filter::from_host(a);
  const gpu::filter device_b = gpu::filter::from_host(b);
  const gpu::filter before = device_a.copy();
  device_a.merge(device_b);
  EXPECT_TRUE(same_words(a, before.to_host()));
  a.merge(b);
  EXPECT_TRUE(same_words(a, device_a.to_host()));
  EXPECT_EQ(device_a.inserted_keys(), 6000u);
  const gpu::filter other(plan_with_blocks(901, 8));
  EXPECT_THROW(device_a.merge(other), error);
  EXPECT_TRUE(same_words(a, device_a.to_host()));
  gpu::filter moved = std::move(device_a);
  EXPECT_TRUE(same_words(a, moved.to_host()));
  moved.clear();
  EXPECT_EQ(moved.popcount(), 0u);
  EXPECT_EQ(moved.inserted_keys(), 0u);
}

/// Host memory that the device reads by itself, while this lives.
class locked_pages {
 public:
  explicit locked_pages(std::vector<std::uint64_t>& memory) : memory_(memory) {
    EXPECT_EQ(cudaHostRegister(memory.data(), memory.size() * 8, cudaHostRegisterDefault),
              cudaSuccess);
  }
  locked_pages(const locked_pages&) = delete;
  locked_pages& operator=(const locked_pages&) = delete;
  ~locked_pages() { EXPECT_EQ(cudaHostUnregister(memory_.data()), cudaSuccess); }

 private:
  std::vector<std::uint64_t>& memory_;
};

void expect_streams_like_reference(gpu::streamer& streamer, const key_batch& batch) {
  filter expected(plan_for(batch.size(), 0.01));
  expected.insert(batch.slice(0, batch.size() / 2));
  gpu::filter f(plan_for(batch.size(), 0.01));
  streamer.insert(f, batch.slice(0, batch.size() / 2));
  ASSERT_TRUE(same_words(expected, f.to_host()));
  std::vector<std::uint8_t> answers(bitmap_bytes(batch.size()));
  std::vector<std::uint8_t> streamed(answers.size());
  const std::uint64_t found =
      reference_engine().may_contain(expected.view(), batch, answers.data(), {});
  EXPECT_EQ(streamer.may_contain(f, batch, streamed.data()), found);
  ASSERT_EQ(streamed, answers);
  const std::uint64_t fresh = streamer.insert_new(f, batch, streamed.data());
  const std::uint64_t in_order =
      reference_engine().insert_new(expected.view(), batch, answers.data(), {});
  EXPECT_GE(fresh, in_order);
  ASSERT_TRUE(same_words(expected, f.to_host()));
  comparisons += 3 * batch.size();
}

TEST_F(Gpu, StreamsLikeTheReference) {
  auto keys = random_keys(300'003, 8);
  for (std::size_t i = 5; i < keys.size(); i += 5) keys[i] = keys[i / 3];
  const string_column column(50'000, 1, 3);
  gpu::streamer streamer({.memory_bytes = 1 << 20, .threads = 3});
  // Small before large: the slots grow.
  expect_streams_like_reference(streamer, key_batch::integers(keys).slice(0, 8));
  expect_streams_like_reference(streamer, key_batch::integers(keys));
  expect_streams_like_reference(streamer, key_batch::hashes(keys));
  expect_streams_like_reference(streamer, key_batch::strings(column.keys()));
  const locked_pages locked(keys);
  expect_streams_like_reference(streamer, key_batch::integers(keys));
}

TEST_F(Gpu, EngineRow) {
  const engine& cuda = cuda_engine();
  EXPECT_EQ(cuda.why_unavailable(), "");
  const auto keys = random_keys(200'000, 9);
  const key_batch batch = key_batch::integers(keys);
  filter expected(plan_for(keys.size(), 0.01));
  filter built(plan_for(keys.size(), 0.01));
  reference_engine().insert(expected.view(), batch.slice(0, 100'000), {});
  cuda.insert(built.view(), batch.slice(0, 100'000), {});
  ASSERT_TRUE(same_words(expected, built));
  std::vector<std::uint8_t> answers(bitmap_bytes(keys.size()));
  std::vector<std::uint8_t> other(answers.size());
  EXPECT_EQ(cuda.may_contain(built.view(), batch, other.data(), {}),
            reference_engine().may_contain(expected.view(), batch, answers.data(), {}));
  ASSERT_EQ(other, answers);
  EXPECT_GE(cuda.insert_new(built.view(), batch, other.data(), {}),
            reference_engine().insert_new(expected.view(), batch, answers.data(), {}));
  ASSERT_TRUE(same_words(expected, built));
  comparisons += 2 * keys.size();
}

TEST_F(Gpu, OpenedFilter) {
  const auto keys = random_keys(200'000, 19);
  const key_batch batch = key_batch::integers(keys);
  const plan size = plan_for(keys.size(), 0.01);
  filter expected(size);
  opened<filter> held(filter(size), cuda_engine());
  std::vector<std::uint8_t> answers(bitmap_bytes(1000));
  std::vector<std::uint8_t> other(answers.size());
  for (std::size_t first = 0; first < 20'000; first += 1000) {
    const key_batch some = batch.slice(first, 1000);
    expected.insert(some);
    held.insert(some);
    EXPECT_EQ(held.may_contain(batch.slice(first + 500, 1000), other.data()),
              expected.may_contain(batch.slice(first + 500, 1000), answers.data()));
    ASSERT_EQ(other, answers);
    EXPECT_EQ(held.insert_new(some, other.data()), 0u);
    comparisons += 2000;
  }
  EXPECT_EQ(held.unsettled().inserted_keys(), expected.inserted_keys());
  ASSERT_TRUE(same_words(expected, held.filter()));
}

TEST_F(Gpu, MoreThan2To31Keys) {
  constexpr std::uint64_t count = (std::uint64_t{1} << 31) + 64;
  if (gpu::current_device().free_bytes < count * 4 + (std::uint64_t{2} << 30)) {
    GTEST_SKIP() << "the device has no room for 2^31 keys of 4 bytes";
  }
  // All keys equal but the last 64: those must be seen, by launches that take all keys at once.
  gpu::buffer keys(count * 4, nullptr);
  ASSERT_EQ(cudaMemset(keys.data(), 0x11, count * 4), cudaSuccess);
  std::vector<std::uint32_t> last(64);
  std::iota(last.begin(), last.end(), 5u);
  ASSERT_EQ(
      cudaMemcpy(keys.data<std::uint32_t>() + count - 64, last.data(), 256, cudaMemcpyHostToDevice),
      cudaSuccess);
  const auto batch = gpu::keys::integers(keys.data<const std::uint32_t>(), count);
  gpu::filter f(plan_with_blocks(1 << 18, 8));
  f.insert(batch, nullptr, gpu::insert_method::direct);
  filter expected = make_filter(1 << 18, 8);
  expected.insert(std::uint32_t{0x11111111});
  for (const std::uint32_t key : last) expected.insert(key);
  ASSERT_TRUE(same_words(expected, f.to_host()));
  EXPECT_EQ(f.count_contained(batch), count);
  comparisons += count;
}

TEST_F(Gpu, L2WindowIsSetAndReset) {
  const auto keys = random_keys(100'000, 10);
  const device_copy<std::uint64_t> device(keys);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  filter expected = make_filter(100'000, 8);
  expected.insert(keys);
  gpu::filter f(plan_with_blocks(100'000, 8), {}, stream);
  {
    const gpu::l2_window window(stream, f.view().words(), f.bytes());
    EXPECT_LE(window.bytes(), gpu::current_device().persisting_l2_bytes);
    f.insert(gpu::keys::integers(device.get(), keys.size()), stream);
  }
  EXPECT_TRUE(same_words(expected, f.to_host(stream)));
  cudaStreamAttrValue value{};
  ASSERT_EQ(cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value),
            cudaSuccess);
  EXPECT_EQ(value.accessPolicyWindow.num_bytes, 0u);
  gpu::synchronize(stream);
  f = gpu::filter(plan_with_blocks(1, 8));
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(Gpu, CallersAllocatorIsUsedAndBalanced) {
  struct counters {
    std::uint64_t taken = 0;
    std::uint64_t given_back = 0;
  } counts;
  const gpu::allocator counting{
      &counts,
      [](void* state, std::size_t bytes, gpu::stream on) {
        static_cast<counters*>(state)->taken += bytes;
        const auto pool = gpu::stream_ordered_allocator();
        return pool.allocate(pool.state, bytes, on);
      },
      [](void* state, void* memory, std::size_t bytes, gpu::stream on) noexcept {
        static_cast<counters*>(state)->given_back += bytes;
        const auto pool = gpu::stream_ordered_allocator();
        pool.deallocate(pool.state, memory, bytes, on);
      }};
  const auto keys = random_keys(5000, 11);
  const device_copy<std::uint64_t> device(keys);
  {
    gpu::filter f(plan_with_blocks(1000, 8), {}, nullptr, counting);
    EXPECT_EQ(counts.taken, f.bytes());
    (void)f.insert_new(gpu::keys::integers(device.get(), keys.size()), nullptr);
    EXPECT_GT(counts.taken, f.bytes() + 24 * keys.size());
  }
  EXPECT_EQ(counts.taken, counts.given_back);
}

TEST_F(Gpu, RefusesWhatIsWrong) {
  const device_copy<std::uint64_t> device(random_keys(100, 12));
  const auto batch = gpu::keys::integers(device.get(), 100);
  gpu::filter hashes_only(plan_with_blocks(10, 8), {.hashing = key_hashing::caller});
  EXPECT_EQ(code_of([&] { hashes_only.insert(batch); }), error_code::wrong_key);
  EXPECT_EQ(code_of([&] { hashes_only.insert(gpu::keys::hashes(device.get(), 100)); }),
            error_code{});
  gpu::filter f(plan_with_blocks(10, 8));
  EXPECT_EQ(
      code_of([&] { f.may_contain(batch, reinterpret_cast<std::uint8_t*>(device.get()) + 1); }),
      error_code::invalid_argument);
  EXPECT_EQ(code_of([] { (void)gpu::filter(plan_with_blocks(0xFFFFFFFFu, 8)); }),
            gpu::current_device().memory_bytes < std::uint64_t{0xFFFFFFFF} * 64
                ? error_code::out_of_memory
                : error_code{});
  EXPECT_EQ(code_of([&] {
              gpu::insert(f, key_batch::integers({device.get(), 100}));
            }),
            error_code::wrong_key);
  EXPECT_EQ(code_of([] { (void)gpu::streamer({.depth = 9}); }), error_code::invalid_argument);
  EXPECT_EQ(code_of([] { (void)gpu::streamer({.threads = 257}); }), error_code::invalid_argument);
  const auto nowhere = gpu::keys::integers(static_cast<const std::uint64_t*>(nullptr), 100);
  EXPECT_EQ(code_of([&] { f.insert(nowhere); }), error_code::invalid_argument);
  EXPECT_EQ(code_of([&] { (void)f.count_contained(nowhere); }), error_code::invalid_argument);
  EXPECT_EQ(code_of([&] { f.may_contain(batch, nullptr); }), error_code::invalid_argument);
  EXPECT_EQ(code_of([&] { f.may_contain_bytes(batch, nullptr); }), error_code::invalid_argument);
  EXPECT_EQ(code_of([&] { (void)f.select_contained(batch, nullptr); }),
            error_code::invalid_argument);
  EXPECT_EQ(code_of([&] { (void)f.select_contained_values(batch, nullptr); }),
            error_code::invalid_argument);
  EXPECT_EQ(code_of([&] { f.may_contain(batch.slice(0, 0), nullptr); }), error_code{});
  EXPECT_EQ(code_of([&] { (void)f.insert_new(batch.slice(0, 0), nullptr); }), error_code{});
  // And the device goes on working.
  f.insert(batch);
  EXPECT_EQ(f.count_contained(batch), 100u);
}

// Without a device every door says so.
TEST(NoGpu, EveryDoorSaysWhatIsMissing) {
  const std::string reason = gpu::why_unavailable();
  if (reason.empty()) GTEST_SKIP() << "there is a GPU: " << gpu::current_device().name;
  EXPECT_EQ(cuda_engine().why_unavailable(), reason);
  const auto expect_unavailable = [&](auto f) {
    try {
      f();
      ADD_FAILURE() << "no error";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::engine_unavailable);
      EXPECT_NE(std::string(e.what()).find(reason), std::string::npos) << e.what();
    }
  };
  filter host = make_filter(10, 8);
  host.insert(5);
  const filter before = host.copy();
  const auto keys = random_keys(10, 1);
  std::vector<std::uint8_t> bitmap(2, 0xEE);
  expect_unavailable([] { (void)gpu::filter(plan_with_blocks(10, 8)); });
  expect_unavailable([&] { (void)gpu::filter::from_host(host); });
  expect_unavailable([] { (void)gpu::current_device(); });
  expect_unavailable([] { (void)gpu::streamer(); });
  expect_unavailable([&] { cuda_engine().insert(host.view(), key_batch::integers(keys), {}); });
  expect_unavailable([&] {
    (void)cuda_engine().may_contain(host.view(), key_batch::integers(keys), bitmap.data(), {});
  });
  expect_unavailable([&] {
    (void)cuda_engine().insert_new(host.view(), key_batch::integers(keys), bitmap.data(), {});
  });
  EXPECT_TRUE(same_words(before, host));
  EXPECT_EQ(bitmap, std::vector<std::uint8_t>(2, 0xEE));
}

}  // namespace
}  // namespace octobloom::test
