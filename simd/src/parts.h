#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scratch.h"

namespace octobloom::simd {

/// What a kernel needs to append hashes to parts: see part_pages. Trivial, so that it can be used
/// in code of any target.
struct part_writer {
  static constexpr std::uint32_t page_hashes = 512;
  static constexpr std::uint32_t line_hashes = 32;  ///< that go to `pages` together

  std::uint64_t* pages;
  std::uint64_t* lines;      ///< a part's last hashes, until there are line_hashes
  std::uint32_t* cursors;    ///< a part's next hash, counted from the start of `pages`
  std::uint32_t* next_page;  ///< of a page that is full
  std::uint32_t* pages_used;
  unsigned shift;  ///< part = block >> shift

  /// A new page for the part that has just filled one.
  void add_page(std::size_t part) const noexcept {
    next_page[cursors[part] / page_hashes - 1] = *pages_used;
    cursors[part] = (*pages_used)++ * page_hashes;
  }
};

/// Hashes of a run of keys, split by ranges of blocks into parts, each part in input order. A part
/// is a chain of pages, so that any skew fits: n hashes take n / 512 + parts pages at most.
class part_pages {
 public:
  static constexpr std::uint32_t page_hashes = part_writer::page_hashes;

  /// Room for `keys` hashes, in scratch_bytes() of `memory`. Throws std::bad_alloc.
  part_pages(scratch& memory, std::size_t keys, std::size_t parts, unsigned shift);

  [[nodiscard]] static constexpr std::size_t capacity(std::size_t keys,
                                                      std::size_t parts) noexcept {
    return (keys / page_hashes + parts) * page_hashes;
  }
  [[nodiscard]] static constexpr std::uint64_t scratch_bytes(std::size_t keys,
                                                             std::size_t parts) noexcept {
    return scratch::bytes_for<std::uint64_t>(capacity(keys, parts)) +
           scratch::bytes_for<std::uint64_t>(parts * part_writer::line_hashes);
  }

  /// Forgets the hashes. Page p becomes the first one of part p.
  void clear() noexcept;

  [[nodiscard]] part_writer writer() noexcept;
  /// Puts the lines that are not full where they belong.
  void finish() noexcept;

  /// Where a part begins: the number of its first hash.
  [[nodiscard]] static std::uint32_t first(std::size_t part) noexcept {
    return static_cast<std::uint32_t>(part) * page_hashes;
  }
  /// The number of the hash after number `at` in the same part.
  [[nodiscard]] std::uint32_t after(std::uint32_t at) const noexcept {
    return (at + 1) % page_hashes != 0 ? at + 1 : next_page_[at / page_hashes] * page_hashes;
  }

  /// Calls visit(number of the first hash, hashes) for the pages of a part, in order.
  template <class Visit>
  void for_each_page(std::size_t part, const Visit& visit) const {
    const std::uint32_t last = cursors_[part] / page_hashes;
    for (auto page = static_cast<std::uint32_t>(part);; page = next_page_[page]) {
      const std::uint32_t count = page == last ? cursors_[part] % page_hashes : page_hashes;
      const std::uint32_t at = page * page_hashes;
      if (page != last) prefetch_start(next_page_[page]);
      if (count > 0) visit(at, std::span<const std::uint64_t>(pages_.data() + at, count));
      if (page == last) return;
    }
  }

 private:
  /// The first lines of a page; then the processor sees the pattern.
  void prefetch_start(std::uint32_t page) const noexcept {
    const std::uint64_t* start = pages_.data() + page * page_hashes;
    for (std::uint32_t i = 0; i < 64; i += 8) __builtin_prefetch(start + i);
  }

  std::span<std::uint64_t> pages_;
  std::span<std::uint64_t> lines_;
  std::vector<std::uint32_t> cursors_;
  std::vector<std::uint32_t> next_page_;
  std::uint32_t pages_used_ = 0;
  unsigned shift_;
};

}  // namespace octobloom::simd
