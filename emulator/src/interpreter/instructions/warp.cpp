// What the lanes of a warp do together.

#include "interpreter/decoder.h"
#include "interpreter/lanes.h"
#include "interpreter/operations.h"
#include "interpreter/text.h"

namespace octobloom::ptx {

namespace {

// Warp-wide instructions: `e` is the member mask. They run once every lane of the mask is there.
template <class F>
void sync_op(machine& x, const instruction& i, u32 m, F f) {
  // Lanes that the guard switches off go on; held lanes stay.
  const u32 ready = x.admit(i, m);
  const u32 wanted = x.mask & x.pred(i.guard);
  if (ready) f(ready);
  x.hold(wanted & ~ready);
  if (x.mask) ++x.pc;
}
template <class F>
void for_each_member_set(machine& x, const instruction& i, u32 ready, F f) {
  const u64* want = x.src(i.e);
  while (ready) {
    const u32 member = u32(want[__builtin_ctz(ready)]);
    u32 same = 0;
    for (u32 l = 0; l < warp_lanes; ++l) same |= u32(u32(want[l]) == member) << l;
    same &= ready;
    f(same, member);
    ready &= ~same;
  }
}
void h_shfl(machine& x, const instruction& i, u32 m) {  // opt: 0 up, 1 down, 2 bfly, 3 idx
  sync_op(x, i, m, [&](u32 ready) {
    const u64 *a = x.src(i.a), *b = x.src(i.b), *c = x.src(i.c), *want = x.src(i.e);
    u64 out[warp_lanes] = {};
    u32 in_range = 0;
    for_each_lane(ready, [&](u32 l) {
      const u32 bval = u32(b[l]) & 31, cval = u32(c[l]) & 31, seg = u32(c[l]) >> 8 & 31;
      const u32 max_lane = (l & seg) | (cval & ~seg & 31), min_lane = l & seg;
      s32 j;
      bool p;
      switch (i.opt) {
        case 0:
          j = s32(l) - s32(bval);
          p = j >= s32(max_lane);
          break;
        case 1:
          j = s32(l + bval);
          p = j <= s32(max_lane);
          break;
        case 2:
          j = s32(l ^ bval);
          p = j <= s32(max_lane);
          break;
        default:
          j = s32(min_lane | (bval & ~seg & 31));
          p = j <= s32(max_lane);
          break;
      }
      if (!p) j = s32(l);
      if (!(ready >> j & 1) || !(u32(want[l]) >> j & 1)) {
        const char* why = x.w->exited >> j & 1 || !(x.w->lanes >> j & 1)
                              ? "has exited or never existed"
                              : "does not take part in this shuffle";
        x.fault(fault_kind::sync, i, int(l),
                format("shuffle reads lane %d, which %s (mask %s)", j, why,
                       mask_text(u32(want[l])).c_str()));
      }
      out[l] = u32(a[j]);
      in_range |= u32(p) << l;
    });
    u64* d = x.dst(i.d);
    for_each_lane(ready, [&](u32 l) { d[l] = out[l]; });
    if (i.pd != predicate_sink) x.set_pred(i.pd, in_range, ready);
  });
}
void h_vote(machine& x, const instruction& i, u32 m) {  // opt: 0 all, 1 any, 2 uni, 3 ballot
  sync_op(x, i, m, [&](u32 ready) {
    const u32 p = x.pred(i.pc);
    u64* d = x.dst(i.d);
    for_each_member_set(x, i, ready, [&](u32 same, u32) {
      const u32 yes = p & same;
      switch (i.opt) {
        case 0:
          x.set_pred(i.pd, yes == same ? all_lanes : 0, same);
          break;
        case 1:
          x.set_pred(i.pd, yes ? all_lanes : 0, same);
          break;
        case 2:
          x.set_pred(i.pd, yes == same || yes == 0 ? all_lanes : 0, same);
          break;
        default:
          for_each_lane(same, [&](u32 l) { d[l] = yes; });
          break;
      }
    });
  });
}
template <class T>
void h_match(machine& x, const instruction& i, u32 m) {  // opt: 0 any, 1 all
  sync_op(x, i, m, [&](u32 ready) {
    u64 a[warp_lanes];
    std::memcpy(a, x.src(i.a), sizeof a);
    u64* d = x.dst(i.d);
    for_each_member_set(x, i, ready, [&](u32 same, u32) {
      bool all = true;
      for_each_lane(same, [&](u32 l) {
        u32 eq = 0;
        for_each_lane(same, [&](u32 k) { eq |= u32(T(a[k]) == T(a[l])) << k; });
        if (i.opt == 0)
          d[l] = eq;
        else
          all = all && eq == same;
      });
      if (i.opt == 1) {
        for_each_lane(same, [&](u32 l) { d[l] = all ? same : 0; });
        x.set_pred(i.pd, all ? all_lanes : 0, same);
      }
    });
  });
}
template <class Op, class T>
void h_redux(machine& x, const instruction& i, u32 m) {
  sync_op(x, i, m, [&](u32 ready) {
    u64 a[warp_lanes];
    std::memcpy(a, x.src(i.a), sizeof a);
    u64* d = x.dst(i.d);
    for_each_member_set(x, i, ready, [&](u32 same, u32) {
      const u32 first = u32(__builtin_ctz(same));
      T r = value_of<T>(a[first]);
      for_each_lane(same & (same - 1), [&](u32 l) { r = Op::f(r, value_of<T>(a[l])); });
      for_each_lane(same, [&](u32 l) { d[l] = bits_of(r); });
    });
  });
}
void h_elect(machine& x, const instruction& i, u32 m) {
  sync_op(x, i, m, [&](u32 ready) {
    u64* d = x.dst(i.d);
    for_each_member_set(x, i, ready, [&](u32 same, u32) {
      const u32 leader = u32(__builtin_ctz(same));
      for_each_lane(same, [&](u32 l) { d[l] = leader; });
      x.set_pred(i.pd, 1u << leader, same);
    });
  });
}
// bar.warp.sync may be met at different places by the lanes of one mask.
void h_syncwarp(machine& x, const instruction& i, u32 m) {
  const u32 ready = x.admit(i, m);
  const u32 wanted = x.mask & x.pred(i.guard);
  u32 held = wanted & ~ready;
  if (held) {
    const u64* want = x.src(i.e);
    const u32 alive = x.w->lanes & ~x.w->exited;
    for (u32 todo = held; todo;) {
      const u32 member = u32(want[__builtin_ctz(todo)]);
      u32 here = 0;
      for_each_lane(todo, [&](u32 l) { here |= u32(u32(want[l]) == member) << l; });
      todo &= ~here;
      u32 elsewhere = 0;
      std::vector<std::size_t> waiting;
      for (std::size_t k = 0; k < x.w->others.size(); ++k) {
        const lane_group& g = x.w->others[k];
        const instruction& gi = x.prog.code[g.pc];
        if (g.state != group_at_sync || gi.fn != i.fn) continue;
        const operand_ref r = gi.e;  // evaluated in the group's own function
        const u64* theirs =
            r >> 30
                ? x.src(r)
                : x.w->regs.data() +
                      std::size_t(x.prog.functions[x.prog.fn_of[g.pc]].reg_base + r) * warp_lanes;
        if (u32(theirs[__builtin_ctz(g.mask)]) != member) continue;
        elsewhere |= g.mask;
        waiting.push_back(k);
      }
      if (member & alive & ~(here | elsewhere)) continue;
      held &= ~here;
      for (std::size_t k : waiting) {
        x.w->others[k].pc++;
        x.w->others[k].state = group_ready;
      }
    }
    x.refresh_next_key();
  }
  x.w->epoch++;
  x.hold(held);
  if (x.mask) ++x.pc;
}

// Warp-wide
// bar/barrier. opt2: aligned. a: id, b: count (0: all).
void h_bar(machine& x, const instruction& i, u32 m) {
  if (!m) {
    ++x.pc;
    return;
  }
  const u32 first = u32(__builtin_ctz(m));
  const u32 id = u32(x.src(i.a)[first]), n = u32(x.src(i.b)[first]);
  if (i.opt) {  // bar.red: 1 popc, 2 and, 3 or
    barrier_state& b = x.blk->barriers[id & 15];
    const u32 p = x.pred(i.pc) & m;
    b.red_popc += u32(__builtin_popcount(p));
    if (p != m) b.red_and = 0;
    if (p) b.red_or = 1;
  }
  const u32 rest = x.mask & ~m;
  if (rest) {
    x.push(x.pc + 1, rest, x.depth);
    x.mask = m;
  }
  x.barrier_arrive(i, m, id, n, true);
}
void h_bar_arrive(machine& x, const instruction& i, u32 m) {
  if (m) {
    const u32 first = u32(__builtin_ctz(m));
    x.barrier_arrive(i, m, u32(x.src(i.a)[first]), u32(x.src(i.b)[first]), false);
  }
  ++x.pc;
}

void sync_instruction(decoder& d, std::size_t mask_operand) {
  if (!d.has("sync")) throw unsupported_instruction{"without .sync"};
  d.in.e = d.source(mask_operand, U32);
  d.in.kind = runs_control;
  d.in.cls = class_warp_op;
}
void decode_shfl(decoder& d) {
  sync_instruction(d, 4);
  ptx_operand& o = d.operand(0);
  d.in.d = d.dest(o);
  if (!o.second.empty()) d.in.pd = d.pdest(o.second[0]);
  d.in.a = d.source(1, B32);
  d.in.b = d.source(2, U32);
  d.in.c = d.source(3, U32);
  d.in.opt = d.has("up") ? 0 : d.has("down") ? 1 : d.has("bfly") ? 2 : d.has("idx") ? 3 : 9;
  d.need(d.in.opt == 9 ? nullptr : h_shfl);
}
void decode_vote(decoder& d) {
  sync_instruction(d, 2);
  d.in.pc = d.psource(1);
  if (d.has("ballot")) {
    d.in.opt = 3;
    d.in.d = d.dest(0);
  } else {
    d.in.opt = d.has("all") ? 0 : d.has("any") ? 1 : d.has("uni") ? 2 : 9;
    d.in.pd = d.pdest(d.operand(0));
  }
  d.need(d.in.opt == 9 ? nullptr : h_vote);
}
void decode_match(decoder& d) {
  sync_instruction(d, 2);
  const data_type t = d.type();
  ptx_operand& o = d.operand(0);
  d.in.d = d.dest(o);
  if (!o.second.empty()) d.in.pd = d.pdest(o.second[0]);
  d.in.a = d.source(1, t);
  d.in.opt = d.has("any") ? 0 : d.has("all") ? 1 : 9;
  d.need(d.in.opt == 9 ? nullptr : bytes_of(t) == 8 ? h_match<u64> : h_match<u32>);
}
void decode_redux(decoder& d) {
  sync_instruction(d, 2);
  const data_type t = d.type();
  d.in.d = d.dest(0);
  d.in.a = d.source(1, t);
  if (is_float(t)) throw unsupported_instruction{"float redux"};
  const bool s = t == S32;
  if (d.has("add"))
    d.need(h_redux<add_op, u32>);
  else if (d.has("min"))
    d.need(s ? h_redux<min_op, s32> : h_redux<min_op, u32>);
  else if (d.has("max"))
    d.need(s ? h_redux<max_op, s32> : h_redux<max_op, u32>);
  else if (d.has("and"))
    d.need(h_redux<and_op, u32>);
  else if (d.has("or"))
    d.need(h_redux<or_op, u32>);
  else if (d.has("xor"))
    d.need(h_redux<xor_op, u32>);
  else
    throw unsupported_instruction{"redux operation"};
}
void decode_elect(decoder& d) {
  sync_instruction(d, 1);
  ptx_operand& o = d.operand(0);
  d.in.d = d.dest(o);
  if (!o.second.empty()) d.in.pd = d.pdest(o.second[0]);
  d.need(h_elect);
}
void decode_bar(decoder& d) {
  d.in.cls = class_barrier;
  d.in.kind = runs_control;
  const bool is_bar = d.op == "bar";  // bar.* is always aligned
  d.in.opt2 = d.has("aligned") || is_bar;
  if (d.has("cluster")) {
    std::fill(d.used.begin(), d.used.end(), true);
    d.in.kind = runs_plain;
    d.need(h_nop);
    return;
  }  // a cluster is one block
  d.has("cta");
  if (d.has("warp")) {
    d.has("sync");
    d.in.e = d.source(0, U32);
    d.in.cls = class_warp_op;
    d.need(h_syncwarp);
    return;
  }
  std::size_t k = 0;
  if (d.has("red")) {
    if (d.has("popc")) {
      d.in.opt = 1;
      d.in.d = d.dest(0);
    } else {
      d.in.opt = d.has("and") ? 2 : d.has("or") ? 3 : 9;
      d.in.pd = d.pdest(d.operand(0));
    }
    k = 1;
    d.in.pc = d.psource(d.ops.size() - 1);
    d.ops.pop_back();
    if (d.in.opt == 9) throw unsupported_instruction{"barrier reduction"};
  }
  const bool arrive = d.has("arrive");
  if (!arrive) d.has("sync");
  d.in.a = d.source(k, U32);
  d.in.b = k + 1 < d.ops.size() ? d.source(k + 1, U32) : d.prog.constant(0);
  d.need(arrive ? h_bar_arrive : h_bar);
}

}  // namespace

void add_warp_instructions(decode_rows& rows) {
  rows.insert({
      {"shfl", decode_shfl},
      {"vote", decode_vote},
      {"match", decode_match},
      {"redux", decode_redux},
      {"elect", decode_elect},
      {"bar", decode_bar},
      {"barrier", decode_bar},
  });
}

}  // namespace octobloom::ptx
