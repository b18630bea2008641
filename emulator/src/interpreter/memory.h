#pragma once

#include <memory>
#include <string>
#include <vector>

#include "interpreter/integers.h"

namespace octobloom::ptx {

// An address is (region << 36) + offset, so a lookup is a shift and a comparison, and between any
// two buffers lie gigabytes of nothing. Shared and local memory are one region each, backed by the
// running block and lane.

constexpr u32 region_shift = 36;
constexpr u64 offset_mask = (u64{1} << region_shift) - 1;
enum region_id : u32 {
  null_region,
  shared_region,
  local_region,
  param_region,
  function_region,
  first_region
};
inline u64 region_base(u32 id) {
  return u64{id} << region_shift;
}

// Racecheck's memory of one 4-byte granule: the last write and the last two reads by different
// threads.
struct access_record {
  u32 thread = 0;  // 1 + thread number; 0: none
  u32 block_epoch = 0, warp_epoch = 0;
  u32 pc = 0;
  u32 value = 0;  // what a plain store wrote
  u8 bytes = 0;   // which of the four
  bool strong = false;
  bool atomic = false;  // a read-modify-write
};
struct granule_record {
  access_record write, read[2];
};
class race_shadow {
 public:
  void reset(u64 bytes) {
    pages_.clear();
    pages_.resize((bytes >> page_shift) + 1);
  }
  granule_record& at(u64 granule) {
    auto& p = pages_[granule >> (page_shift - 2)];
    if (!p) p.reset(new granule_record[1u << (page_shift - 2)]());
    return p[granule & ((1u << (page_shift - 2)) - 1)];
  }

 private:
  static constexpr u32 page_shift = 12;
  std::vector<std::unique_ptr<granule_record[]>> pages_;
};

struct memory_region {
  u8* host = nullptr;
  u64 size = 0;
  bool writable = false;
  std::string name;
  std::unique_ptr<u8[]> owned;
  std::vector<u64> touched[3];  // bit per sector, per access kind
  race_shadow race;
};

}  // namespace octobloom::ptx
