// Conflicting accesses that nothing orders.

#include "interpreter/machine.h"

#include <algorithm>
#include <cstring>

#include "interpreter/text.h"

namespace octobloom::ptx {

bool machine::ordered(const access_record& t, u32 thread) const {
  if (t.thread == 0 || t.thread == thread) return true;
  const u32 warp = (thread - 1) / warp_lanes, other = (t.thread - 1) / warp_lanes;
  if (warp / warps_per_block != other / warps_per_block) return false;
  if (t.block_epoch != blk->epoch) return true;
  return warp == other && t.warp_epoch != w->epoch;
}

void machine::race_report(const access_record& before, bool before_writes, bool now_writes,
                          u64 addr, u32 lane) {
  const u64 id = u64{before.pc} << 32 | (u64{pc} << 2) | (u64{before_writes} << 1) | now_writes;
  auto& slot = race_reports[id];
  if (slot.first++) return;
  const u32 t = before.thread - 1, tw = t / warp_lanes;
  slot.second =
      format("%s after %s of %s\n    block %llu thread %u (linear) at %s\n    %s at %s",
             now_writes ? "write" : "read", before_writes ? "write" : "read",
             region_text(addr).c_str(), static_cast<unsigned long long>(tw / warps_per_block),
             (tw % warps_per_block) * warp_lanes + t % warp_lanes,
             prog.where(prog.code[before.pc]).c_str(), thread_name(lane).c_str(),
             prog.where(prog.code[pc]).c_str());
}

void machine::check_races(const instruction& i, u32 m, const u64* a, u64 imm, u32 size,
                          state_space space, access_kind acc, lane_bytes bytes_of_lane,
                          void* value) {
  if (space == space_local || space == space_const) return;
  for (u32 r = m; r; r &= r - 1) {
    const u32 l = u32(__builtin_ctz(r));
    u64 addr = a[l] + imm;
    race_shadow* shadow;
    const u8* now;
    if (space == space_shared) addr = region_base(shared_region) + u32(addr);
    const u64 id = addr >> region_shift, off = addr & offset_mask;
    if (id == shared_region) {
      shadow = &blk->race;
      now = blk->shared.data() + off;
    } else if (id >= first_region) {
      shadow = &regions[id].race;
      now = regions[id].host + off;
    } else
      continue;
    const u32 thread = thread_number(l);
    const u8* fresh = bytes_of_lane(value, l);
    const bool strong = acc == access_atomic || i.strong;
    for (u64 g = off >> 2; g <= (off + size - 1) >> 2; ++g) {
      const u64 from = std::max(off, g * 4), to = std::min(off + size, g * 4 + 4);
      const u8 bytes = u8(((1u << (to - from)) - 1) << (from - g * 4));
      granule_record& gran = shadow->at(g);
      auto conflict = [&](const access_record& t, bool t_writes) {
        if (!(t.bytes & bytes) || ordered(t, thread)) return false;
        if (t.strong && strong) return false;
        // A plain read that may see an atomic's effect or not: only in strict mode.
        if (!opt.race_strict && ((acc == access_read && t_writes && t.strong) ||
                                 (acc != access_read && strong && !t_writes)))
          return false;
        return true;
      };
      access_record me;
      me.thread = thread;
      me.block_epoch = blk->epoch;
      me.warp_epoch = w->epoch;
      me.pc = pc;
      me.bytes = bytes;
      me.strong = strong;
      if (acc == access_read) {
        if (conflict(gran.write, true)) race_report(gran.write, true, false, addr, l);
        access_record* rd = gran.read;
        if (rd[0].thread == thread || rd[0].thread == 0)
          rd[0] = me;
        else {
          if (rd[1].thread != thread) rd[1] = rd[0];
          rd[0] = me;
        }
        continue;
      }
      // Storing what is there already, or what the other thread stores too, hurts nobody.
      const bool silent =
          fresh && std::memcmp(fresh + (from - off), now + (from - off), to - from) == 0;
      if (fresh)
        std::memcpy(reinterpret_cast<u8*>(&me.value) + (from - g * 4), fresh + (from - off),
                    to - from);
      const access_record& before = gran.write;
      const bool same = fresh && acc == access_write && before.bytes == bytes &&
                        before.value == me.value && !before.atomic;
      if (!same && conflict(before, true)) race_report(before, true, true, addr, l);
      for (const access_record& t : gran.read)
        if (!silent && conflict(t, false)) {
          race_report(t, false, true, addr, l);
          break;
        }
      me.atomic = acc == access_atomic;
      gran.write = me;
    }
  }
}

}  // namespace octobloom::ptx
