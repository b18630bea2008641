// Every mistake of wrong.cu is seen, and named; what is counted is right.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "emulator/interpreter_test.h"

namespace octobloom::test {
namespace {

std::vector<std::uint64_t> reference_filter(const std::vector<std::uint64_t>& keys,
                                            std::uint64_t blocks) {
  std::vector<std::uint64_t> w(blocks * 8);
  for (std::uint64_t k : keys) {
    const std::uint64_t h = mix(k);
    for (unsigned i = 0; i < 8; ++i) w[block_of(h, blocks) * 8 + i] |= bit_of(h, i);
  }
  return w;
}

class Mistakes : public interpreter_test {};

TEST_P(Mistakes, LostUpdates) {
  // Each bit is set once, by one thread; neighbours share words.
  const std::uint64_t blocks = 32;
  const auto keys = random_words(2000, 16);
  const auto want = reference_filter(keys, blocks);
  int caught = 0, raced = 0, shared = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    launch_options o;
    o.seed = seed;
    std::vector<std::uint64_t> w(blocks * 8);
    const std::vector<argument> args = {argument::in(keys),
                                        argument::value(std::uint64_t(keys.size())),
                                        argument::inout(w), argument::value(blocks)};
    wrong().launch("broken_insert", {8}, {128}, 0, args, o);
    caught += w != want;
    o.racecheck = true;
    std::fill(w.begin(), w.end(), 0);
    raced += !wrong().launch("broken_insert", {8}, {128}, 0, args, o).races.empty();
    std::vector<std::uint32_t> ones(64, 1), out(1);
    wrong().launch("broken_shared_count", {1}, {64}, 0, {argument::in(ones), argument::inout(out)},
                   o);
    shared += out[0] != 64;
  }
  ASSERT_TRUE(caught >= 9);
  ASSERT_TRUE(raced >= 9);
  ASSERT_TRUE(shared >= 9);
  // One lane a warp, so that no two lanes of one warp meet: only the scheduler can show it.
  caught = 0;
  const std::vector<std::uint64_t> few = random_words(64, 17);
  const auto want_few = reference_filter(few, 1);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    launch_options o;
    o.seed = seed;
    std::vector<std::uint64_t> w(8);
    wrong().launch("broken_insert", {64}, {1}, 0,
                   {argument::in(few), argument::value(std::uint64_t(64)), argument::inout(w),
                    argument::value(std::uint64_t(1))},
                   o);
    caught += w != want_few;
  }
  ASSERT_TRUE(caught >= 9);
}

TEST_P(Mistakes, MemoryFaults) {
  const auto x = random_u32(256, 18, 1000);
  std::vector<std::uint32_t> out(256);
  std::vector<std::uint64_t> out64(32);
  std::string m = fault_of(fault_kind::out_of_bounds, [&] {
    wrong().launch("read_past_end", {3}, {128}, 0,
                   {argument::in(x), argument::value(std::uint32_t(256)), argument::inout(out)});
  });
  ASSERT_TRUE(contains(m, "argument 0") && contains(m, "1024 bytes") &&
              contains(m, "block (2,0,0) thread (0,0,0)") && contains(m, "read_past_end") &&
              contains(m, "ld.global"));
  m = fault_of(fault_kind::out_of_bounds, [&] {
    wrong().launch("write_past_end", {3}, {128}, 0,
                   {argument::value(std::uint32_t(256)), argument::inout(out)});
  });
  ASSERT_TRUE(contains(m, "argument 1"));
  fault_of(fault_kind::out_of_bounds,
           [&] { wrong().launch("null_pointer", {1}, {32}, 0, {argument::inout(out)}); });
  m = fault_of(fault_kind::out_of_bounds, [&] {
    wrong().launch("shared_past_end", {1}, {64}, 0,
                   {argument::inout(out), argument::value(std::uint32_t(1))});
  });
  ASSERT_TRUE(contains(m, "shared memory of 256 bytes") && contains(m, "thread (63,0,0)"));
  const auto wide = random_words(66, 19);
  wrong().launch("wide_load", {1}, {32}, 0,
                 {argument::in(wide.data(), 66 * 8), argument::inout(out64)});
  m = fault_of(fault_kind::misaligned, [&] {
    wrong().launch("wide_load", {1}, {32}, 0,
                   {argument::in(wide.data(), 66 * 8, 8), argument::inout(out64)});
  });
  ASSERT_TRUE(contains(m, "16-byte read"));
  m = fault_of(fault_kind::read_only,
               [&] { wrong().launch("write_input", {1}, {32}, 0, {argument::in(x)}); });
  ASSERT_TRUE(contains(m, "argument 0"));
  launch_options o;
  o.check_init = true;
  m = fault_of(fault_kind::uninitialised, [&] {
    wrong().launch("unwritten_shared", {1}, {64}, 0, {argument::inout(out)}, o);
  });
  ASSERT_TRUE(contains(m, "thread (5,0,0)"));
  std::vector<std::uint32_t> bad(32);
  bad[9] = 1;
  m = fault_of(fault_kind::trap,
               [&] { wrong().launch("asserts", {1}, {32}, 0, {argument::inout(bad)}); });
  ASSERT_TRUE(contains(m, "threadIdx.x != 9") && contains(m, "thread (9,0,0)"));
  bad[9] = 0;
  bad[0] = 77;
  fault_of(fault_kind::trap,
           [&] { wrong().launch("asserts", {1}, {1}, 0, {argument::inout(bad)}); });
  o.max_instructions = 1'000'000;
  fault_of(fault_kind::limit, [&] {
    std::vector<std::uint32_t> zero(1);
    wrong().launch("endless", {1}, {32}, 0, {argument::inout(zero)}, o);
  });
}

TEST_P(Mistakes, Races) {
  const auto x = random_u32(128, 20, 1000);
  std::vector<std::uint32_t> out(128);
  const std::vector<argument> two = {argument::in(x), argument::inout(out)};
  launch_options o;  // check_init would see the missing barrier too
  o.racecheck = true;
  launch_statistics s = wrong().launch("missing_barrier", {2}, {128}, 0, two, o);
  ASSERT_TRUE(!s.races.empty() && contains(joined(s), "shared memory"));
  ASSERT_TRUE(!wrong().launch("missing_syncwarp", {1}, {32}, 0, two, o).races.empty());
  no_races(wrong().launch("with_syncwarp", {1}, {32}, 0, two, checked()));
  ASSERT_TRUE(!wrong()
                   .launch("race_between_blocks", {2}, {32}, 0, {argument::inout(out)}, checked())
                   .races.empty());
  no_races(wrong().launch("race_between_blocks", {1}, {32}, 0, {argument::inout(out)}, checked()));
  no_races(wrong().launch("same_value_twice", {2}, {32}, 0, {argument::inout(out)}, checked()));
}

TEST_P(Mistakes, SyncFaults) {
  const auto x = random_u32(64, 21, 1000);
  std::vector<std::uint32_t> out(66);
  const std::vector<argument> two = {argument::in(x), argument::inout(out)};
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    launch_options o;
    o.seed = seed;
    std::string m =
        fault_of(fault_kind::sync, [&] { wrong().launch("lanes_missing", {1}, {32}, 0, two, o); });
    ASSERT_TRUE(contains(m, "shuffle reads lane") && contains(m, "exited"));
    m = fault_of(fault_kind::sync,
                 [&] { wrong().launch("lane_not_in_mask", {1}, {32}, 0, two, o); });
    ASSERT_TRUE(contains(m, "0x0000ffff"));
    m = fault_of(fault_kind::deadlock,
                 [&] { wrong().launch("two_shuffles", {1}, {64}, 0, two, o); });
    ASSERT_TRUE(contains(m, "shfl.sync") && contains(m, "lanes missing 0x"));
    m = fault_of(fault_kind::sync,
                 [&] { wrong().launch("barrier_in_branch", {1}, {32}, 0, two, o); });
    ASSERT_TRUE(contains(m, "different aligned barrier"));
    m = fault_of(fault_kind::deadlock, [&] {
      wrong().launch("barrier_not_met", {1}, {64}, 0, {argument::inout(out)}, o);
    });
    ASSERT_TRUE(contains(m, "barrier 1 (32 of 64"));
    ASSERT_EQ(wrong().launch("early_exit_ballot", {1}, {32}, 0, two, o).exited_in_mask,
              std::uint64_t(1));
    o.strict_sync = true;
    fault_of(fault_kind::sync, [&] { wrong().launch("early_exit_ballot", {1}, {32}, 0, two, o); });
  }
}

TEST_P(Mistakes, Statistics) {
  std::vector<std::uint32_t> x(1 << 16), out(1);
  launch_options o;
  o.serial = true;
  auto load = [&](std::uint32_t stride, std::int64_t offset = 0) {
    return right()
        .launch("load_stride", {8}, {128}, 0,
                {argument::in(x.data(), x.size() * 4, offset), argument::inout(out),
                 argument::value(stride)},
                o)
        .global_load;
  };
  ASSERT_EQ(load(1).instructions, std::uint64_t(32));
  ASSERT_EQ(load(1).sectors, std::uint64_t(32 * 4));
  ASSERT_EQ(load(1).lines, std::uint64_t(32));
  ASSERT_EQ(load(1).bytes, std::uint64_t(4096));
  ASSERT_EQ(load(1).unique_sectors, std::uint64_t(128));
  ASSERT_EQ(load(1, 4).sectors, std::uint64_t(32 * 5));
  ASSERT_EQ(load(1, 4).unique_sectors, std::uint64_t(129));
  ASSERT_EQ(load(1, 4).lines, std::uint64_t(64));
  ASSERT_EQ(load(2).sectors, std::uint64_t(32 * 8));
  ASSERT_EQ(load(8).sectors, std::uint64_t(32 * 32));
  ASSERT_EQ(load(8).lines, std::uint64_t(32 * 8));
  ASSERT_EQ(load(32).lines, std::uint64_t(32 * 32));
  ASSERT_EQ(load(0).sectors, std::uint64_t(32));
  ASSERT_EQ(load(0).unique_sectors, std::uint64_t(1));
  auto conflicts = [&](std::uint32_t stride) {
    return right()
        .launch("shared_stride", {1}, {32}, 0, {argument::inout(out), argument::value(stride)}, o)
        .shared_bank_conflicts;
  };
  ASSERT_EQ(conflicts(1), std::uint64_t(0));
  ASSERT_EQ(conflicts(2), std::uint64_t(1));
  ASSERT_EQ(conflicts(4), std::uint64_t(3));
  ASSERT_EQ(conflicts(32), std::uint64_t(31));
  ASSERT_EQ(conflicts(33), std::uint64_t(0));
  ASSERT_EQ(conflicts(0), std::uint64_t(0));
  // 64-byte blocks, 4 lanes x 16 bytes: two sectors and one line a key, beside the coalesced keys.
  const std::uint64_t n = 4096, blocks = 1 << 20;
  const auto keys = random_words(n, 22);
  std::vector<std::uint64_t> words(blocks * 8);
  std::vector<std::uint32_t> bits(n / 32);
  const launch_statistics s =
      right().launch("contains_shfl_4", {4}, {128}, 0,
                     {argument::in(keys), argument::value(n), argument::in(words),
                      argument::value(blocks), argument::inout(bits)},
                     o);
  const std::uint64_t key_sectors = n * 8 / 32;
  ASSERT_EQ(s.global_load.sectors - key_sectors, 2 * n);
  ASSERT_EQ(s.global_load.lines - n * 8 / 128, n);
  ASSERT_EQ(s.global_load.bytes, n * 8 + n * 64);
  ASSERT_TRUE(s.global_load.unique_sectors - key_sectors > 2 * n - 100);
  // Eight 8-byte atomics a key in one block, an instruction a word: the sectors of each instruction
  // are the keys'.
  const launch_statistics a = right().launch(
      "insert_u64", {4}, {128}, 0,
      {argument::in(keys), argument::value(n), argument::inout(words), argument::value(blocks)}, o);
  ASSERT_EQ(a.global_atomic.lanes, 8 * n);
  ASSERT_EQ(a.touched_bytes, 32 * (a.global_load.unique_sectors + a.global_atomic.unique_sectors));
  ASSERT_TRUE(a.global_atomic.sectors > 8 * n - 200 && a.global_atomic.sectors <= 8 * n);
  const launch_statistics r = right().launch(
      "insert_red", {4}, {128}, 0,
      {argument::in(keys), argument::value(n), argument::inout(words), argument::value(blocks)}, o);
  ASSERT_TRUE(r.global_atomic.sectors > 4 * n - 200 && r.global_atomic.sectors <= 4 * n);
  std::uint64_t warp = 0;
  for (const auto& c : s.by_class) warp += c.second[0];
  ASSERT_EQ(warp, s.warp_instructions);
  ASSERT_TRUE(contains(s.json(), "\"unique_sectors\""));
}

TEST_P(Mistakes, Determinism) {
  const auto keys = random_words(2000, 23);
  auto run = [&](std::uint64_t seed) {
    launch_options o;
    o.seed = seed;
    std::vector<std::uint64_t> w(32 * 8);
    wrong().launch("broken_insert", {8}, {128}, 0,
                   {argument::in(keys), argument::value(std::uint64_t(keys.size())),
                    argument::inout(w), argument::value(std::uint64_t(32))},
                   o);
    return w;
  };
  ASSERT_TRUE(run(5) == run(5));
  ASSERT_TRUE(run(5) != run(6));
}

INSTANTIATE_TEST_SUITE_P(Compiled, Mistakes, ::testing::ValuesIn(variants()), variant_name);

}  // namespace
}  // namespace octobloom::test
