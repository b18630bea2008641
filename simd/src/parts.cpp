#include "parts.h"

#include <algorithm>

namespace octobloom::simd {

part_pages::part_pages(scratch& memory, std::size_t keys, std::size_t parts, unsigned shift)
    : pages_(memory.take<std::uint64_t>(capacity(keys, parts))),
      lines_(memory.take<std::uint64_t>(parts * part_writer::line_hashes)),
      cursors_(parts),
      next_page_(keys / page_hashes + parts),
      shift_(shift) {
  clear();
}

void part_pages::clear() noexcept {
  for (std::size_t part = 0; part < cursors_.size(); ++part) cursors_[part] = first(part);
  pages_used_ = static_cast<std::uint32_t>(cursors_.size());
}

part_writer part_pages::writer() noexcept {
  return {.pages = pages_.data(),
          .lines = lines_.data(),
          .cursors = cursors_.data(),
          .next_page = next_page_.data(),
          .pages_used = &pages_used_,
          .shift = shift_};
}

void part_pages::finish() noexcept {
  for (std::size_t part = 0; part < cursors_.size(); ++part) {
    const std::uint32_t count = cursors_[part] % part_writer::line_hashes;
    std::copy_n(lines_.begin() + static_cast<std::ptrdiff_t>(part * part_writer::line_hashes),
                count, pages_.begin() + (cursors_[part] - count));
  }
}

}  // namespace octobloom::simd
