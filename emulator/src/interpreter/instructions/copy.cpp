// Asynchronous copies, which are done at once, and the mbarriers that wait for them.

#include "interpreter/decoder.h"
#include "interpreter/lanes.h"
#include "interpreter/operations.h"
#include "interpreter/text.h"

namespace octobloom::ptx {

namespace {

// cp.async: done at once. a, imm: shared destination; b, e-offset in v[0]: global source; size; c:
// source size.
void h_cp_async(machine& x, const instruction& i, u32 m) {
  instruction load = i, store = i;
  load.a = i.b;
  load.imm = s64(s32(i.target));
  load.space = space_global;
  load.access = access_read;
  store.space = space_shared;
  store.access = access_write;
  const u64* n = i.opt ? x.src(i.c) : nullptr;
  u8 data[warp_lanes][16] = {};
  for_each_lane(m, [&](u32 l) {
    const u32 bytes = n ? std::min<u32>(u32(n[l]), i.size) : i.size;
    if (!bytes) return;
    const u8* p = x.host_address(load, l, x.src(load.a)[l] + u64(load.imm), i.size, space_generic,
                                 access_read);
    std::memcpy(data[l], p, bytes);
  });
  x.account_access(load, m, x.src(load.a), u64(load.imm), i.size, space_generic, access_read);
  x.account_access(store, m, x.src(store.a), u64(store.imm), i.size, space_shared, access_write);
  if (x.opt.racecheck) {
    x.racecheck(load, m, x.src(load.a), u64(load.imm), i.size, space_generic, access_read,
                [](u32) { return static_cast<const u8*>(nullptr); });
    x.racecheck(store, m, x.src(store.a), u64(store.imm), i.size, space_shared, access_write,
                [&](u32 l) { return static_cast<const u8*>(data[l]); });
  }
  x.resolve(store, m);
  for_each_lane(m, [&](u32 l) { std::memcpy(x.ptr[l], data[l], i.size); });
}

// Bulk copies: done at once, too. a, imm: destination; b, target: source; c: bytes; e, v[0]:
// mbarrier. opt: 1 into shared memory, 2 into global memory.
void mbarrier_complete(machine& x, const instruction& i, u32 lane, u64 address, s64 bytes);
void h_bulk_copy(machine& x, const instruction& i, u32 m) {
  const bool to_shared = i.opt == 1;
  const state_space from_space = to_shared ? space_global : space_shared,
                    to_space = to_shared ? space_shared : space_global;
  for_each_lane(m, [&](u32 l) {
    const u64 to = x.src(i.a)[l] + u64(i.imm), from = x.src(i.b)[l] + u64(s64(s32(i.target)));
    const u32 bytes = u32(x.src(i.c)[l]);
    if (bytes % 16)
      x.fault(fault_kind::misaligned, i, int(l),
              format("bulk copy of %u bytes, no multiple of 16", bytes));
    u64 src_at[warp_lanes], dst_at[warp_lanes];
    for (u32 done = 0; done < bytes;) {  // in pieces of 16 bytes, 32 at a time for the statistics
      u32 n = 0;
      for (; n < warp_lanes && done < bytes; ++n, done += 16) {
        src_at[n] = from + done;
        dst_at[n] = to + done;
        std::memcpy(x.host_address(i, l, dst_at[n], 16, to_space, access_write),
                    x.host_address(i, l, src_at[n], 16, from_space, access_read), 16);
        if (to_shared && x.opt.check_init)
          std::fill_n(&x.blk->shared_init[u32(dst_at[n])], 16, u8{1});
      }
      const u32 pieces = n == warp_lanes ? all_lanes : (1u << n) - 1;
      x.account_access(i, pieces, src_at, 0, 16, from_space, access_read);
      x.account_access(i, pieces, dst_at, 0, 16, to_space, access_write);
    }
    if (to_shared) mbarrier_complete(x, i, l, x.src(i.e)[l] + i.v[0], s64(bytes));
  });
}

// mbarrier: a 64-bit word in shared memory, laid out in a way of our own.
struct mbarrier_word {
  u64 pending : 20, expected : 20, phase : 1;
  u64 tx : 23;  // bytes awaited, modulo 2^23
  void await(u64 bytes) { tx = (tx + bytes) & 0x7fffff; }
  void settle(machine& x) {
    if (pending || tx) return;
    phase ^= 1;
    pending = expected;
    x.blk->epoch++;  // orders shared accesses, as far as racecheck is concerned
  }
};
static_assert(sizeof(mbarrier_word) == 8, "an mbarrier is 64 bits");
void mbarrier_complete(machine& x, const instruction& i, u32 lane, u64 address, s64 bytes) {
  u8* p = x.host_address(i, lane, address, 8, space_shared, access_atomic);
  mbarrier_word b;
  std::memcpy(&b, p, 8);
  b.await(0 - u64(bytes));
  b.settle(x);
  std::memcpy(p, &b, 8);
}
enum mbarrier_operation : u8 {
  mbarrier_init,
  mbarrier_inval,
  mbarrier_arrive,
  mbarrier_drop,
  mbarrier_expect_tx,
  mbarrier_complete_tx,
  mbarrier_arrive_expect_tx,
  mbarrier_test,
  mbarrier_test_parity
};
void h_mbarrier(machine& x, const instruction& i, u32 m) {  // b: count, bytes, state or parity
  x.resolve(i, m);
  u64 operand[warp_lanes];
  std::memcpy(operand, x.src(i.b), sizeof operand);
  u64* d = x.dst(i.d);
  u32 passed = 0;
  for_each_lane(m, [&](u32 l) {
    mbarrier_word b, given;
    std::memcpy(&b, x.ptr[l], 8);
    const u64 n = operand[l];
    std::memcpy(&given, &n, 8);
    const u64 before = value_of<u64>(bits_of(b));
    switch (mbarrier_operation(i.opt)) {
      case mbarrier_init:
        b = mbarrier_word();
        b.pending = b.expected = n & 0xfffff;
        b.phase = 0;
        b.tx = 0;
        break;
      case mbarrier_inval:
        b = mbarrier_word();
        break;
      case mbarrier_arrive_expect_tx:
        b.await(u32(n));
        [[fallthrough]];
      case mbarrier_arrive:
      case mbarrier_drop: {
        const u64 count = i.opt == mbarrier_arrive ? n & 0xfffff : 1;
        if (count > b.pending)
          x.fault(fault_kind::sync, i, int(l),
                  format("mbarrier arrival of %llu, only %llu pending",
                         static_cast<unsigned long long>(count),
                         static_cast<unsigned long long>(b.pending)));
        if (i.opt == mbarrier_drop) b.expected = (b.expected - 1u) & 0xfffff;
        b.pending = (b.pending - count) & 0xfffff;
        b.settle(x);
        break;
      }
      case mbarrier_expect_tx:
        b.await(u32(n));
        break;
      case mbarrier_complete_tx:
        b.await(0 - u64(u32(n)));
        b.settle(x);
        break;
      case mbarrier_test:
        passed |= u32(b.phase != given.phase) << l;
        break;
      case mbarrier_test_parity:
        passed |= u32(b.phase != (n & 1)) << l;
        break;
    }
    std::memcpy(x.ptr[l], &b, 8);
    d[l] = before;
  });
  if (i.opt == mbarrier_test || i.opt == mbarrier_test_parity) {
    x.set_pred(i.pd, passed, m);
    if (passed != m) x.switch_requested = true;  // others have to arrive first
  }
}

void decode_bulk(decoder& d) {
  d.in.cls = class_other;
  if (d.has("commit_group") || d.has("wait_group") || d.has("prefetch")) {
    std::fill(d.used.begin(), d.used.end(), true);
    d.need(h_nop);
    return;
  }
  d.in.opt = d.has("mbarrier::complete_tx::bytes") ? 1 : d.has("bulk_group") ? 2 : 0;
  if (!d.in.opt) throw unsupported_instruction{"kind of bulk copy"};
  d.ignore({"global", "shared::cta", "shared::cluster"});
  cache_modifiers(d);
  if (d.in.opt == 1) {
    d.address(3);
    d.in.e = d.in.a;
    d.in.v[0] = u32(d.in.imm);
  }
  d.address(1);
  d.in.b = d.in.a;
  d.in.target = u32(d.in.imm);
  d.address(0);
  d.in.c = d.source(2, U32);
  d.in.kind = runs_on_memory;
  d.in.space = no_space;
  d.in.access = access_atomic;
  d.need(h_bulk_copy);
}
void decode_mbarrier(decoder& d) {
  d.in.space = d.space_modifier();
  cache_modifiers(d);
  d.in.cls = class_atom_shared;
  d.in.kind = runs_on_memory;
  d.in.access = access_atomic;
  d.in.size = 8;
  d.in.b = d.prog.constant(1);
  auto with_state = [&](mbarrier_operation op) {  // [state,] [address] [, operand]
    d.in.opt = op;
    const std::size_t at = d.operand(0).kind == ptx_operand::mem_operand ? 0 : 1;
    if (at) {
      d.in.d = d.dest(0);
      d.in.dmask = ~u64{0};
    }
    d.address(at);
    if (d.ops.size() > at + 1) d.in.b = d.source(at + 1, U32);
  };
  if (d.has("init")) {
    d.in.access = access_write;
    with_state(mbarrier_init);
  } else if (d.has("inval"))
    with_state(mbarrier_inval);
  else if (d.has("arrive"))
    with_state(d.has("expect_tx") ? mbarrier_arrive_expect_tx : mbarrier_arrive);
  else if (d.has("arrive_drop")) {
    if (d.ops.size() > 2) throw unsupported_instruction{"arrive_drop with a count"};
    with_state(mbarrier_drop);
  } else if (d.has("expect_tx"))
    with_state(mbarrier_expect_tx);
  else if (d.has("complete_tx"))
    with_state(mbarrier_complete_tx);
  else if (d.has("test_wait") || d.has("try_wait")) {
    d.in.opt = d.has("parity") ? mbarrier_test_parity : mbarrier_test;
    d.in.pd = d.pdest(d.operand(0));
    d.address(1);
    d.in.b = d.source(2, d.in.opt == mbarrier_test ? B64 : U32);
  } else
    throw unsupported_instruction{"mbarrier operation"};
  d.need(h_mbarrier);
}
void decode_cp(decoder& d) {
  if (!d.has("async")) throw unsupported_instruction{"cp"};
  if (d.has("bulk")) {
    decode_bulk(d);
    return;
  }
  d.in.cls = class_other;
  if (d.has("commit_group") || d.has("wait_group") || d.has("wait_all")) {
    d.need(h_nop);
    return;
  }  // copies are done at once
  d.has("global");
  d.has("shared");
  d.has("shared::cta");
  d.has("shared::cluster");
  cache_modifiers(d);
  d.address(1);
  d.in.b = d.in.a;
  d.in.target = u32(d.in.imm);
  d.address(0);
  if (d.operand(2).kind != ptx_operand::immediate_operand)
    throw unsupported_instruction{"copy size"};
  d.in.size = u8(d.operand(2).bits);
  if (d.ops.size() > 3 && d.operand(3).kind != ptx_operand::predicate_operand) {
    d.in.opt = 1;
    d.in.c = d.source(3, U32);
  }
  d.in.kind = runs_on_memory;
  d.in.space = no_space;
  d.need(h_cp_async);
}

}  // namespace

void add_copies(decode_rows& rows) {
  rows.insert({
      {"cp", decode_cp},
      {"mbarrier", decode_mbarrier},
  });
}

}  // namespace octobloom::ptx
