// Every engine and every target against the reference, over one list of cases.

#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <numeric>

#include "simd/answers.h"
#include "simd/contender.h"
#include "simd/sample_keys.h"

namespace octobloom::test {
namespace {

struct parity_case {
  key_kind kind;
  std::uint32_t k;
  std::uint32_t blocks;
  std::size_t length;
  std::size_t misalignment;
  unsigned hit_percent;
  std::uint64_t separator = 0;
};

std::ostream& operator<<(std::ostream& out, const parity_case& c) {
  return out << "kind " << static_cast<int>(c.kind) << ", k " << c.k << ", blocks " << c.blocks
             << ", length " << c.length << ", misalignment " << c.misalignment << ", hits "
             << c.hit_percent << " %, separator " << c.separator;
}

constexpr std::array all_kinds{key_kind::integers, key_kind::hashes, key_kind::strings};
constexpr std::array<unsigned, 3> hit_rates{0, 50, 100};

/// The one list. Each entry adds cases.
std::vector<parity_case> parity_cases() {
  std::vector<parity_case> cases;
  // Every k and every short length, with the rest in turns.
  for (std::uint32_t k = 1; k <= rot8::max_k; ++k) {
    for (std::size_t length = 0; length <= 70; ++length) {
      for (const key_kind kind : all_kinds) {
        const std::array<std::uint32_t, 6> blocks{1, 2, 3, 7, 64, 200};
        const std::size_t turn = length + k;
        cases.push_back({kind, k, blocks[turn % blocks.size()], length, turn % 8,
                         hit_rates[turn / 8 % hit_rates.size()], turn % 2});
      }
    }
  }
  // Every k, block count, hit rate and alignment at a length with a tail.
  for (std::uint32_t k = 1; k <= rot8::max_k; ++k) {
    for (const std::uint32_t blocks : {1u, 3u, 40u, 200u}) {
      for (const unsigned hits : hit_rates) {
        for (std::size_t misalignment = 0; misalignment < 8; ++misalignment) {
          for (const key_kind kind : all_kinds) {
            cases.push_back({kind, k, blocks, 77, misalignment, hits, misalignment % 2});
          }
        }
      }
    }
  }
  // Large.
  for (const std::uint32_t k : {1u, 6u, 7u, 8u, 11u, 16u, 21u, 24u}) {
    for (const std::size_t length : {1000u, 4099u, 70'001u}) {
      for (const key_kind kind : all_kinds) {
        cases.push_back({kind, k, 3000, length, 3, 50});
      }
    }
  }
  return cases;
}

constexpr std::uint64_t never_inserted = std::uint64_t{1} << 40;

/// `length` identities: hits among those below `known`, repeats among the others too.
std::vector<std::uint64_t> identities(const parity_case& c, std::uint64_t known) {
  random_numbers random(c.length * 131 + c.k * 17 + c.blocks + c.hit_percent);
  std::vector<std::uint64_t> ids(c.length);
  for (std::uint64_t& id : ids) {
    id = random.below(100) < c.hit_percent ? random.below(known)
                                           : never_inserted + random.below(2 * c.length);
  }
  return ids;
}

/// Blocks that hold identities 0 to known - 1.
block_array filled(const parity_case& c, std::uint64_t known) {
  block_array blocks({.blocks = c.blocks, .k = c.k, .seed = c.k % 3});
  std::vector<std::uint64_t> ids(known);
  std::iota(ids.begin(), ids.end(), 0);
  const sample_keys keys(c.kind, ids, 0);
  reference_engine().insert(blocks.view(), keys.batch(), {});
  return blocks;
}

class Parity : public testing::TestWithParam<contender> {};

TEST_P(Parity, EveryCellEqualsTheReference) {
  const contender& who = GetParam();
  const in_force forced(who);
  std::size_t cells = 0;
  for (const parity_case& c : parity_cases()) {
    const std::uint64_t known = std::uint64_t{3} * c.blocks;
    const block_array start = filled(c, known);
    const sample_keys keys(c.kind, identities(c, known), c.misalignment, c.separator);
    for (const auto operation : {bulk_operation::insert, bulk_operation::may_contain,
                                 bulk_operation::insert_new, bulk_operation::hash}) {
      for (const bool with_bitmap : {true, false}) {
        ASSERT_EQ(perform(*who.code, operation, start, keys.batch(), with_bitmap),
                  perform(reference_engine(), operation, start, keys.batch(), with_bitmap))
            << who << ", operation " << static_cast<int>(operation) << ", " << c
            << (with_bitmap ? "" : ", count only");
        ++cells;
      }
    }
  }
  if (!who.target.empty()) {
    EXPECT_EQ(simd_last_target(), who.target);
  }
  EXPECT_GT(cells, 50'000u);
  std::cout << "parity: " << who << ", " << cells << " cells compared\n";
  RecordProperty("cells", std::to_string(cells));
}

INSTANTIATE_TEST_SUITE_P(Engines, Parity, testing::ValuesIn(contenders()),
                         [](const auto& one) { return one.param.name(); });

}  // namespace
}  // namespace octobloom::test
