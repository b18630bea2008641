// Filters whose block numbers need all of their 32 bits: untouched pages cost nothing.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>

#include "simd/contender.h"
#include "simd/sample_keys.h"

namespace octobloom::test {
namespace {

class sparse_filter {
 public:
  explicit sparse_filter(const filter_shape& shape) : shape_(shape) {
    memory_ = mmap(nullptr, shape.bytes(), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~sparse_filter() {
    if (there()) munmap(memory_, shape_.bytes());
  }
  sparse_filter(const sparse_filter&) = delete;
  sparse_filter& operator=(const sparse_filter&) = delete;

  [[nodiscard]] bool there() const { return memory_ != MAP_FAILED; }
  [[nodiscard]] filter_view view() const { return {static_cast<std::uint64_t*>(memory_), shape_}; }

 private:
  filter_shape shape_;
  void* memory_;
};

class Large : public testing::TestWithParam<contender> {};

TEST_P(Large, KeysLandInTheirBlocksUpToTheLast) {
  const in_force forced(GetParam());
  // 2^26 + 3, 2^31 + 1 and 2^32 - 1 blocks: 4 GiB, 128 GiB, 256 GiB.
  for (const std::uint32_t blocks : {(1u << 26) + 3, (1u << 31) + 1, UINT32_MAX}) {
    const sparse_filter sparse({.blocks = blocks, .k = 11});
    if (!sparse.there()) GTEST_SKIP() << "no address space for " << blocks << " blocks";
    std::vector<std::uint64_t> hashes;
    random_numbers random(blocks);
    for (int i = 0; i < 200; ++i) hashes.push_back(random());
    hashes.push_back(0);
    hashes.push_back(UINT64_MAX);
    hashes.push_back(UINT64_MAX << 32);
    const key_batch keys = key_batch::hashes(std::span<const std::uint64_t>(hashes));
    const filter_view view = sparse.view();

    std::vector<std::uint8_t> bitmap(bitmap_bytes(hashes.size()));
    EXPECT_EQ(GetParam().code->may_contain(view, keys, bitmap.data(), {}), 0u);
    GetParam().code->insert(view, keys, {});
    EXPECT_EQ(GetParam().code->may_contain(view, keys, bitmap.data(), {}), hashes.size());

    std::uint32_t last = 0;
    for (const std::uint64_t hash : hashes) {
      const std::uint32_t block = rot8::block_index(hash, blocks);
      last = std::max(last, block);
      const std::uint64_t* words = view.words() + std::size_t{block} * rot8::words_per_block;
      for (unsigned w = 0; w < rot8::words_per_block; ++w) {
        const std::uint64_t pattern = rot8::pattern_word(rot8::pattern_source(hash), view.k(), w);
        ASSERT_EQ(words[w] & pattern, pattern) << "block " << block << " of " << blocks;
      }
    }
    EXPECT_EQ(last, blocks - 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, Large, testing::ValuesIn(contenders()),
                         [](const auto& one) { return one.param.name(); });

}  // namespace
}  // namespace octobloom::test
