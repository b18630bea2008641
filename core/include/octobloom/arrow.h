#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <octobloom/arrow_abi.h>
#include <octobloom/key_column.h>

/// Keys from Arrow arrays, and answers as Arrow arrays, by the C Data Interface.
namespace octobloom {

/// The keys of an Arrow array: every type whose values are keys (see column_type), sliced or not,
/// dictionaries too. A struct array, such as a record batch, is composite keys, its children the
/// columns. An array of type null is keys that are all null.
///
/// The array stays the caller's, who releases it; schema and array have to outlive this object.
class arrow_keys {
 public:
  /// Checks everything that can be checked without the sizes of buffers, which the interface does
  /// not tell: that it was not released, that format and buffers fit, that offsets ascend, that
  /// indices and views stay within what they index. Throws error{invalid_argument} that names the
  /// column, and the row or the format: intervals, nested types, run ends, and structs that have
  /// nulls are no keys. O(rows) of what indexes.
  arrow_keys(const ArrowSchema& schema, const ArrowArray& array);
  arrow_keys(const arrow_keys&) = delete;
  arrow_keys& operator=(const arrow_keys&) = delete;
  ~arrow_keys();

  [[nodiscard]] key_columns columns() const noexcept;
  [[nodiscard]] std::size_t rows() const noexcept;
  /// Of type null: the keys are of no family.
  [[nodiscard]] bool is_untyped() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Answers on their way to an Arrow array of booleans: for row_answers, then for export_to().
class arrow_answers {
 public:
  /// Room for `rows` answers.
  explicit arrow_answers(std::size_t rows);
  arrow_answers(arrow_answers&&) noexcept;
  arrow_answers& operator=(arrow_answers&&) noexcept;
  ~arrow_answers();

  [[nodiscard]] row_answers places() noexcept;

  /// Hands the answers over: `array` becomes an array of type boolean, null where no answer was,
  /// and `schema`, unless it is null, its type. What they held before is not released; the caller
  /// releases what they hold now. Leaves this object empty.
  void export_to(ArrowArray& array, ArrowSchema* schema) &&;

 private:
  struct memory;
  std::unique_ptr<memory> memory_;
};

}  // namespace octobloom
