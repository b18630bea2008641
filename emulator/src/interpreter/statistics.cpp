// What a launch asked of memory.

#include "interpreter/machine.h"

#include <algorithm>
#include <sstream>

namespace octobloom::ptx {

void machine::account_access(const instruction&, u32 m, const u64* a, u64 imm, u32 size,
                             state_space space, access_kind acc) {
  u32 global = 0, shared = 0, local = 0;
  if (space == space_global || space == space_const)
    global = m;
  else if (space == space_shared)
    shared = m;
  else if (space == space_local)
    local = m;
  else
    for (u32 r = m; r; r &= r - 1) {
      const u32 l = u32(__builtin_ctz(r));
      const u64 id = (a[l] + imm) >> region_shift;
      (id == shared_region ? shared : id == local_region ? local : global) |= 1u << l;
    }
  if (local) (acc == access_read ? st.local_loads : st.local_stores)++;
  if (shared) {
    (acc == access_read    ? st.shared_loads
     : acc == access_write ? st.shared_stores
                           : st.shared_atomics)++;
    if (opt.collect_stats) count_bank_conflicts(shared, a, imm, size);
  }
  if (global && space != space_const) {
    memory_statistics& s = acc == access_read    ? st.global_load
                           : acc == access_write ? st.global_store
                                                 : st.global_atomic;
    s.instructions++;
    s.lanes += u32(__builtin_popcount(global));
    s.bytes += u64(size) * u32(__builtin_popcount(global));
    if (opt.collect_stats) count_sectors(global, a, imm, s, acc);
  }
}

void machine::count_sectors(u32 m, const u64* a, u64 imm, memory_statistics& s, access_kind acc) {
  // Distinct 32-byte sectors and 128-byte lines; a lane's access lies within one sector.
  u64 seen[64], lines[64];
  u64 used = 0, used_lines = 0;
  u64 last = ~u64{0};
  for (u32 r = m; r; r &= r - 1) {
    const u64 sector = (a[__builtin_ctz(r)] + imm) >> 5;
    if (sector == last) continue;
    last = sector;
    u32 h = u32((sector * 0x9E3779B97F4A7C15ull) >> 58);
    while ((used >> h & 1) && seen[h] != sector) h = (h + 1) & 63;
    if (used >> h & 1) continue;
    used |= u64{1} << h;
    seen[h] = sector;
    s.sectors++;
    const u64 id = sector >> (region_shift - 5), off = sector & (offset_mask >> 5);
    if (id < regions.size() && off < regions[id].touched[acc].size() * 64) {
      u64& bits = regions[id].touched[acc][off >> 6];
      const u64 bit = u64{1} << (off & 63);
      if (!(bits & bit)) {
        bits |= bit;
        s.unique_sectors++;
      }
    }
    const u64 line = sector >> 2;
    h = u32((line * 0x9E3779B97F4A7C15ull) >> 58);
    while ((used_lines >> h & 1) && lines[h] != line) h = (h + 1) & 63;
    if (used_lines >> h & 1) continue;
    used_lines |= u64{1} << h;
    lines[h] = line;
    s.lines++;
  }
}

void machine::count_bank_conflicts(u32 m, const u64* a, u64 imm, u32 size) {
  // 8- and 16-byte accesses are served half a warp and a quarter warp at a time.
  const u32 lanes_at_once = size <= 4 ? 32 : size == 8 ? 16 : 8;
  for (u32 first = 0; first < warp_lanes; first += lanes_at_once) {
    const u32 part = m & (lanes_at_once == 32 ? all_lanes : ((1u << lanes_at_once) - 1) << first);
    if (!part) continue;
    u32 words[warp_lanes * 4];
    u32 n = 0;
    u8 per_bank[32] = {};
    u32 worst = 1;
    for (u32 r = part; r; r &= r - 1) {
      const u32 word = u32((a[__builtin_ctz(r)] + imm) & offset_mask) >> 2;
      for (u32 k = 0; k < std::max(1u, size / 4); ++k) {
        bool known = false;
        for (u32 j = 0; j < n && !known; ++j) known = words[j] == word + k;
        if (known) continue;
        words[n++] = word + k;
        worst = std::max<u32>(worst, ++per_bank[(word + k) & 31]);
      }
    }
    st.shared_wavefronts += worst;
    st.shared_bank_conflicts += worst - 1;
  }
}

std::string launch_statistics::json() const {
  std::ostringstream o;
  const char* sep = "";
  auto put = [&](const char* k, u64 v) {
    o << sep << "\n  \"" << k << "\": " << v;
    sep = ",";
  };
  o << "{";
  put("blocks", blocks);
  put("warps", warps);
  put("threads", threads);
  put("warp_instructions", warp_instructions);
  put("lane_instructions", lane_instructions);
  o << ",\n  \"classes\": {";
  sep = "";
  for (auto& c : by_class) {
    o << sep << "\n    \"" << c.first << "\": {\"warp\": " << c.second[0]
      << ", \"lane\": " << c.second[1] << "}";
    sep = ",";
  }
  o << "\n  }";
  sep = ",";
  put("branches", branches);
  put("divergent_branches", divergent_branches);
  auto memory = [&](const char* k, const memory_statistics& m) {
    o << ",\n  \"" << k << "\": {\"instructions\": " << m.instructions << ", \"lanes\": " << m.lanes
      << ", \"bytes_requested\": " << m.bytes << ", \"sectors\": " << m.sectors
      << ", \"lines\": " << m.lines << ", \"sector_bytes\": " << m.sectors * 32
      << ", \"unique_sectors\": " << m.unique_sectors
      << ", \"ideal_dram_bytes\": " << m.unique_sectors * 32 << "}";
  };
  memory("global_load", global_load);
  memory("global_store", global_store);
  memory("global_atomic", global_atomic);
  put("global_touched_bytes", touched_bytes);
  put("shared_loads", shared_loads);
  put("shared_stores", shared_stores);
  put("shared_atomics", shared_atomics);
  put("shared_wavefronts", shared_wavefronts);
  put("shared_bank_conflicts", shared_bank_conflicts);
  put("local_loads", local_loads);
  put("local_stores", local_stores);
  put("barriers", barriers);
  put("registers_declared", registers_declared);
  put("shared_bytes_per_block", shared_bytes);
  put("exited_in_mask", exited_in_mask);
  put("exited_at_barrier", exited_at_barrier);
  put("printf_calls", printf_calls);
  put("races", races.size());
  o << ",\n  \"seconds\": " << seconds;
  o << ",\n  \"lane_instructions_per_second\": "
    << (seconds > 0 ? double(lane_instructions) / seconds : 0) << "\n}\n";
  return o.str();
}

}  // namespace octobloom::ptx
