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
std::vector<std::uint64_t> identities(std::size_t length, std::uint64_t known, unsigned hit_percent,
                                      std::uint64_t seed) {
  random_numbers random(length * 131 + hit_percent + seed);
  std::vector<std::uint64_t> ids(length);
  for (std::uint64_t& id : ids) {
    id = random.below(100) < hit_percent ? random.below(known)
                                         : never_inserted + random.below(2 * length);
  }
  return ids;
}

/// Identities 0 to known - 1.
sample_keys known_keys(key_kind kind, std::uint64_t known) {
  std::vector<std::uint64_t> ids(known);
  std::iota(ids.begin(), ids.end(), 0);
  return {kind, ids, 0};
}

/// Blocks that hold identities 0 to known - 1.
block_array filled(const parity_case& c, std::uint64_t known) {
  block_array blocks({.blocks = c.blocks, .k = c.k, .seed = c.k % 3});
  reference_engine().insert(blocks.view(), known_keys(c.kind, known).batch(), {});
  return blocks;
}

/// Says what ran, and fails when it was other code, or next to nothing.
void conclude(const contender& who, std::size_t cells, std::size_t at_least) {
  if (!who.target.empty()) {
    EXPECT_EQ(simd_last_target(), who.target);
  }
  EXPECT_GT(cells, at_least);
  std::cout << "parity: " << who << ", " << cells << " cells compared\n";
  testing::Test::RecordProperty("cells", std::to_string(cells));
}

class Parity : public testing::TestWithParam<contender> {};

TEST_P(Parity, EveryCellEqualsTheReference) {
  const contender& who = GetParam();
  const in_force forced(who);
  std::size_t cells = 0;
  for (const parity_case& c : parity_cases()) {
    const std::uint64_t known = std::uint64_t{3} * c.blocks;
    const block_array start = filled(c, known);
    const sample_keys keys(c.kind, identities(c.length, known, c.hit_percent, c.k * 17 + c.blocks),
                           c.misalignment, c.separator);
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
  conclude(who, cells, 50'000);
}

TEST_P(Parity, EveryCuckooProbeEqualsTheReference) {
  const contender& who = GetParam();
  const in_force forced(who);
  std::size_t cells = 0;
  const auto compare = [&](const cuckoo_filter& filter, key_kind kind, std::uint64_t known,
                           std::size_t length) {
    const unsigned hits = hit_rates[length % hit_rates.size()];
    const sample_keys keys(kind, identities(length, known, hits, filter.fingerprint_bits()),
                           length % 8, length % 2);
    for (const bool with_bitmap : {true, false}) {
      const answers found = perform(*who.code, filter.view(), keys.batch(), with_bitmap);
      ASSERT_EQ(found, perform(reference_engine(), filter.view(), keys.batch(), with_bitmap))
          << who << ", " << filter.fingerprint_bits() << " bits, " << filter.lines()
          << " lines, kind " << static_cast<int>(kind) << ", length " << length;
      ASSERT_TRUE(hits < 100 || found.count == length);
      ++cells;
    }
  };
  for (std::uint32_t bits = 8; bits <= 32; ++bits) {
    for (const std::uint32_t lines : {1u, 2u, 3u, 40u, 3001u}) {
      for (const key_kind kind : all_kinds) {
        cuckoo_filter filter(cuckoo_plan_with_lines(lines, bits), {.seed = bits % 3});
        const std::uint64_t known = filter.slots() / 2;
        insert_set(filter, known_keys(kind, known).batch());
        if (lines > 1000) {
          for (const std::size_t length : {1023u, 1024u, 1033u, 4099u}) {
            ASSERT_NO_FATAL_FAILURE(compare(filter, kind, known, length));
          }
        } else {
          for (std::size_t length = 0; length <= 70; ++length) {
            ASSERT_NO_FATAL_FAILURE(compare(filter, kind, known, length));
          }
        }
      }
    }
  }
  conclude(who, cells, 40'000);
}

INSTANTIATE_TEST_SUITE_P(Engines, Parity, testing::ValuesIn(contenders()),
                         [](const auto& one) { return one.param.name(); });

}  // namespace
}  // namespace octobloom::test
