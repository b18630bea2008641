#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <octobloom/file.h>
#include <octobloom/filter.h>

namespace octobloom::detail {

template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] std::span<const std::byte> bytes_of(const T& row) noexcept {
  return std::as_bytes(std::span(&row, 1));
}

[[nodiscard]] inline std::span<const std::byte> bytes_of(const const_filter_view& view) noexcept {
  return std::as_bytes(std::span(view.words(), view.shape().word_count()));
}

[[nodiscard]] inline std::span<std::byte> writable_bytes_of(const filter_view& view) noexcept {
  return std::as_writable_bytes(std::span(view.words(), view.shape().word_count()));
}

/// The table at the beginning of a body, read row by row and checked before anything of the size
/// that it tells is allocated.
class body_table {
 public:
  body_table(filter_reader& file, const load_options& options) : file_(file), options_(options) {}

  /// The next row; a row is whole 64 bytes.
  template <class Row>
  [[nodiscard]] Row read() {
    static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row) % 64 == 0);
    expect_bytes(sizeof(Row));
    require(bytes_ <= file_.header().body_bytes, "table", "is longer than the body");
    Row row;
    file_.read_piece(std::as_writable_bytes(std::span(&row, 1)), options_);
    return row;
  }

  void require(bool holds, const char* field, const std::string& otherwise) const {
    if (!holds)
      file_.refuse("the body's table is damaged: its " + std::string(field) + " " + otherwise);
  }
  void require(const char* field, std::uint64_t value, std::uint64_t first,
               std::uint64_t last) const {
    require(value >= first && value <= last, field,
            "is " + std::to_string(value) + ", expected " + std::to_string(first) +
                (first == last ? "" : " to " + std::to_string(last)));
  }
  void require_zero(std::span<const std::uint64_t> words) const {
    for (const std::uint64_t word : words) {
      require(word == 0, "reserved part", "is not zero: written by a newer octobloom?");
    }
  }

  /// Adds to what the body has to hold.
  void expect_bytes(std::uint64_t bytes) noexcept { bytes_ += bytes; }
  /// Requires that the body holds just what was expected.
  void require_whole() const {
    require(bytes_ == file_.header().body_bytes, "parts",
            "make " + std::to_string(bytes_) + " bytes, the body has " +
                std::to_string(file_.header().body_bytes));
  }

 private:
  filter_reader& file_;
  load_options options_;
  std::uint64_t bytes_ = 0;
};

/// A filter whose body is several plain filters behind the table that tells of them: `start`, and a
/// row for each.
template <class Start, class Row>
[[nodiscard]] encoded_filter encode_filters(const file_header& header, const Start& start,
                                            std::span<const Row> rows,
                                            std::span<const const_filter_view> filters) {
  encoded_filter result;
  result.header = header;
  for (const auto bytes : {bytes_of(start), std::as_bytes(rows)}) {
    result.table.insert(result.table.end(), bytes.begin(), bytes.end());
  }
  result.pieces.reserve(1 + filters.size());
  result.pieces.push_back(result.table);
  for (const const_filter_view& one : filters) result.pieces.push_back(bytes_of(one));
  return result;
}

/// Reads the next of these filters.
[[nodiscard]] inline filter read_filter(filter_reader& file, const load_options& options,
                                        const filter_record& record) {
  filter result(record);
  file.read_piece(writable_bytes_of(result.view()), options);
  return result;
}

}  // namespace octobloom::detail
