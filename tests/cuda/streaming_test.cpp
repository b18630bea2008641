// Streaming without a device: the ring over queues that do their work as late as they may, in an
// order that changes, so that a missing wait or a slot reused too early shows.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include <octobloom/engine.h>
#include <octobloom/filter.h>
#include <octobloom/gpu/detail/key_stream.h>
#include <octobloom/gpu/detail/sources.h>
#include <octobloom/gpu/insert_plan.h>
#include <octobloom/gpu/streaming.h>

#include "cuda/cuda_test_data.h"
#include "cuda/host_backend.h"

namespace octobloom::test {
namespace {

using gpu::detail::queue;

/// Three queues of closures. They run when the host waits, one step of a random queue at a time.
class lazy_device {
 public:
  explicit lazy_device(std::uint32_t seed) : random_(seed) {}

  /// The caller's keys: read from where they are, as late as everything else.
  bool keys_are_pinned = false;

  struct usage {
    std::size_t now = 0;
    std::size_t most = 0;
  };
  struct memory_block {
    std::unique_ptr<std::uint64_t[], std::function<void(std::uint64_t*)>> words;
    template <class T>
    [[nodiscard]] T* data() const {
      return reinterpret_cast<T*>(words.get());
    }
  };
  struct event {
    std::shared_ptr<bool> happened;
  };

  memory_block pinned(std::size_t bytes) { return block(bytes, pinned_); }
  memory_block memory(std::size_t bytes) { return block(bytes, device_); }
  [[nodiscard]] bool is_pinned(const void*, std::size_t) const { return keys_are_pinned; }
  void copy_in(queue q, std::byte* to, const std::byte* from, std::size_t bytes) {
    add(q, [=] { std::copy_n(from, bytes, to); });
  }
  void copy_out(queue q, std::byte* to, const std::byte* from, std::size_t bytes) {
    add(q, [=] { std::copy_n(from, bytes, to); });
  }
  event record(queue q) {
    event e{std::make_shared<bool>(false)};
    add(q, [flag = e.happened] { *flag = true; });
    return e;
  }
  void wait(queue q, const event& until) {
    steps(q).push_back({[] {}, until.happened});
  }
  void finish(const event& until) {
    while (!*until.happened) ASSERT_TRUE(step()) << "waiting for ever";
  }
  void finish() {
    while (step()) {
    }
  }

  void add(queue q, std::function<void()> work) { steps(q).push_back({std::move(work), nullptr}); }
  [[nodiscard]] std::size_t pinned_bytes() const { return pinned_.most; }
  [[nodiscard]] std::size_t device_bytes() const { return device_.most; }

 private:
  struct queued {
    std::function<void()> work;
    std::shared_ptr<bool> after;
  };
  std::deque<queued>& steps(queue q) { return queues_[static_cast<std::size_t>(q)]; }

  /// One step of a queue that can go on; false when none can.
  bool step() {
    std::array<std::size_t, 3> order{0, 1, 2};
    std::shuffle(order.begin(), order.end(), random_);
    for (const std::size_t number : order) {
      auto& q = queues_[number];
      if (q.empty() || (q.front().after && !*q.front().after)) continue;
      const auto work = std::move(q.front().work);
      q.pop_front();
      work();
      return true;
    }
    return false;
  }

  memory_block block(std::size_t bytes, usage& use) {
    use.now += bytes;
    use.most = std::max(use.most, use.now);
    auto* const words = new std::uint64_t[bytes / 8 + 1];
    std::fill_n(words, bytes / 8 + 1, 0xDDDDDDDDDDDDDDDDu);
    return {{words, [&use, bytes](const std::uint64_t* taken) {
               use.now -= bytes;
               delete[] taken;
             }}};
  }

  std::mt19937 random_;
  std::array<std::deque<queued>, 3> queues_;
  usage pinned_;
  usage device_;
};

template <class F>
void with_host_source(const gpu::keys& chunk, std::uint64_t seed, F f) {
  const auto* words = static_cast<const std::uint64_t*>(chunk.data());
  switch (chunk.type()) {
    case gpu::key_type::hashes:
      return f(hash_source{words});
    case gpu::key_type::strings:
      return f(string_source{chunk.bytes(), words, chunk.separator(), seed});
    default:
      return f(integer_source<std::uint64_t>{words, octobloom::detail::integer_start(seed)});
  }
}

struct streamed {
  std::vector<std::uint8_t> bitmap;
  std::uint64_t found = 0;
};

streamed stream_contains(filter& f, const key_batch& keys, const gpu::stream_options& options,
                         std::uint32_t order, bool pinned) {
  lazy_device device(order);
  device.keys_are_pinned = pinned;
  streamed answer{std::vector<std::uint8_t>(bitmap_bytes(keys.size())), 0};
  {
    gpu::detail::key_stream<lazy_device> ring(device, options, 1 << 24);
    const auto work = [&](const gpu::keys& chunk, std::uint8_t* bits) {
      device.add(queue::work, [&f, chunk, bits] {
        with_host_source(chunk, f.seed(), [&](const auto& source) {
          host_contains<layout<4, 2>>(gpu_view(f), source, chunk.size(), bits);
        });
      });
    };
    // A batch before, whose slots are used again; they grow.
    const key_batch some = keys.slice(0, keys.size() / 3);
    const std::uint64_t found = ring.run(some, f.seed(), true, answer.bitmap.data(), work);
    EXPECT_EQ(found, reference_engine().may_contain(f.view(), some, nullptr, {}));
    answer.found = ring.run(keys, f.seed(), true, answer.bitmap.data(), work);
  }
  EXPECT_LE(device.pinned_bytes(), options.memory_bytes);
  EXPECT_LE(device.device_bytes(), options.memory_bytes);
  return answer;
}

void expect_streams_like_reference(const key_batch& keys, std::uint64_t memory_bytes) {
  constexpr std::uint64_t seed = 4;
  filter f = make_filter(3000, 8, seed);
  f.insert(keys.slice(0, keys.size() / 2));
  streamed expected{std::vector<std::uint8_t>(bitmap_bytes(keys.size())), 0};
  expected.found = reference_engine().may_contain(f.view(), keys, expected.bitmap.data(), {});
  for (const unsigned depth : {2u, 3u, 8u}) {
    for (std::uint32_t order = 0; order < 3; ++order) {
      const streamed answer =
          stream_contains(f, keys, {memory_bytes, depth, order}, order, order == 1);
      ASSERT_EQ(answer.found, expected.found) << depth;
      ASSERT_EQ(answer.bitmap, expected.bitmap) << depth;

      filter built = make_filter(3000, 8, seed);
      lazy_device device(order);
      {
        gpu::detail::key_stream<lazy_device> ring(device, {memory_bytes, depth}, 1 << 24);
        ring.run(keys, seed, false, nullptr, [&](const gpu::keys& chunk, std::uint8_t*) {
          device.add(queue::work, [&built, chunk] {
            with_host_source(chunk, seed, [&](const auto& source) {
              host_insert<layout<4, 1>>(gpu_view(built), source, chunk.size());
            });
          });
        });
      }
      filter direct = make_filter(3000, 8, seed);
      direct.insert(keys);
      ASSERT_TRUE(same_words(direct, built)) << depth;
    }
  }
}

TEST(Streaming, Integers) {
  for (const std::size_t count : {0u, 1u, 255u, 256u, 257u, 20000u, 65536u}) {
    const auto keys = random_keys(count, count);
    expect_streams_like_reference(key_batch::integers(keys), 64 << 10);
  }
}

TEST(Streaming, Hashes) {
  const auto keys = random_keys(30001, 3);
  expect_streams_like_reference(key_batch::hashes(keys), 100 << 10);
}

TEST(Streaming, Strings) {
  for (const std::uint64_t separator : {0u, 1u}) {
    const string_column column(20003, separator, 8);
    expect_streams_like_reference(key_batch::strings(column.keys()), 64 << 10);
  }
}

TEST(Streaming, StringsLongerThanASlot) {
  string_column column(100, 1, 8);
  column.bytes += std::string(200'000, 'x') + "\n";
  column.offsets.push_back(column.bytes.size());
  column.bytes += std::string(200'000, 'y') + "\n";
  column.offsets.push_back(column.bytes.size());
  for (std::size_t i = 0; i < 30; ++i) {
    column.bytes += "tail" + std::to_string(i) + "\n";
    column.offsets.push_back(column.bytes.size());
  }
  expect_streams_like_reference(key_batch::strings(column.keys()), 64 << 10);
}

// Chunks come in order, one at a time, and all of them.
TEST(Streaming, ChunksAreInOrder) {
  std::vector<std::uint64_t> keys(100'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  lazy_device device(1);
  std::vector<std::uint64_t> seen;
  {
    gpu::detail::key_stream<lazy_device> ring(device, {64 << 10, 3}, 1 << 24);
    ring.run(key_batch::integers(keys), 0, false, nullptr,
             [&](const gpu::keys& chunk, std::uint8_t*) {
               device.add(queue::work, [&seen, chunk] {
                 const auto* values = static_cast<const std::uint64_t*>(chunk.data());
                 seen.insert(seen.end(), values, values + chunk.size());
               });
             });
  }
  EXPECT_EQ(seen, keys);
}

TEST(Streaming, RefusesOptionsOutOfRange) {
  const auto code_of = [](const gpu::stream_options& options) {
    try {
      (void)gpu::detail::chunk_plan::of(options, 1 << 24);
    } catch (const error& e) {
      return e.code();
    }
    return error_code{};
  };
  EXPECT_EQ(code_of({64 << 10, 1}), error_code::invalid_argument);
  EXPECT_EQ(code_of({64 << 10, 9}), error_code::invalid_argument);
  EXPECT_EQ(code_of({(64 << 10) - 1, 3}), error_code::invalid_argument);
  EXPECT_EQ(code_of({64 << 10, 8}), error_code{});
}

class MappedIntegers : public ::testing::Test {
 protected:
  std::string path_ = ::testing::TempDir() + "octobloom-mapped-integers-" +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name();
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  void TearDown() override { std::filesystem::remove(path_); }
};

TEST_F(MappedIntegers, AreTheFile) {
  const auto keys = random_keys(5000, 1);
  write({reinterpret_cast<const char*>(keys.data()), keys.size() * 8});
  gpu::mapped_integers first(path_);
  gpu::mapped_integers file(std::move(first));
  EXPECT_TRUE(std::equal(keys.begin(), keys.end(), file.values().begin(), file.values().end()));
  expect_streams_like_reference(file.as_keys(), 64 << 10);
}

TEST_F(MappedIntegers, RefuseWhatIsNone) {
  const auto code_of = [](const std::string& path) {
    try {
      (void)gpu::mapped_integers(path);
    } catch (const error& e) {
      return e.code();
    }
    return error_code{};
  };
  write("seven b");
  EXPECT_EQ(code_of(path_), error_code::bad_file);
  EXPECT_EQ(code_of(path_ + ".missing"), error_code::io);
  EXPECT_EQ(code_of(::testing::TempDir()), error_code::io);
  write("");
  EXPECT_EQ(code_of(path_), error_code{});
}

// How a batch is inserted, by size.
TEST(InsertPlan, ChoosesBySize) {
  using gpu::insert_method;
  const auto method = [](std::uint64_t blocks, std::uint64_t keys,
                         std::uint64_t l2_bytes = 50 << 20) {
    return gpu::plan_insert({static_cast<std::uint32_t>(blocks), 8}, keys, l2_bytes).method;
  };
  constexpr std::uint64_t mib = 1 << 14;                                // blocks
  EXPECT_EQ(method(40 * mib, 1 << 30), insert_method::direct);          // fits the L2
  EXPECT_EQ(method(512 * mib, 100'000), insert_method::direct);         // too few keys
  EXPECT_EQ(method(512 * mib, 100'000'000), insert_method::l2_slices);  // one pass against two
  EXPECT_EQ(method(16384 * mib, 1u << 30), insert_method::l2_slices);   // two against three
  EXPECT_EQ(method(12 * mib, 10'000'000, 4 << 20), insert_method::shared_slices);
}

TEST(InsertPlan, SlicesFit) {
  for (const std::uint64_t blocks : {1u, 1000u, 1022u, 1023u, 1u << 20, 0xFFFFFFFFu}) {
    const filter_shape shape{static_cast<std::uint32_t>(blocks), 8};
    const auto shared = gpu::plan_insert(shape, 1, 50 << 20, gpu::insert_method::shared_slices);
    EXPECT_GE(shared.bits, 1u);
    EXPECT_LE(slice::most_blocks(shared.bits, shape.blocks), gpu::shared_slice_blocks) << blocks;
    const auto l2 = gpu::plan_insert(shape, 1, 50 << 20, gpu::insert_method::l2_slices);
    EXPECT_LE(shape.bytes() >> l2.bits, 25u << 20) << blocks;
    EXPECT_EQ(gpu::plan_insert(shape, 1, 50 << 20, gpu::insert_method::direct).bits, 0u);
  }
}

}  // namespace
}  // namespace octobloom::test
