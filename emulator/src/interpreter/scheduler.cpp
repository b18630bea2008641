// The loop over instructions, and the one over warps and blocks.

#include "interpreter/machine.h"

#include <algorithm>
#include <deque>

#include "interpreter/text.h"

namespace octobloom::ptx {

stop_reason machine::run(warp_state& warp, u64 budget) {
  load(warp);
  const instruction* code = prog.code.data();
  while (true) {
    if (!mask) {
      pick();
      if (!mask) {
        store_state();
        if (w->others.empty()) return stop_reason::done;
        return stop_reason::blocked;
      }
    }
    if (budget-- == 0) {
      store_state();
      return stop_reason::switched;
    }
    const instruction& i = code[pc];
    u32 m = mask & pred(i.guard);
    ++executed;
    class_warp[i.cls]++;
    class_lane[i.cls] += u32(__builtin_popcount(m));
    switch (i.kind) {
      case runs_plain:
        if (m) i.fn(*this, i, m);
        ++pc;
        break;
      case runs_on_memory: {
        if (m) {
          if (w->rest) {  // second part of a split access
            --executed;
            class_warp[i.cls]--;
            class_lane[i.cls] -= u32(__builtin_popcount(m));
            m = w->rest;
            w->rest = 0;
          } else {
            if (i.access <= access_atomic && i.space != no_space) account(i, m);
            if (random && (m & (m - 1)) && u32(rng.next()) < switch_threshold / 4) {
              const u32 part = m & u32(rng.next());
              if (part && part != m) {
                i.fn(*this, i, part);
                w->rest = m & ~part;
                store_state();
                return stop_reason::switched;
              }
            }
          }
          if (i.strong || i.access == access_atomic) w->solo_sync = true;
          i.fn(*this, i, m);
        }
        ++pc;
        if (random && u32(rng.next()) < switch_threshold) switch_requested = true;
        break;
      }
      case runs_control:
        i.fn(*this, i, m);
        break;
    }
    if (w->next_key != ~u64{0} && mask) {
      if (u64{255 - std::min(depth, 255u)} << 32 >= (w->next_key & ~u64{0xffffffff}) &&
          (key(pc, depth) >= w->next_key || w->forced)) {
        reconverge();
      }
      // Spin loops: lanes that wait for others must not keep them from running.
      if (w->forced) {
        if (--w->forced == 0) reconverge();
      } else if (++w->solo > (1u << 16)) {
        if (w->solo_sync && !w->others.empty()) {
          push(pc, mask, depth);
          mask = 0;
          std::vector<std::size_t> ready;
          for (std::size_t g = 0; g + 1 < w->others.size(); ++g)
            if (w->others[g].state == group_ready) ready.push_back(g);
          if (!ready.empty()) {
            take(ready[rng.below(u32(ready.size()))]);
            w->forced = 4096;
          }
        }
        w->solo = 0;
        w->solo_sync = false;
      }
    } else {
      w->solo = 0;
    }
    if (switch_requested) {
      switch_requested = false;
      store_state();
      return mask || w->next_key != ~u64{0} ? stop_reason::switched
             : w->others.empty()            ? stop_reason::done
                                            : stop_reason::blocked;
    }
  }
}

void machine::start_block(block_state& b, u64 index) {
  b.index = index;
  b.x = u32(index % grid.x);
  b.y = u32(index / grid.x % grid.y);
  b.z = u32(index / grid.x / grid.y);
  b.threads = b.alive = u32(block_dim.count());
  b.epoch = 0;
  b.shared.assign(shared_size, 0xcd);  // whatever the last block left there
  if (opt.check_init) b.shared_init.assign(shared_size, 0);
  if (opt.racecheck) b.race.reset(shared_size);
  b.barriers.fill(barrier_state{});
  b.warps.resize(warps_per_block);
  for (u32 k = 0; k < warps_per_block; ++k) {
    warp_state& v = b.warps[k];
    v.block = &b;
    v.index = k;
    const u32 left = b.threads - k * warp_lanes;
    v.lanes = left >= warp_lanes ? all_lanes : (1u << left) - 1;
    v.exited = 0;
    v.others.clear();
    v.next_key = ~u64{0};
    v.rest = v.carry = v.epoch = v.forced = 0;
    v.solo = 0;
    v.cur = lane_group{};
    v.cur.pc = prog.functions[entry].first;
    v.cur.mask = v.lanes;
    v.regs.assign(std::size_t(reg_columns) * warp_lanes, 0);
    v.preds.assign(pred_count, 0);
    for (const ptx_function& f : prog.functions)
      if (f.reachable) v.preds[f.pred_base + predicate_true] = all_lanes;
    v.local.assign(std::size_t(local_bytes) * warp_lanes, 0xcd);
    v.params.assign(std::size_t(param_area) * warp_lanes, 0);
    v.sp.fill(prog.functions[entry].frame);
    for (auto& s : v.stack) s.clear();
    for (u32 l = 0; l < warp_lanes; ++l) {
      const u32 t = k * warp_lanes + l;
      u64* s = v.special.data();
      s[column_tid_x * warp_lanes + l] = t % block_dim.x;
      s[column_tid_y * warp_lanes + l] = t / block_dim.x % block_dim.y;
      s[column_tid_z * warp_lanes + l] = t / block_dim.x / block_dim.y;
      s[column_cta_x * warp_lanes + l] = b.x;
      s[column_cta_y * warp_lanes + l] = b.y;
      s[column_cta_z * warp_lanes + l] = b.z;
      s[column_warp_id * warp_lanes + l] = k;
      s[column_sm_id * warp_lanes + l] = index % 132;
    }
  }
}

void machine::deadlock(std::vector<block_state*>& blocks) {
  std::string out =
      "deadlock: nothing can run any more\n  kernel " + prog.functions[entry].demangled;
  u32 shown = 0;
  for (block_state* b : blocks) {
    for (warp_state& v : b->warps) {
      for (const lane_group& g : v.others) {
        if (++shown > 8) break;
        const instruction& i = prog.code[g.pc];
        out += format("\n  block (%u,%u,%u) warp %u lanes %s wait at ", b->x, b->y, b->z, v.index,
                      mask_text(g.mask).c_str());
        if (g.state == group_at_barrier) {
          const barrier_state& s = b->barriers[g.barrier];
          out += format("barrier %u (%u of %u threads there)", g.barrier, s.arrived,
                        s.expected ? s.expected : b->alive);
        } else {
          load(v);
          fn = ~0u;
          pc = g.pc;
          enter_function();
          const u32 member = u32(src(i.e)[__builtin_ctz(g.mask)]);
          out += "a *.sync instruction with mask " + mask_text(member) + ", lanes missing " +
                 mask_text(member & v.lanes & ~v.exited & ~g.mask);
        }
        out += "\n    " + prog.where(i);
      }
    }
  }
  if (shown > 8) out += format("\n  and %u more groups", shown - 8);
  throw kernel_fault(fault_kind::deadlock, out);
}

void machine::run_all() {
  const u64 total = grid.count();
  u64 resident = opt.cooperative ? total : opt.resident_blocks;
  if (!resident) resident = opt.serial ? 1 : std::max(2u, std::min(32u, 64 / warps_per_block));
  std::deque<std::unique_ptr<block_state>> pool;
  std::vector<block_state*> active, idle;
  u64 next = 0;
  auto fill = [&] {
    while (active.size() < resident && next < total) {
      if (idle.empty()) {
        pool.emplace_back(new block_state);
        idle.push_back(pool.back().get());
      }
      block_state* b = idle.back();
      idle.pop_back();
      start_block(*b, next++);
      active.push_back(b);
      for (warp_state& v : b->warps) {
        v.queued = true;
        runnable.push_back(&v);
      }
    }
  };
  fill();
  while (!active.empty()) {
    if (runnable.empty()) deadlock(active);
    const std::size_t at = random ? rng.below(u32(runnable.size())) : 0;
    warp_state* v = runnable[at];
    const stop_reason stop = run(*v, random ? 20'000 : 1'000'000);
    if (opt.max_instructions && executed > opt.max_instructions)
      fault(fault_kind::limit, prog.code[pc], -1,
            format("more than %llu warp instructions; a loop without an end?",
                   static_cast<unsigned long long>(opt.max_instructions)));
    if (stop == stop_reason::switched) {
      if (!random) std::rotate(runnable.begin(), runnable.begin() + 1, runnable.end());
      continue;
    }
    v->queued = false;
    if (random) {
      runnable[at] = runnable.back();
      runnable.pop_back();
    } else
      runnable.erase(std::find(runnable.begin(), runnable.end(), v));
    block_state* b = v->block;
    if (b->alive == 0) {
      bool done = true;
      for (warp_state& u : b->warps) done = done && !u.queued;
      if (done) {
        active.erase(std::find(active.begin(), active.end(), b));
        idle.push_back(b);
        fill();
      }
    }
  }
}

}  // namespace octobloom::ptx
