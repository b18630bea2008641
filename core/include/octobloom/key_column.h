#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include <octobloom/engine.h>
#include <octobloom/keys.h>

/// Columns of keys, as columnar formats and engines hold them, and the one place that turns them
/// into hashes by the rules of docs/format.md.
namespace octobloom {

/// How the keys of a column lie in memory. Logical types that are stored alike are keys alike:
///
/// | logical type                                      | column_type                       |
/// |---------------------------------------------------|-----------------------------------|
/// | date32, time32                                    | int32                             |
/// | date64, time64, timestamp, duration, of any unit  | int64                             |
/// | utf8, binary, JSON, ...                           | binary, large_binary, binary_view |
/// | UUID                                              | fixed_binary of width 16          |
///
/// A unit or a scale is not part of a key: 1 s and 1000 ms, 1.0 and 1.00 are two keys unless they
/// are converted first. Intervals and nested types (lists, structs, maps, unions) are no keys; the
/// fields of a struct can be the columns of a composite key.
enum class column_type : std::uint8_t {
  boolean,  ///< one bit a row, least significant first
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,  ///< binary16
  float32,
  float64,
  decimal32,  ///< decimals by their unscaled value, two's complement
  decimal64,
  decimal128,
  decimal256,
  binary,        ///< bytes; rows + 1 offsets of 32 bits, ascending
  large_binary,  ///< bytes; rows + 1 offsets of 64 bits, ascending
  binary_view,   ///< 16 bytes a row, as Arrow's views and DuckDB's strings: see binary_view_row
  fixed_binary,  ///< `width` bytes a row
  dictionary,    ///< an index a row into the column `dictionary`
};

/// A row of type binary_view.
struct binary_view_row {
  std::int32_t length;         ///< bytes, not negative
  char prefix[4];              ///< the first four; strings of up to 12 bytes go on in the rest
  std::int32_t buffer;         ///< of longer ones: which of key_column::buffers
  std::int32_t buffer_offset;  ///< where they begin in it
};
static_assert(sizeof(binary_view_row) == 16);

/// A view of one column. The caller keeps the memory alive and as it is while it is used. Numbers
/// are in the machine's byte order and need not be aligned.
struct key_column {
  column_type type = column_type::int64;
  std::size_t rows = 0;

  /// The rows' values, bits (boolean), views or indices; bytes of binary and large_binary.
  const void* values = nullptr;
  const void* offsets = nullptr;  ///< of binary and large_binary
  /// Where row 0 stands in `values`, or in `offsets` for binary and large_binary, in rows.
  std::size_t offset = 0;

  /// Bit validity_offset + i, least significant first: row i is not null. Null: no row is.
  const std::uint8_t* validity = nullptr;
  std::size_t validity_offset = 0;

  /// When not null, row i of this column is what would be row selection[i] without it.
  const std::uint32_t* selection = nullptr;

  std::uint32_t width = 0;                      ///< of fixed_binary, bytes; 0 is allowed
  const void* const* buffers = nullptr;         ///< of binary_view, for strings above 12 bytes
  std::size_t buffer_count = 0;                 ///< how many they are, and
  const std::int64_t* buffer_sizes = nullptr;   ///< their bytes; null: neither is known
  const key_column* dictionary = nullptr;       ///< of dictionary; its nulls are nulls here too
  column_type index_type = column_type::int32;  ///< of dictionary: an integer type
};

/// The columns of the keys: one column whose rows are the keys, or several of as many rows each,
/// whose rows together are composite keys. (One column can be a composite key as well; it is
/// another key then than the column alone, as the format says.)
class key_columns {
 public:
  key_columns(const key_column& column) noexcept  // NOLINT(google-explicit-constructor)
      : columns_(&column, 1) {}
  [[nodiscard]] static key_columns composite(std::span<const key_column> columns) noexcept {
    return {columns, true};
  }

  [[nodiscard]] std::span<const key_column> columns() const noexcept { return columns_; }
  [[nodiscard]] bool is_composite() const noexcept { return is_composite_; }
  [[nodiscard]] std::size_t rows() const noexcept {
    return columns_.empty() ? 0 : columns_.front().rows;
  }

 private:
  key_columns(std::span<const key_column> columns, bool is_composite) noexcept
      : columns_(columns), is_composite_(is_composite) {}

  std::span<const key_column> columns_;
  bool is_composite_ = false;
};

/// What the keys are, whatever they become on their way: those of a dictionary are what it holds.
[[nodiscard]] key_family family_of(const key_columns& keys) noexcept;

/// Checks columns from somebody who cannot be trusted with memory: that pointers are there, offsets
/// ascend from 0 on, lengths, indices and selections stay within what they index. (How long the
/// bytes of binary are, a column does not say, so there only order and signs can be checked, as of
/// views whose buffers have no sizes.)
/// Throws error{invalid_argument} that names the column and the row. O(rows) of what indexes.
void require_valid(const key_columns& keys);

/// A run of rows, made ready for engines.
struct key_piece {
  key_batch keys;             ///< see key_reader::read; its family is that of the columns
  const std::uint8_t* valid;  ///< bit i: row i of the piece is no null; null: none is
  std::size_t valid_rows;
};

enum class null_rows : std::uint8_t {
  keep,  ///< a key for each row; that of a null row means nothing
  drop,  ///< a key for each row that is no null, in order
};

/// Reads columns a piece at a time. Makes the hashes of a dictionary once, and keeps its memory
/// from piece to piece: nothing is allocated for a row. Not thread safe.
class key_reader {
 public:
  /// Rows of a piece that keeps its keys in the nearest caches.
  static constexpr std::size_t piece_rows = 4096;

  /// `seed` is that of the filter; `e` hashes what has to be hashed here, with `options`. Throws
  /// error{invalid_argument} for columns of different lengths, no column at all, or types that are
  /// nested in a dictionary more than once. `keys` has to outlive the reader.
  key_reader(const key_columns& keys, std::uint64_t seed, const engine& e,
             const bulk_options& options = {});
  key_reader(key_reader&&) noexcept;
  key_reader& operator=(key_reader&&) noexcept;
  ~key_reader();

  /// The rows that are best read at once: all, where they can be used as they lie; otherwise as
  /// many as stay in the caches, or more for a filter of `bytes` that does not stay there itself.
  [[nodiscard]] std::size_t rows_at_once(std::uint64_t bytes) const noexcept;

  /// Rows first to first + count - 1. What comes back is of this object or of the columns, until
  /// the next call. O(count).
  [[nodiscard]] key_piece read(std::size_t first, std::size_t count, null_rows nulls);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Where the answers about rows go: bit i mod 8 of byte i / 8 is row i, least significant first,
/// the bits behind the last row zero; bitmap_bytes(rows) bytes each. Null: not wanted.
struct row_answers {
  std::uint8_t* bitmap = nullptr;  ///< what was asked; 0 for null rows
  std::uint8_t* valid = nullptr;   ///< whether there is an answer: the row is no null
};

/// Writes the hash of every row under `seed` to `hashes`, keys.rows() of them, and its validity to
/// the bitmap `valid` (bitmap_bytes(keys.rows()) bytes, its tail zero; may be null). The hash of a
/// null row means nothing. Returns how many rows are no nulls. Composite keys have no nulls. Say
/// family_of(keys) with the hashes when they become a batch.
std::uint64_t hash_rows(const key_columns& keys, std::uint64_t seed, std::uint64_t* hashes,
                        std::uint8_t* valid, const bulk_options& options = {});

namespace detail {

/// What a filter does with a batch: engine-like answers into the bitmap, and their number.
using batch_call =
    std::function<std::uint64_t(const key_batch&, std::uint8_t* bitmap, const bulk_options&)>;

/// Hands the rows to `ask` in pieces, null rows among them when `nulls` says so, and their answers
/// to `out`. Returns the number of rows that are no nulls and were answered with 1. `bytes` is the
/// size of the filter. Throws error{wrong_key} when the filter takes ready hashes only.
std::uint64_t answer_rows(const key_columns& keys, std::uint64_t seed, key_hashing hashing,
                          std::uint64_t bytes, null_rows nulls, const row_answers& out,
                          const bulk_options& options, const batch_call& ask);

}  // namespace detail

}  // namespace octobloom
