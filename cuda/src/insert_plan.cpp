#include <octobloom/gpu/insert_plan.h>

#include <algorithm>
#include <bit>

namespace octobloom::gpu {

namespace {

/// Top bits of the hash that split `amount` into parts of at most `part`; at least 1.
unsigned bits_for(std::uint64_t amount, std::uint64_t part) noexcept {
  const std::uint64_t parts = (amount + part - 1) / part;
  return static_cast<unsigned>(std::bit_width(parts > 1 ? parts - 1 : 1));
}

unsigned passes(unsigned bits) noexcept {
  return (bits + 7) / 8;
}

}  // namespace

insert_plan plan_insert(const filter_shape& shape, std::uint64_t keys, std::uint64_t l2_bytes,
                        insert_method wish) noexcept {
  // Two blocks fewer: a range of hashes may begin and end in the middle of a block.
  const insert_plan shared{insert_method::shared_slices,
                           bits_for(shape.blocks, shared_slice_blocks - 2)};
  const insert_plan l2{insert_method::l2_slices,
                       bits_for(shape.bytes(), std::max<std::uint64_t>(l2_bytes / 2, 1u << 20))};
  switch (wish) {
    case insert_method::direct:
      return {};
    case insert_method::l2_slices:
      return l2;
    case insert_method::shared_slices:
      return shared;
    case insert_method::automatic:
      break;
  }
  if (shape.bytes() <= l2_bytes || keys < shape.blocks / 2) return {};
  return passes(shared.bits) <= passes(l2.bits) ? shared : l2;
}

}  // namespace octobloom::gpu
