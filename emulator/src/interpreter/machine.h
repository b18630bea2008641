#pragma once

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <octobloom/emulator/interpreter.h>

#include "interpreter/memory.h"
#include "interpreter/program.h"

namespace octobloom::ptx {

struct random_source {
  u64 s;
  explicit random_source(u64 seed) : s(seed * 0x9E3779B97F4A7C15ull + 0x1234567) {
    next();
    next();
  }
  u64 next() {  // splitmix64
    u64 z = (s += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  u32 below(u32 n) { return u32((u64(u32(next())) * n) >> 32); }
};

enum group_state : u8 { group_ready, group_at_sync, group_at_barrier };
struct lane_group {
  u32 pc = 0, mask = 0, depth = 0;
  group_state state = group_ready;
  u8 barrier = 0;
};

struct block_state;

struct call_frame {  // a call, per lane
  u32 return_pc;
  u32 call_pc;
  std::vector<u64> saved;  // recursive callee: this lane's registers
  std::vector<u8> saved_params;
  std::vector<bool> saved_preds;
};

struct warp_state {
  block_state* block = nullptr;
  u32 index = 0;
  u32 lanes = 0;  // that exist
  u32 exited = 0;
  lane_group cur;  // running, or about to; mask 0: none
  std::vector<lane_group> others;
  u64 next_key = ~u64{0};  // smallest key of the ready groups in `others`
  u32 rest = 0;            // lanes of `cur` that still have to do the memory operation at its pc
  u32 carry = 0;           // condition code of add.cc and friends
  u32 epoch = 0;           // for racecheck: bar.warp.sync passed
  u64 solo = 0;            // instructions run while other groups were ready (spin detection)
  u32 forced = 0;          // instructions for which order is ignored (lets waiting groups move)
  bool solo_sync = false;
  bool queued = false;  // in the scheduler's list
  std::vector<u64> regs;
  std::vector<u32> preds;
  std::array<u64, column_count * warp_lanes> special;
  std::vector<u8> local;   // lane-major
  std::vector<u8> params;  // lane-major call parameters
  std::array<u32, warp_lanes> sp;
  std::array<std::vector<call_frame>, warp_lanes> stack;
};

struct barrier_state {
  u32 arrived = 0;
  u32 expected = 0;  // 0: all threads of the block
  u32 red_and = 1, red_or = 0, red_popc = 0;
};

struct block_state {
  u64 index = 0;
  u32 x = 0, y = 0, z = 0;
  u32 alive = 0;  // threads not exited
  u32 threads = 0;
  u32 epoch = 0;  // block barriers completed
  std::vector<u8> shared;
  std::vector<u8> shared_init;
  race_shadow race;
  std::array<barrier_state, 16> barriers;
  std::vector<warp_state> warps;
};

enum class stop_reason { blocked, done, switched };

// Model of execution. A warp's lanes are kept in groups; a group is a set of lanes with the same pc
// and call depth, and its instructions run for all its lanes at once over register columns
// (register r of lane l is regs[r * 32 + l]). When a branch splits a group, the group that is
// earlier in a loop-aware topological order of the basic blocks runs first, so lanes meet again at
// the join, and deeper calls run before shallower ones. *.sync instructions hold lanes back until
// all lanes of the mask that have not exited are there.
struct machine {
  program& prog;
  std::vector<memory_region>& regions;
  const launch_options& opt;
  launch_statistics st;
  random_source rng;
  u32 switch_threshold;  // of 2^32
  bool random;
  // The launch
  u32 entry = 0;
  extent grid, block_dim;
  u32 reg_columns = 0, pred_count = 0, param_area = 0, local_bytes = 0, warps_per_block = 0;
  u64 shared_size = 0, shared_static = 0;
  std::vector<u8> param_buffer;
  u64 class_warp[class_count] = {}, class_lane[class_count] = {};
  u64 executed = 0;
  std::vector<warp_state*> runnable;
  std::unordered_map<u64, std::pair<u64, std::string>> race_reports;
  // The warp being run
  warp_state* w = nullptr;
  block_state* blk = nullptr;
  const u64* base[3] = {};
  u64* regs = nullptr;
  u32* preds = nullptr;
  u32 pc = 0, mask = 0, depth = 0;
  u32 fn = ~0u;
  bool switch_requested = false;
  // Filled by resolve()
  u8* ptr[warp_lanes];

  machine(program& p, std::vector<memory_region>& r, const launch_options& o)
      : prog(p), regions(r), opt(o), rng(o.seed) {
    random = !o.serial && o.switch_probability > 0;
    switch_threshold = u32(std::min(o.switch_probability, 1.0) * 4294967295.0);
  }

  // --- operands
  const u64* src(operand_ref r) const {
    return base[r >> 30] + std::size_t(r & ref_index) * warp_lanes;
  }
  u64* dst(operand_ref r) { return regs + std::size_t(r) * warp_lanes; }
  u32 pred(predicate_ref r) const {
    const u32 p = preds[r & ~predicate_negated];
    return r & predicate_negated ? ~p : p;
  }
  void set_pred(predicate_ref r, u32 v, u32 m) {
    u32& p = preds[r];
    p = (p & ~m) | (v & m);
  }

  // --- groups
  u64 key(u32 at, u32 d) const { return u64{255 - std::min(d, 255u)} << 32 | prog.order[at]; }
  void enter_function();
  void refresh_next_key();
  void push(u32 at, u32 m, u32 d, group_state state = group_ready, u8 barrier = 0);
  // Makes the first ready group current (the current one competes if it has lanes).
  void pick();
  void take(std::size_t index);
  // After a jump: is another group to run first, or to be joined?
  void reconverge();
  void retry_sync();
  void load(warp_state& warp);
  void store_state() {
    w->cur.pc = pc;
    w->cur.mask = mask;
    w->cur.depth = depth;
  }

  // --- messages
  std::string thread_name(u32 lane) const;
  [[noreturn]] void fault(fault_kind kind, const instruction& i, int lane,
                          const std::string& what) const;
  std::string region_text(u64 addr) const;

  // --- memory
  [[noreturn]] void bad_address(const instruction& i, u32 lane, u64 addr, u32 size,
                                access_kind acc) const;

  // Host address of one lane's access; checks bounds, alignment, read-only. `addr` is flat for
  // global and generic spaces, an offset for shared and local.
  u8* host_address(const instruction& i, u32 lane, u64 addr, u32 size, state_space space,
                   access_kind acc);

  // Fills ptr[] for the lanes of m.
  void resolve(const instruction& i, u32 m);
  bool shared_offset(const instruction& i, u64 addr, u32& off) const;
  void check_initialised(const instruction& i, u32 m);
  void mark_initialised(const instruction& i, u32 m);

  // --- statistics of one warp-level memory instruction
  void account(const instruction& i, u32 m) {
    account_access(i, m, src(i.a), u64(i.imm), i.size, i.space, i.access);
  }
  void account_access(const instruction&, u32 m, const u64* a, u64 imm, u32 size, state_space space,
                      access_kind acc);
  void count_sectors(u32 m, const u64* a, u64 imm, memory_statistics& s, access_kind acc);
  void count_bank_conflicts(u32 m, const u64* a, u64 imm, u32 size);

  // --- racecheck
  u32 thread_number(u32 lane) const {
    return u32((blk->index * warps_per_block + w->index) * warp_lanes + lane) + 1;
  }
  bool ordered(const access_record& t, u32 thread) const;
  void race_report(const access_record& before, bool before_writes, bool now_writes, u64 addr,
                   u32 lane);
  // Called before the access is performed. `value(lane)` gives the bytes a plain store will write.
  template <class ValueOf>
  void racecheck(const instruction& i, u32 m, const u64* a, u64 imm, u32 size, state_space space,
                 access_kind acc, ValueOf value) {
    check_races(
        i, m, a, imm, size, space, acc,
        [](void* f, u32 lane) { return (*static_cast<ValueOf*>(f))(lane); }, &value);
  }
  using lane_bytes = const u8* (*)(void* value, u32 lane);
  void check_races(const instruction& i, u32 m, const u64* a, u64 imm, u32 size, state_space space,
                   access_kind acc, lane_bytes bytes_of_lane, void* value);

  // --- sync and barriers
  // Lanes of m that may execute a *.sync instruction now; the others are held back at this pc.
  u32 admit(const instruction& i, u32 m);
  void hold(u32 held);

  void wake(warp_state& warp);
  void barrier_arrive(const instruction& i, u32 m, u32 id, u32 expected, bool wait);
  void barrier_check(u32 id);
  void finish_barrier(warp_state& v, const lane_group& g, const barrier_state& b);
  void exit_lanes(u32 m);

  // --- the loop
  stop_reason run(warp_state& warp, u64 budget);
  void run_all();
  void start_block(block_state& b, u64 index);
  [[noreturn]] void deadlock(std::vector<block_state*>& blocks);
};

}  // namespace octobloom::ptx
