// Addresses of the kernel and what lies behind them: bounds, alignment, what was never written.

#include "interpreter/machine.h"

#include <algorithm>

#include "interpreter/text.h"

namespace octobloom::ptx {

std::string machine::thread_name(u32 lane) const {
  const u64* s = w->special.data();
  return format("block (%u,%u,%u) thread (%u,%u,%u)", blk->x, blk->y, blk->z,
                u32(s[column_tid_x * warp_lanes + lane]), u32(s[column_tid_y * warp_lanes + lane]),
                u32(s[column_tid_z * warp_lanes + lane]));
}

void machine::fault(fault_kind kind, const instruction& i, int lane,
                    const std::string& what) const {
  std::string out =
      std::string(name_of(kind)) + ": " + what + "\n  kernel " + prog.functions[entry].demangled;
  if (lane >= 0)
    out += "\n  " + thread_name(u32(lane)) + format(" (warp %u lane %d)", w->index, lane);
  else
    out += format("\n  block (%u,%u,%u) warp %u", blk->x, blk->y, blk->z, w->index);
  out += "\n  at " + prog.where(i);
  throw kernel_fault(kind, out);
}

std::string machine::region_text(u64 addr) const {
  const u64 id = addr >> region_shift, off = addr & offset_mask;
  if (id == null_region) return "no buffer (near null)";
  if (id == shared_region)
    return format("shared memory of %llu bytes, offset %lld",
                  static_cast<unsigned long long>(shared_size), static_cast<long long>(off));
  if (id == local_region)
    return format("local memory of %u bytes, offset %lld", local_bytes,
                  static_cast<long long>(off));
  for (u64 r : {id, id + 1}) {  // just before a region counts as that region
    if (r < regions.size() && r >= first_region) {
      const s64 d = s64(addr) - s64(region_base(u32(r)));
      if (r == id || d > -(1 << 20))
        return format("%s of %llu bytes, offset %lld", regions[r].name.c_str(),
                      static_cast<unsigned long long>(regions[r].size), static_cast<long long>(d));
    }
  }
  return "no buffer";
}

void machine::bad_address(const instruction& i, u32 lane, u64 addr, u32 size,
                          access_kind acc) const {
  const char* verb = acc == access_read ? "read" : acc == access_write ? "write" : "atomic";
  const u64 id = addr >> region_shift;
  if (id < regions.size() && id >= first_region &&
      (addr & offset_mask) + size <= regions[id].size && acc != access_read &&
      !regions[id].writable)
    fault(
        fault_kind::read_only, i, int(lane),
        format("%u-byte %s at ", size, verb) + hex(addr) + " into read-only " + region_text(addr));
  if (addr % size != 0)
    fault(fault_kind::misaligned, i, int(lane),
          format("%u-byte %s at ", size, verb) + hex(addr) + " (" + region_text(addr) + ")");
  fault(fault_kind::out_of_bounds, i, int(lane),
        format("%u-byte %s at ", size, verb) + hex(addr) + " (" + region_text(addr) + ")");
}

u8* machine::host_address(const instruction& i, u32 lane, u64 addr, u32 size, state_space space,
                          access_kind acc) {
  switch (space) {
    case space_shared: {
      addr = u32(addr);
      if (addr + size > shared_size || addr % size)
        bad_address(i, lane, region_base(shared_region) + addr, size, acc);
      return blk->shared.data() + addr;
    }
    case space_local: {
      addr = u32(addr);
      if (addr + size > local_bytes || addr % size)
        bad_address(i, lane, region_base(local_region) + addr, size, acc);
      return w->local.data() + std::size_t(lane) * local_bytes + addr;
    }
    default: {
      const u64 id = addr >> region_shift, off = addr & offset_mask;
      if (id < first_region) {
        if (space == space_generic && id == shared_region)
          return host_address(i, lane, off, size, space_shared, acc);
        if (space == space_generic && id == local_region)
          return host_address(i, lane, off, size, space_local, acc);
        if (id == param_region && acc == access_read && off + size <= param_buffer.size() &&
            addr % size == 0)
          return param_buffer.data() + off;
        bad_address(i, lane, addr, size, acc);
      }
      if (id >= regions.size() || off + size > regions[id].size || addr % size ||
          (acc != access_read && !regions[id].writable))
        bad_address(i, lane, addr, size, acc);
      return regions[id].host + off;
    }
  }
}

void machine::resolve(const instruction& i, u32 m) {
  const u64* a = src(i.a);
  const u32 size = i.size;
  if (i.space == space_global && i.access == access_read) {  // the hot case, inline
    for (u32 r = m; r; r &= r - 1) {
      const u32 l = u32(__builtin_ctz(r));
      const u64 addr = a[l] + u64(i.imm), id = addr >> region_shift, off = addr & offset_mask;
      if (id < first_region || id >= regions.size() || off + size > regions[id].size ||
          (addr & (size - 1)))
        ptr[l] = host_address(i, l, addr, size, space_global, access_read);
      else
        ptr[l] = regions[id].host + off;
    }
  } else {
    for (u32 r = m; r; r &= r - 1) {
      const u32 l = u32(__builtin_ctz(r));
      ptr[l] = host_address(i, l, a[l] + u64(i.imm), size, i.space, i.access);
    }
  }
  if (opt.check_init && i.access != access_write) check_initialised(i, m);
  if (opt.check_init && i.access != access_read) mark_initialised(i, m);
}

bool machine::shared_offset(const instruction& i, u64 addr, u32& off) const {
  if (i.space == space_shared) {
    off = u32(addr);
    return true;
  }
  if (i.space == space_generic && addr >> region_shift == shared_region) {
    off = u32(addr & offset_mask);
    return true;
  }
  return false;
}

void machine::check_initialised(const instruction& i, u32 m) {
  const u64* a = src(i.a);
  for (u32 r = m; r; r &= r - 1) {
    const u32 l = u32(__builtin_ctz(r));
    u32 off;
    if (!shared_offset(i, a[l] + u64(i.imm), off)) continue;
    for (u32 k = 0; k < i.size; ++k)
      if (!blk->shared_init[off + k])
        fault(fault_kind::uninitialised, i, int(l),
              format("reads shared memory at offset %u that nothing has written", off + k));
  }
}

void machine::mark_initialised(const instruction& i, u32 m) {
  const u64* a = src(i.a);
  for (u32 r = m; r; r &= r - 1) {
    const u32 l = u32(__builtin_ctz(r));
    u32 off;
    if (shared_offset(i, a[l] + u64(i.imm), off))
      std::fill_n(&blk->shared_init[off], i.size, u8{1});
  }
}

}  // namespace octobloom::ptx
