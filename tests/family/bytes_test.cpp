// Filters as bytes, in memory and in streams: the same bytes as in files, and the same checks.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include <octobloom/counting_filter.h>
#include <octobloom/cuckoo_filter.h>
#include <octobloom/filter.h>
#include <octobloom/growing_filter.h>
#include <octobloom/windowed_filter.h>

#include "helpers.h"

namespace {
std::atomic<std::size_t> largest_request{0};
}

// Not inlined: a compiler that sees free() behind a delete takes it for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (size > largest_request) largest_request = size;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// A sanitizer's own would not ask the one above.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace {

using namespace octobloom;

std::vector<std::byte> in_file(const auto& filter) {
  const family::scratch_file file;
  filter.save(file.path());
  const std::string text = family::read_file(file.path());
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

/// A stream that brings at most `piece` bytes at a time.
class trickle {
 public:
  trickle(std::vector<std::byte> bytes, std::size_t piece)
      : bytes_(std::move(bytes)), piece_(piece) {}

  byte_source source() {
    return [this](std::span<std::byte> to) {
      const std::size_t count = std::min({to.size(), piece_, bytes_.size() - at_});
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), count, to.begin());
      at_ += count;
      return count;
    };
  }
  [[nodiscard]] std::size_t taken() const noexcept { return at_; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

template <class Filter>
struct sample;
const plan small = plan_for(200, 0.01);

template <>
struct sample<filter> {
  static filter make() { return filter(small, {.seed = 3}); }
};
template <>
struct sample<counting_filter> {
  static counting_filter make() { return counting_filter(small, {.seed = 3}); }
};
template <>
struct sample<cuckoo_filter> {
  static cuckoo_filter make() { return cuckoo_filter::with_fpr(200, 0.01, {.seed = 3}); }
};
template <>
struct sample<growing_filter> {
  static growing_filter make() { return {20, 0.01, {.seed = 3}}; }
};
template <>
struct sample<windowed_filter> {
  static windowed_filter make() {
    return windowed_filter::last_duration(std::chrono::hours(1), 200, 0.01, {.seed = 3});
  }
};

template <class Filter>
Filter filled() {
  Filter f = sample<Filter>::make();
  for (std::uint64_t key = 0; key < 150; ++key) (void)f.insert(key);
  return f;
}

template <class Filter>
class FilterBytes : public testing::Test {};
using kinds =
    testing::Types<filter, counting_filter, cuckoo_filter, growing_filter, windowed_filter>;
TYPED_TEST_SUITE(FilterBytes, kinds);

TYPED_TEST(FilterBytes, AreThoseOfItsFile) {
  const auto f = filled<TypeParam>();
  const std::vector<std::byte> bytes = f.to_bytes();
  EXPECT_EQ(bytes, in_file(f));
  EXPECT_EQ(f.bytes_size(), bytes.size());
  const auto back = TypeParam::from_bytes(bytes);
  EXPECT_EQ(back.to_bytes(), bytes);
  for (std::uint64_t key = 0; key < 150; ++key) ASSERT_TRUE(back.may_contain(key));
  const auto empty = sample<TypeParam>::make();
  EXPECT_EQ(empty.bytes_size(), empty.to_bytes().size());
  EXPECT_EQ(TypeParam::from_bytes(empty.to_bytes()).to_bytes(), empty.to_bytes());
}

TYPED_TEST(FilterBytes, DamagedOnesAreRefusedAsFilesAre) {
  const std::vector<std::byte> bytes = filled<TypeParam>().to_bytes();
  const auto refused = [](std::span<const std::byte> damaged) {
    return std::string(octobloom_test::expect_error(error_code::bad_file, [&] {
                         (void)TypeParam::from_bytes(damaged);
                       }).what());
  };
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string text = refused(std::span(bytes).first(size));
    ASSERT_THAT(text, testing::StartsWith("<bytes>: "));
    if (size < file_header_bytes) continue;
    ASSERT_THAT(text, testing::HasSubstr("cut off")) << size;
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_THAT(refused(longer), testing::HasSubstr("something was appended"));
  for (std::size_t at = 0; at < bytes.size(); at += at < file_header_bytes ? 1 : 37) {
    std::vector<std::byte> damaged = bytes;
    damaged[at] ^= std::byte{1};
    (void)refused(damaged);
  }
  std::vector<std::byte> damaged = bytes;
  damaged.back() ^= std::byte{0x10};
  EXPECT_THAT(refused(damaged), testing::HasSubstr("checksum"));
  EXPECT_NO_THROW((void)TypeParam::from_bytes(damaged, {.verify_body = false}));
}

TYPED_TEST(FilterBytes, ComeFromStreamsThatGoOn) {
  const auto first = filled<TypeParam>();
  const auto second = sample<TypeParam>::make();
  std::vector<std::byte> both;
  const byte_sink sink = [&both](std::span<const std::byte> piece) {
    both.insert(both.end(), piece.begin(), piece.end());
  };
  first.write(sink);
  second.write(sink);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{100}, both.size()}) {
    trickle stream(both, piece);
    EXPECT_EQ(TypeParam::read(stream.source()).to_bytes(), first.to_bytes());
    EXPECT_EQ(stream.taken(), first.bytes_size());
    EXPECT_EQ(TypeParam::read(stream.source()).to_bytes(), second.to_bytes());
    EXPECT_EQ(stream.taken(), both.size());
    family::expect_error(error_code::bad_file, "<stream>: is 0 bytes long",
                         [&] { (void)TypeParam::read(stream.source()); });
  }
  const std::size_t short_of = first.bytes_size() - 1;
  trickle cut({both.begin(), both.begin() + static_cast<std::ptrdiff_t>(short_of)}, 7);
  family::expect_error(error_code::bad_file, "ends after " + std::to_string(short_of) + " bytes",
                       [&] { (void)TypeParam::read(cut.source()); });
  // What a sink or a source throws comes out.
  EXPECT_THROW(first.write([](std::span<const std::byte>) { throw std::runtime_error("full"); }),
               std::runtime_error);
  EXPECT_THROW((void)TypeParam::read(
                   [](std::span<std::byte>) -> std::size_t { throw std::runtime_error("lost"); }),
               std::runtime_error);
}

TEST(FilterBytesThatLie, TakeNoMemoryFirst) {
  // 10 GiB, says the header, with the right checksum; 200 bytes are there.
  const std::uint64_t blocks = std::uint64_t{10} << 24;
  file_header header;
  header.shape = {static_cast<std::uint32_t>(blocks), 8, 0};
  header.body_bytes = 64 * blocks;
  const auto encoded = encode_header(header);
  std::vector<std::byte> bytes(encoded.begin(), encoded.end());
  bytes.resize(200);
  trickle stream(bytes, 50);
  largest_request = 0;
  family::expect_error(error_code::bad_file, "cut off", [&] { (void)filter::from_bytes(bytes); });
  family::expect_error(error_code::bad_file, "ends after 200 bytes",
                       [&] { (void)filter::read(stream.source()); });
  EXPECT_LT(largest_request.load(), std::size_t{1} << 20);
}

TEST(FilterBytesOfWindows, TakeTheirClockAlong) {
  std::chrono::nanoseconds now(std::chrono::hours(1000));
  const window_clock clock = [&now] { return now; };
  auto f = windowed_filter::last_duration(std::chrono::hours(1), 200, 0.01, {}, clock);
  f.insert(1);
  const auto back = windowed_filter::from_bytes(f.to_bytes(), {}, clock);
  EXPECT_TRUE(back.may_contain(1));
  now += std::chrono::hours(2);
  EXPECT_FALSE(back.may_contain(1));
}

}  // namespace
