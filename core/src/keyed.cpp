#include <octobloom/detail/keyed.h>

#include <octobloom/error.h>

namespace octobloom::detail {

void refuse_keys() {
  throw error(error_code::wrong_key,
              "this filter holds the caller's own hashes: give it 64-bit hashes, not keys");
}

void require_bitmap(std::span<const std::uint8_t> bitmap, std::size_t keys) {
  if (bitmap.size() < bitmap_bytes(keys)) {
    throw error(error_code::invalid_argument,
                "the bitmap is too short: it needs one bit a key, in whole bytes");
  }
}

}  // namespace octobloom::detail
