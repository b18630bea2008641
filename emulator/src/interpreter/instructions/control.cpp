// Branches, calls, exits.

#include "interpreter/decoder.h"
#include "interpreter/lanes.h"
#include "interpreter/operations.h"
#include "interpreter/text.h"

namespace octobloom::ptx {

// Control
void h_bra(machine& x, const instruction& i, u32 m) {
  x.st.branches++;
  if (m == x.mask) {
    x.pc = i.target;
    return;
  }
  if (m == 0) {
    ++x.pc;
    return;
  }
  x.st.divergent_branches++;
  x.push(x.pc + 1, x.mask & ~m, x.depth);
  x.pc = i.target;
  x.mask = m;
}
void h_brx(machine& x, const instruction& i, u32 m) {
  x.st.branches++;
  const std::vector<u32>& table = x.prog.tables[i.target];
  const u64* a = x.src(i.a);
  const u32 rest = x.mask & ~m;
  u32 targets = rest ? 1 : 0;
  const u32 here = x.pc;
  x.mask = 0;
  if (rest) x.push(here + 1, rest, x.depth);
  for (u32 todo = m; todo;) {
    const u32 k = u32(a[__builtin_ctz(todo)]);
    if (k >= table.size())
      x.fault(fault_kind::out_of_bounds, i, __builtin_ctz(todo),
              format("branch table has %zu targets, index %u", table.size(), k));
    u32 same = 0;
    for_each_lane(todo, [&](u32 l) { same |= u32(u32(a[l]) == k) << l; });
    todo &= ~same;
    x.push(table[k], same, x.depth);
    ++targets;
  }
  if (targets > 1) x.st.divergent_branches++;
  x.pick();
}
void h_exit(machine& x, const instruction&, u32 m) {
  if (m == 0) {
    ++x.pc;
    return;
  }
  const u32 rest = x.mask & ~m;
  if (rest) ++x.pc;
  x.exit_lanes(m);
}
void h_trap(machine& x, const instruction& i, u32 m) {
  if (m) x.fault(fault_kind::trap, i, __builtin_ctz(m), "trap executed");
  ++x.pc;
}
void h_unsupported(machine& x, const instruction& i, u32 m) {
  if (m) x.fault(fault_kind::unsupported, i, __builtin_ctz(m), "instruction not supported");
  ++x.pc;
}
void h_ret(machine& x, const instruction& i, u32 m) {
  if (x.prog.functions[x.fn].is_entry) {
    h_exit(x, i, m);
    return;
  }
  if (!m) {
    ++x.pc;
    return;
  }
  const ptx_function& f = x.prog.functions[x.fn];
  warp_state& w = *x.w;
  const u32 rest = x.mask & ~m;
  if (rest) x.push(x.pc + 1, rest, x.depth);
  x.mask = 0;
  const u32 d = x.depth;
  for_each_lane(m, [&](u32 l) {
    call_frame fr = std::move(w.stack[l].back());
    w.stack[l].pop_back();
    u8* area = w.params.data() + std::size_t(l) * x.param_area;
    u8 rets[256];
    u32 n = 0;
    for (const ptx_variable& r : f.rets) {
      if (n + r.size > sizeof rets)
        x.fault(fault_kind::unsupported, i, int(l), "return value over 256 bytes");
      std::memcpy(rets + n, area + f.param_base + r.offset, r.size);
      n += u32(r.size);
    }
    w.sp[l] -= f.frame;
    if (f.recursive) {
      for (u32 r = 0; r < f.regs; ++r)
        w.regs[std::size_t(f.reg_base + r) * warp_lanes + l] = fr.saved[r];
      for (u32 p = predicate_first; p < f.preds; ++p) {
        u32& q = w.preds[f.pred_base + p];
        q = (q & ~(1u << l)) | u32(fr.saved_preds[p]) << l;
      }
      std::memcpy(area + f.param_base, fr.saved_params.data(), fr.saved_params.size());
    }
    const call_site& c = x.prog.calls[x.prog.code[fr.call_pc].target];
    const ptx_function& caller = x.prog.functions[x.prog.fn_of[fr.call_pc]];
    n = 0;
    for (std::size_t k = 0; k < c.rets.size() && k < f.rets.size(); ++k) {
      std::memcpy(area + caller.param_base + c.rets[k].at, rets + n,
                  std::min<u64>(c.rets[k].size, f.rets[k].size));
      n += u32(f.rets[k].size);
    }
    x.push(fr.return_pc, 1u << l, d - 1);
  });
  x.pick();
}

namespace {

void call_lanes(machine& x, const instruction& i, const call_site& c, u32 callee, u32 m) {
  const ptx_function& caller = x.prog.functions[x.fn];
  const ptx_function& f = x.prog.functions[callee];
  if (!f.has_body) {
    if (f.name == "vprintf") {  // printf: ignored, returns 0
      x.st.printf_calls++;
      for (const auto& r : c.rets)
        for_each_lane(m, [&](u32 l) { std::memset(lane_param(x, l, r.at), 0, r.size); });
      ++x.pc;
      return;
    }
    if (f.name == "__assertfail") {
      std::string message = "device assert failed";
      if (!c.args.empty()) {
        u64 p = 0;
        std::memcpy(&p, lane_param(x, u32(__builtin_ctz(m)), c.args[0].at), 8);
        const u64 id = p >> region_shift, off = p & offset_mask;
        if (id >= first_region && id < x.regions.size() && off < x.regions[id].size)
          message +=
              ": " + std::string(reinterpret_cast<const char*>(x.regions[id].host) + off,
                                 ::strnlen(reinterpret_cast<const char*>(x.regions[id].host) + off,
                                           x.regions[id].size - off));
      }
      x.fault(fault_kind::trap, i, __builtin_ctz(m), message);
    }
    x.fault(fault_kind::unsupported, i, __builtin_ctz(m), "call of external function " + f.name);
  }
  if (!f.reachable)
    x.fault(fault_kind::unsupported, i, __builtin_ctz(m),
            "indirect call of " + f.demangled + ", whose address the kernel never takes");
  warp_state& w = *x.w;
  for_each_lane(m, [&](u32 l) {
    u8* area = w.params.data() + std::size_t(l) * x.param_area;
    u8 args[1024];
    u32 n = 0;
    for (const auto& a : c.args) {
      if (n + a.size > sizeof args)
        x.fault(fault_kind::unsupported, i, int(l), "call with more than 1 KiB of arguments");
      std::memcpy(args + n, area + caller.param_base + a.at, a.size);
      n += a.size;
    }
    call_frame fr;
    fr.return_pc = x.pc + 1;
    fr.call_pc = x.pc;
    if (f.recursive) {
      if (w.stack[l].size() > 10000)
        x.fault(fault_kind::limit, i, int(l), "recursion deeper than 10000 calls");
      for (u32 r = 0; r < f.regs; ++r)
        fr.saved.push_back(w.regs[std::size_t(f.reg_base + r) * warp_lanes + l]);
      for (u32 p = 0; p < f.preds; ++p) fr.saved_preds.push_back(w.preds[f.pred_base + p] >> l & 1);
      fr.saved_params.assign(area + f.param_base, area + f.param_base + f.param_area);
    }
    w.stack[l].push_back(std::move(fr));
    n = 0;
    for (std::size_t k = 0; k < c.args.size() && k < f.params.size(); ++k) {
      std::memcpy(area + f.param_base + f.params[k].offset, args + n,
                  std::min<u64>(c.args[k].size, f.params[k].size));
      n += c.args[k].size;
    }
    w.regs[std::size_t(f.reg_base + register_frame) * warp_lanes + l] = w.sp[l];
    w.sp[l] += f.frame;
    if (w.sp[l] > x.local_bytes)
      x.fault(fault_kind::out_of_bounds, i, int(l),
              format("local memory stack of %u bytes overflows", x.local_bytes));
  });
  const u32 rest = x.mask & ~m;
  if (rest) x.push(x.pc + 1, rest, x.depth);
  x.mask = m;
  x.pc = f.first;
  x.depth++;
  x.enter_function();
}
void h_call(machine& x, const instruction& i, u32 m) {
  if (!m) {
    ++x.pc;
    return;
  }
  const call_site& c = x.prog.calls[i.target];
  if (!c.indirect) {
    call_lanes(x, i, c, c.callee, m);
    return;
  }
  // One target at a time; the other lanes come back to this instruction.
  const u64* a = x.src(c.fn_ref);
  const u32 first = u32(__builtin_ctz(m));
  const u64 target = a[first];
  const u32 id = u32(target & offset_mask);
  if (target >> region_shift != function_region || id >= x.prog.functions.size())
    x.fault(fault_kind::out_of_bounds, i, int(first),
            "indirect call of " + hex(target) + ", which is no function");
  u32 same = 0;
  for_each_lane(m, [&](u32 l) { same |= u32(a[l] == target) << l; });
  const u32 later = m & ~same;
  if (later) {
    x.push(x.pc, later, x.depth);
    x.mask &= ~later;
  }
  call_lanes(x, i, c, id, same);
}

// Control
void decode_bra(decoder& d) {
  d.has("uni");
  d.in.cls = class_branch;
  d.in.kind = runs_control;
  d.fixups.push_back({u32(d.prog.code.size()), d.scope, d.operand(0).name});
  d.need(h_bra);
}
void decode_brx(decoder& d) {
  d.has("uni");
  d.has("idx");
  d.in.cls = class_branch;
  d.in.kind = runs_control;
  d.in.a = d.source(0, U32);
  d.fixups.push_back({u32(d.prog.code.size()), d.scope, d.operand(1).name, 0});
  d.need(h_brx);
}
void decode_call(decoder& d) {
  d.has("uni");
  d.in.cls = class_branch;
  d.in.kind = runs_control;
  call_site c;
  std::size_t k = 0;
  auto list = [&](ptx_operand& o, std::vector<call_site::parameter_bytes>& out) {
    for (ptx_operand& p : o.parts) {
      if (p.kind != ptx_operand::variable_operand || p.space != space_param_lane)
        throw unsupported_instruction{"call argument"};
      out.push_back({u32(p.var_offset), p.bytes});
    }
  };
  if (d.operand(k).kind == ptx_operand::vector_operand) list(d.operand(k++), c.rets);
  ptx_operand& target = d.operand(k++);
  if (target.kind == ptx_operand::function_name_operand) {
    c.callee = d.prog.function_ids.at(target.name);
    c.name = target.name;
    d.fn.callees.insert(c.callee);
  } else {
    c.indirect = true;
    c.fn_ref = d.source(target, B64);
    d.fn.indirect_calls = true;
  }
  if (k < d.ops.size() && d.operand(k).kind == ptx_operand::vector_operand)
    list(d.operand(k), c.args);
  d.in.target = u32(d.prog.calls.size());
  d.prog.calls.push_back(std::move(c));
  d.need(h_call);
}
void decode_ret(decoder& d) {
  d.has("uni");
  d.in.cls = class_branch;
  d.in.kind = runs_control;
  d.need(h_ret);
}
void decode_exit(decoder& d) {
  d.in.cls = class_branch;
  d.in.kind = runs_control;
  d.need(h_exit);
}
void decode_trap(decoder& d) {
  d.in.cls = class_branch;
  d.in.kind = runs_control;
  d.need(h_trap);
}

}  // namespace

void add_control_flow(decode_rows& rows) {
  rows.insert({
      {"bra", decode_bra},
      {"brx", decode_brx},
      {"call", decode_call},
      {"ret", decode_ret},
      {"exit", decode_exit},
      {"trap", decode_trap},
  });
}

}  // namespace octobloom::ptx
