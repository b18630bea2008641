// Lanes and warps that wait for each other.

#include "interpreter/machine.h"

#include <algorithm>

#include "interpreter/text.h"

namespace octobloom::ptx {

u32 machine::admit(const instruction& i, u32 m) {
  for (std::size_t k = 0; k < w->others.size();) {  // lanes already waiting here join in
    lane_group& g = w->others[k];
    if (g.state == group_at_sync && g.pc == pc && g.depth == depth) {
      mask |= g.mask;
      m |= g.mask & pred(i.guard);
      w->others.erase(w->others.begin() + long(k));
    } else {
      ++k;
    }
  }
  const u64* want = src(i.e);
  u32 ready = 0, todo = m;
  const u32 alive = w->lanes & ~w->exited;
  while (todo) {
    const u32 first = u32(__builtin_ctz(todo));
    const u32 member = u32(want[first]);
    u32 same = 0;
    for (u32 l = 0; l < warp_lanes; ++l) same |= u32(u32(want[l]) == member) << l;
    same &= m;
    todo &= ~same;
    if (same & ~member)
      fault(fault_kind::sync, i, __builtin_ctz(same & ~member),
            "executes a *.sync instruction whose mask " + mask_text(member) + " does not name it");
    if ((member & alive & ~same) == 0) {
      ready |= same;
      if (member & ~alive & w->lanes) {
        st.exited_in_mask++;
        if (opt.strict_sync)
          fault(fault_kind::sync, i, int(first),
                "lanes " + mask_text(member & ~alive & w->lanes) + " of the mask " +
                    mask_text(member) + " have exited");
      }
    }
  }
  return ready;
}

void machine::hold(u32 held) {  // at this pc, for *.sync
  if (!held) return;
  push(pc, held, depth, group_at_sync);
  mask &= ~held;
}

void machine::wake(warp_state& warp) {
  if (!warp.queued) {
    warp.queued = true;
    runnable.push_back(&warp);
  }
}

void machine::barrier_arrive(const instruction& i, u32 m, u32 id, u32 expected, bool wait) {
  if (id >= 16)
    fault(fault_kind::sync, i, __builtin_ctz(m), format("barrier %u does not exist", id));
  barrier_state& b = blk->barriers[id];
  if (expected % warp_lanes)
    fault(fault_kind::sync, i, __builtin_ctz(m),
          format("barrier thread count %u is no multiple of 32", expected));
  if (b.arrived && b.expected != expected)
    fault(fault_kind::sync, i, __builtin_ctz(m),
          format("barrier %u is used with thread counts %u and %u at once", id, b.expected,
                 expected));
  b.expected = expected;
  b.arrived += u32(__builtin_popcount(m));
  if (wait) {
    if (i.opt2) {  // .aligned: the whole warp has to be at this instruction
      for (const lane_group& g : w->others)
        if (g.state == group_at_barrier && g.pc != pc)
          fault(
              fault_kind::sync, i, __builtin_ctz(m),
              "lanes of one warp wait at different aligned barrier instructions; the other is at " +
                  prog.where(prog.code[g.pc]));
    }
    push(pc, m, depth, group_at_barrier, u8(id));
    mask &= ~m;
  }
  barrier_check(id);
}

void machine::barrier_check(u32 id) {
  barrier_state& b = blk->barriers[id];
  if (!b.arrived) return;
  const u32 need = b.expected ? b.expected : blk->alive;
  if (b.arrived < need) return;
  if (!b.expected && blk->alive < blk->threads) {
    st.exited_at_barrier++;
    if (opt.strict_sync) {
      for (warp_state& v : blk->warps)
        for (const lane_group& g : v.others)
          if (g.state == group_at_barrier && g.barrier == id)
            fault(fault_kind::sync, prog.code[g.pc], -1,
                  format("%u threads exited before this barrier", blk->threads - blk->alive));
    }
  }
  st.barriers++;
  blk->epoch++;
  for (warp_state& v : blk->warps) {
    for (lane_group& g : v.others) {
      if (g.state != group_at_barrier || g.barrier != id) continue;
      finish_barrier(v, g, b);
      g.pc++;
      g.state = group_ready;
      g.barrier = 0;
      if (&v != w) wake(v);
      v.next_key = std::min(v.next_key, key(g.pc, g.depth));
    }
  }
  b = barrier_state{};
}

void machine::finish_barrier(warp_state& v, const lane_group& g,
                             const barrier_state& b) {  // bar.red results
  const instruction& i = prog.code[g.pc];
  const ptx_function& f = prog.functions[prog.fn_of[g.pc]];
  if (i.opt == 1) {
    u64* d = v.regs.data() + std::size_t(f.reg_base + i.d) * warp_lanes;
    for (u32 l = 0; l < warp_lanes; ++l)
      if (g.mask >> l & 1) d[l] = b.red_popc;
  } else if (i.opt) {
    u32& p = v.preds[f.pred_base + i.pd];
    const bool r = i.opt == 2 ? b.red_and : b.red_or;
    p = (p & ~g.mask) | (r ? g.mask : 0);
  }
}

void machine::exit_lanes(u32 m) {
  w->exited |= m;
  mask &= ~m;
  blk->alive -= u32(__builtin_popcount(m));
  retry_sync();
  if (blk->alive)
    for (u32 id = 0; id < 16; ++id)
      if (!blk->barriers[id].expected) barrier_check(id);
}

}  // namespace octobloom::ptx
