// Kernels, found by name, laid out and run.

#include <algorithm>
#include <chrono>
#include <set>

#include "interpreter/machine.h"
#include "interpreter/module.h"
#include "interpreter/text.h"

namespace octobloom::ptx {

std::vector<u32> module::implementation::reachable(u32 entry) const {
  std::vector<u32> out = {entry};
  std::set<u32> seen = {entry};
  auto add = [&](u32 f) {
    if (seen.insert(f).second) out.push_back(f);
  };
  for (std::size_t k = 0; k < out.size(); ++k) {
    const ptx_function& f = prog.functions[out[k]];
    for (u32 c : f.callees) add(c);
    if (f.indirect_calls)
      for (u32 c : prog.address_taken) add(c);
  }
  return out;
}

bool module::implementation::calls_itself(u32 f) const {
  auto may_call = [&](u32 from) {
    const ptx_function& g = prog.functions[from];
    return g.callees.count(f) || (g.indirect_calls && prog.address_taken.count(f));
  };
  for (u32 g : reachable(f))
    if (may_call(g)) return true;
  return false;
}

std::vector<std::string> module::implementation::unsupported(
    const std::vector<u32>& functions) const {
  std::vector<std::string> out;
  for (u32 id : functions) {
    const ptx_function& f = prog.functions[id];
    out.insert(out.end(), f.unsupported.begin(), f.unsupported.end());
    if (!f.has_body && f.name != "vprintf" && f.name != "__assertfail")
      out.push_back("unsupported call of the external function " + f.name);
  }
  return out;
}

u32 module::implementation::find_entry(const std::string& name) const {
  std::vector<u32> found;
  for (u32 f : entries) {
    if (prog.functions[f].name == name || prog.functions[f].demangled == name) return f;
    if (prog.functions[f].name.find(name) != std::string::npos ||
        prog.functions[f].demangled.find(name) != std::string::npos)
      found.push_back(f);
  }
  if (found.size() == 1) return found[0];
  std::string out = found.empty() ? "no kernel is called \"" + name + "\"; there are:"
                                  : "\"" + name + "\" is part of several kernels' names:";
  for (u32 f : found.empty() ? entries : found)
    out += "\n  " + prog.functions[f].name + "  " + prog.functions[f].demangled;
  throw kernel_fault(fault_kind::usage, out);
}

u64 module::implementation::shared_layout(const std::vector<u32>& functions,
                                          std::unordered_map<std::string, u64>* at) const {
  std::set<std::string> names;
  for (u32 f : functions)
    names.insert(prog.functions[f].shared.begin(), prog.functions[f].shared.end());
  u64 top = 0, dynamic_align = 16;
  for (const std::string& n : names) {
    const ptx_variable& v = prog.variables.at(n);
    if (v.external) {
      dynamic_align = std::max<u64>(dynamic_align, v.align);
      continue;
    }
    top = (top + v.align - 1) / v.align * v.align;
    if (at) (*at)[n] = top;
    top += v.size;
  }
  const u64 dynamic = (top + dynamic_align - 1) / dynamic_align * dynamic_align;
  bool any = false;
  for (const std::string& n : names)
    if (prog.variables.at(n).external) {
      any = true;
      if (at) (*at)[n] = dynamic;
    }
  return any ? dynamic : top;
}

u64 module::implementation::buffer_address(
    const argument& a, std::map<std::tuple<void*, std::size_t, bool>, u64>& known,
    std::size_t index) {
  auto [it, fresh] = known.try_emplace(std::make_tuple(a.host, a.size, a.writable), 0);
  if (fresh) {
    if (a.size > offset_mask) throw kernel_fault(fault_kind::usage, "a buffer over 64 GiB");
    memory_region r;
    r.host = static_cast<u8*>(a.host);
    r.size = a.size;
    r.writable = a.writable;
    r.name = format("argument %zu%s", index, a.name.empty() ? "" : (" (" + a.name + ")").c_str());
    it->second = region_base(u32(regions.size()));
    regions.push_back(std::move(r));
  }
  return it->second + u64(a.offset);
}

void module::implementation::put(const argument& a, std::vector<u8>& out,
                                 std::map<std::tuple<void*, std::size_t, bool>, u64>& known,
                                 std::size_t index) {
  out.resize((out.size() + a.align - 1) / a.align * a.align);
  if (a.kind == argument::kind_type::bytes)
    out.insert(out.end(), a.bytes.begin(), a.bytes.end());
  else if (a.kind == argument::kind_type::buffer) {
    const u64 p = buffer_address(a, known, index);
    out.insert(out.end(), reinterpret_cast<const u8*>(&p), reinterpret_cast<const u8*>(&p) + 8);
  } else {
    std::vector<u8> inner;
    for (const argument& f : a.fields) put(f, inner, known, index);
    inner.resize((inner.size() + a.align - 1) / a.align * a.align);
    out.insert(out.end(), inner.begin(), inner.end());
  }
}

launch_statistics module::implementation::launch(const std::string& name, extent grid, extent block,
                                                 std::size_t dynamic_shared,
                                                 const std::vector<argument>& args,
                                                 const launch_options& opt) {
  const u32 entry = find_entry(name);
  const ptx_function& f = prog.functions[entry];
  auto usage = [&](const std::string& what) {
    throw kernel_fault(fault_kind::usage, f.demangled + ": " + what);
  };
  if (!grid.count() || !block.count()) usage("empty grid or block");
  if (block.count() > 1024) usage("more than 1024 threads in a block");
  if (f.reqntid[0] &&
      (block.x != f.reqntid[0] || block.y != f.reqntid[1] || block.z != f.reqntid[2]))
    usage(format("needs blocks of %u,%u,%u threads", f.reqntid[0], f.reqntid[1], f.reqntid[2]));
  if (f.maxntid[0] && block.count() > u64{f.maxntid[0]} * f.maxntid[1] * f.maxntid[2])
    usage(format("launch bounds: at most %u threads in a block",
                 f.maxntid[0] * f.maxntid[1] * f.maxntid[2]));
  if (args.size() != f.params.size())
    usage(format("has %zu parameters, %zu arguments given", f.params.size(), args.size()));
  const std::vector<u32> functions = reachable(entry);
  if (!opt.allow_unsupported)
    for (const std::string& u : unsupported(functions))
      throw kernel_fault(fault_kind::unsupported, f.demangled + ": " + u);

  struct restore_regions {  // the launch's own regions go when it ends, however it ends
    std::vector<memory_region>& r;
    std::size_t n;
    ~restore_regions() { r.resize(n); }
  } restore{regions, regions.size()};

  machine x(prog, regions, opt);
  x.entry = entry;
  x.grid = grid;
  x.block_dim = block;
  x.warps_per_block = u32((block.count() + warp_lanes - 1) / warp_lanes);

  // Arguments
  std::map<std::tuple<void*, std::size_t, bool>, u64> known;
  for (std::size_t k = 0; k < args.size(); ++k) {
    std::vector<u8> bytes;
    put(args[k], bytes, known, k);
    if (bytes.size() != f.params[k].size)
      usage(format("parameter %zu has %llu bytes, the argument %zu", k,
                   static_cast<unsigned long long>(f.params[k].size), bytes.size()));
    x.param_buffer.resize(f.params[k].offset);
    x.param_buffer.insert(x.param_buffer.end(), bytes.begin(), bytes.end());
  }
  x.param_buffer.resize(std::max<std::size_t>(x.param_buffer.size(), f.param_bytes));
  u64 grid_workspace = 0;  // where cooperative groups keep the barrier of the grid
  if (opt.cooperative) {
    memory_region r;
    r.size = 256;
    r.owned.reset(new u8[r.size]());
    r.host = r.owned.get();
    r.writable = true;
    r.name = "the grid's barrier";
    grid_workspace = region_base(u32(regions.size()));
    regions.push_back(std::move(r));
  }
  for (memory_region& r : regions) {
    for (auto& t : r.touched) {
      t.clear();
      if (opt.collect_stats && r.size) t.assign((r.size >> 11) + 1, 0);
    }
    if (opt.racecheck) r.race.reset(r.size);
  }

  // Frames of the functions that can be called
  for (ptx_function& g : prog.functions) g.reachable = false;
  bool recursion = false;
  for (u32 id : functions) {
    ptx_function& g = prog.functions[id];
    if (!g.has_body) continue;
    g.reachable = true;
    g.reg_base = x.reg_columns;
    g.pred_base = x.pred_count;
    g.param_base = x.param_area;
    x.reg_columns += g.regs;
    x.pred_count += g.preds;
    x.param_area += g.param_area;
    x.local_bytes += g.frame;
    recursion = recursion || (g.recursive && g.frame);
    x.st.registers_declared = std::max(x.st.registers_declared, g.declared32);
  }
  if (recursion) x.local_bytes += 16384;

  // Addresses and sizes known only now
  std::unordered_map<std::string, u64> shared_at;
  x.shared_static = shared_layout(functions, &shared_at);
  x.shared_size = x.shared_static + dynamic_shared;
  if (x.shared_size > 228 * 1024)
    usage(format("%llu bytes of shared memory in a block",
                 static_cast<unsigned long long>(x.shared_size)));
  const std::unordered_map<std::string, u64> sizes = {{"%ntid.x", block.x},
                                                      {"%ntid.y", block.y},
                                                      {"%ntid.z", block.z},
                                                      {"%nctaid.x", grid.x},
                                                      {"%nctaid.y", grid.y},
                                                      {"%nctaid.z", grid.z},
                                                      {"%nclusterid.x", grid.x},
                                                      {"%nclusterid.y", grid.y},
                                                      {"%nclusterid.z", grid.z},
                                                      {"%nwarpid", x.warps_per_block},
                                                      {"%envreg1", grid_workspace >> 32},
                                                      {"%envreg2", u32(grid_workspace)},
                                                      {"%dynamic_smem_size", dynamic_shared},
                                                      {"%total_smem_size", x.shared_size},
                                                      {"%aggr_smem_size", x.shared_size}};
  for (const launch_constant& c : prog.late) {
    u64 v = 0;
    auto s = sizes.find(c.name);
    if (s != sizes.end())
      v = s->second;
    else {
      const ptx_variable& var = prog.variables.at(c.name);
      if (var.space == space_shared) {
        auto at = shared_at.find(c.name);
        v = at == shared_at.end() ? 0 : at->second;
      } else
        v = var.address;
    }
    std::fill_n(&prog.consts[std::size_t(c.column) * warp_lanes], warp_lanes, v + u64(c.add));
  }

  const auto begin = std::chrono::steady_clock::now();
  x.run_all();
  launch_statistics st = std::move(x.st);
  st.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  st.blocks = grid.count();
  st.warps = st.blocks * x.warps_per_block;
  st.threads = st.blocks * block.count();
  st.shared_bytes = x.shared_size;
  for (const memory_region& r : regions)
    for (std::size_t k = 0; k < r.touched[0].size(); ++k)
      st.touched_bytes +=
          32 * u64(__builtin_popcountll(r.touched[access_read][k] | r.touched[access_write][k] |
                                        r.touched[access_atomic][k]));
  for (u32 c = 0; c < class_count; ++c) {
    st.warp_instructions += x.class_warp[c];
    st.lane_instructions += x.class_lane[c];
    if (x.class_warp[c]) st.by_class[class_names[c]] = {x.class_warp[c], x.class_lane[c]};
  }
  for (auto& r : x.race_reports)
    st.races.push_back(r.second.second + format("\n    (%llu times)",
                                                static_cast<unsigned long long>(r.second.first)));
  std::sort(st.races.begin(), st.races.end());
  return st;
}

}  // namespace octobloom::ptx
