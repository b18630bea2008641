#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <octobloom/engine.h>

#include "options.h"

namespace octobloom::cli {

/// Whole lines on their way through the command: text, where each line starts, and what is asked
/// about each. Memory is reserved once and touched as needed, so that the largest number of lines,
/// all of them empty, costs 17 bytes of bookkeeping a byte of text, and usual lines very little.
class text_chunk {
 public:
  /// `capacity`: bytes of text that a chunk usually holds.
  explicit text_chunk(std::size_t capacity);

  /// Text: [data, data + size). The reader may write up to `capacity()` bytes, and one separator.
  [[nodiscard]] char* data() const noexcept { return text_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  void set_size(std::size_t size) noexcept { size_ = size; }

  /// Makes room for `capacity` bytes, for a line that is longer than a chunk.
  void grow(std::size_t capacity);
  /// Empties the chunk and gives back what it grew by.
  void reset();

  /// Finds the lines of the text and hashes them.
  void hash_lines(const line_options& options, const engine& e, std::uint64_t seed);

  [[nodiscard]] std::size_t lines() const noexcept { return lines_; }
  /// The hashes of the lines.
  [[nodiscard]] key_batch hashes() const noexcept {
    return key_batch::hashes({hashes_.get(), lines_}, key_family::strings);
  }
  /// One bit a line.
  [[nodiscard]] std::uint8_t* marks() const noexcept { return marks_.get(); }

  /// Keeps only the lines whose mark is `wanted`.
  void keep(bool wanted) noexcept;

  /// The text, or what keep() left of it.
  [[nodiscard]] std::string_view text() const noexcept { return {text_.get(), size_}; }

 private:
  struct free_memory {
    void operator()(char* memory) const noexcept { std::free(memory); }
  };
  void reallocate(std::size_t capacity);
  void split(char separator) noexcept;

  std::size_t usual_capacity_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::size_t lines_ = 0;
  std::unique_ptr<char, free_memory> text_;
  std::unique_ptr<std::uint64_t[]> offsets_;
  std::unique_ptr<std::uint64_t[]> hashes_;
  std::unique_ptr<std::uint8_t[]> marks_;
};

}  // namespace octobloom::cli
