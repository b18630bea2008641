#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <octobloom/detail/facts.h>
#include <octobloom/filter.h>

namespace octobloom::detail {

/// Several filters that answer together.
class joint_statistics {
 public:
  void add(const filter& part, reading how) {
    const filter_statistics s = read_statistics(part.view(), how);
    absent_ *= 1 - s.current_fpr;
    variance_ += s.fpr_error * s.fpr_error;
    const auto bytes = static_cast<double>(part.bytes());
    bytes_ += bytes;
    bits_set_ += s.fill * bytes;
    use_ = std::max(use_, use_of_plan(s, part.record()));
  }
  [[nodiscard]] filter_statistics result(std::uint64_t keys) const {
    filter_statistics all;
    all.fill = bytes_ > 0 ? bits_set_ / bytes_ : 0;
    all.estimated_keys = static_cast<double>(keys);
    all.current_fpr = 1 - absent_;
    all.fpr_error = std::sqrt(variance_);
    return all;
  }
  [[nodiscard]] plan_use use() const noexcept { return use_; }

 private:
  double absent_ = 1;  // the chance that a new key is in none
  double variance_ = 0;
  double bytes_ = 0;
  double bits_set_ = 0;  // as a share of the bytes
  plan_use use_ = plan_use::within;
};

}  // namespace octobloom::detail
