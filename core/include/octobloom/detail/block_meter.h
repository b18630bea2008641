#pragma once

#include <cstdint>

#include <octobloom/statistics.h>

namespace octobloom::detail {

/// Takes in blocks of a filter, all or some, one after the other.
class block_meter {
 public:
  explicit block_meter(const filter_shape& shape) noexcept : shape_(shape) {}

  /// The eight words of a block.
  void add(const std::uint64_t* words) noexcept;

  /// At least one block has been added. Of some blocks only: what they say of the whole filter.
  [[nodiscard]] filter_statistics result() const noexcept;

 private:
  filter_shape shape_;
  std::uint64_t blocks_ = 0;
  std::uint64_t bits_ = 0;
  double rates_ = 0;    // their sum
  double squares_ = 0;  // the sum of their squares
};

}  // namespace octobloom::detail
