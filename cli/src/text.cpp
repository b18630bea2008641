#include "text.h"

#include <algorithm>
#include <cstring>
#include <new>

#include <octobloom/hash.h>

namespace octobloom::cli {

text_chunk::text_chunk(std::size_t capacity)
    : usual_capacity_(capacity),
      offsets_(std::make_unique_for_overwrite<std::uint64_t[]>(capacity + 2)),
      hashes_(std::make_unique_for_overwrite<std::uint64_t[]>(capacity + 2)),
      marks_(std::make_unique_for_overwrite<std::uint8_t[]>(bitmap_bytes(capacity + 2))) {
  reallocate(capacity);
}

void text_chunk::reallocate(std::size_t capacity) {
  // realloc moves large blocks by remapping their pages: nothing is copied, nothing twice there.
  auto* text = static_cast<char*>(std::realloc(text_.get(), capacity + 1));
  if (text == nullptr) throw std::bad_alloc();
  (void)text_.release();
  text_.reset(text);
  capacity_ = capacity;
}

void text_chunk::grow(std::size_t capacity) {
  reallocate(capacity);
}

void text_chunk::reset() {
  size_ = 0;
  lines_ = 0;
  if (capacity_ > usual_capacity_) reallocate(usual_capacity_);
}

void text_chunk::split(char separator) noexcept {
  const char* begin = text_.get();
  const char* end = begin + size_;
  lines_ = 0;
  for (const char* at = begin; at < end;) {
    offsets_[lines_++] = static_cast<std::uint64_t>(at - begin);
    at = static_cast<const char*>(std::memchr(at, separator, static_cast<std::size_t>(end - at))) +
         1;
  }
  offsets_[lines_] = size_;
}

void text_chunk::hash_lines(const line_options& options, const engine& e, std::uint64_t seed) {
  split(options.separator());
  const string_keys keys{text_.get(), offsets_.get(), lines_, 1};
  if (!options.crlf) {
    e.hash(key_batch::strings(keys), seed, hashes_.get(), {});
    return;
  }
  for (std::size_t i = 0; i < lines_; ++i) {
    std::string_view line = keys[i];
    if (line.ends_with('\r')) line.remove_suffix(1);
    hashes_[i] = key_hash(line, seed);
  }
}

void text_chunk::keep(bool wanted) noexcept {
  char* out = text_.get();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < lines_;) {
    if (bitmap_get(marks_.get(), i) != wanted) {
      ++i;
      continue;
    }
    const std::size_t first = i;
    while (i < lines_ && bitmap_get(marks_.get(), i) == wanted) ++i;
    const std::size_t bytes = offsets_[i] - offsets_[first];
    std::memmove(out + kept, out + offsets_[first], bytes);
    kept += bytes;
  }
  size_ = kept;
}

}  // namespace octobloom::cli
