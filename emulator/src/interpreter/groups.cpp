// Which lanes of a warp run next, and where they meet again.

#include "interpreter/machine.h"

#include <algorithm>

namespace octobloom::ptx {

void machine::enter_function() {
  const u32 f = prog.fn_of[pc];
  if (f == fn) return;
  fn = f;
  const ptx_function& g = prog.functions[f];
  regs = w->regs.data() + std::size_t(g.reg_base) * warp_lanes;
  base[0] = regs;
  preds = w->preds.data() + g.pred_base;
}

void machine::refresh_next_key() {
  w->next_key = ~u64{0};
  for (const lane_group& g : w->others)
    if (g.state == group_ready) w->next_key = std::min(w->next_key, key(g.pc, g.depth));
}

void machine::push(u32 at, u32 m, u32 d, group_state state, u8 barrier) {
  for (lane_group& g : w->others)
    if (g.pc == at && g.depth == d && g.state == state && g.barrier == barrier) {
      g.mask |= m;
      return;
    }
  lane_group g;
  g.pc = at;
  g.mask = m;
  g.depth = d;
  g.state = state;
  g.barrier = barrier;
  w->others.push_back(g);
  if (state == group_ready) w->next_key = std::min(w->next_key, key(at, d));
}

void machine::pick() {
  if (mask) push(pc, mask, depth);
  mask = 0;
  int best = -1;
  u64 best_key = ~u64{0};
  for (std::size_t i = 0; i < w->others.size(); ++i) {
    if (w->others[i].state != group_ready) continue;
    const u64 k = key(w->others[i].pc, w->others[i].depth);
    if (best < 0 || k < best_key) {
      best = int(i);
      best_key = k;
    }
  }
  if (best >= 0) take(std::size_t(best));
}

void machine::take(std::size_t index) {
  const lane_group g = w->others[index];
  w->others.erase(w->others.begin() + long(index));
  pc = g.pc;
  mask = g.mask;
  depth = g.depth;
  enter_function();
  refresh_next_key();
}

void machine::reconverge() {
  const u64 k = key(pc, depth);
  if (w->forced) {  // another group is being let run: only join
    for (std::size_t i = 0; i < w->others.size(); ++i) {
      const lane_group& g = w->others[i];
      if (g.state == group_ready && g.pc == pc && g.depth == depth) {
        mask |= g.mask;
        w->others.erase(w->others.begin() + long(i));
        refresh_next_key();
        break;
      }
    }
    return;
  }
  if (k >= w->next_key) pick();
}

void machine::retry_sync() {  // lanes exited or the warp ran dry: groups held at *.sync try again
  for (lane_group& g : w->others) {
    if (g.state != group_at_sync) continue;
    g.state = group_ready;
    for (lane_group& h : w->others) {
      if (&h != &g && h.state == group_ready && h.pc == g.pc && h.depth == g.depth && h.mask) {
        h.mask |= g.mask;
        g.mask = 0;
        break;
      }
    }
  }
  w->others.erase(std::remove_if(w->others.begin(), w->others.end(),
                                 [](const lane_group& g) { return g.mask == 0; }),
                  w->others.end());
  refresh_next_key();
}

void machine::load(warp_state& warp) {
  w = &warp;
  blk = warp.block;
  pc = warp.cur.pc;
  mask = warp.cur.mask;
  depth = warp.cur.depth;
  base[1] = prog.consts.data();
  base[2] = warp.special.data();
  fn = ~0u;
  enter_function();
}

}  // namespace octobloom::ptx
