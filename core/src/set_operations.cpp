#include <octobloom/set_operations.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <octobloom/detail/popcount.h>

#include "zero_bits.h"

namespace octobloom {

namespace {

constexpr unsigned words = rot8::words_per_block;

void require_one_shape(const filter_shape& a, const filter_shape& b) {
  const std::string mismatch = describe_mismatch(a, b);
  if (mismatch.empty()) return;
  throw error(
      error_code::mismatch,
      "sets can be compared only when their filters have one shape; these differ: " + mismatch);
}

}  // namespace

std::optional<set_estimates> estimate_sets(std::uint64_t bits_of_a, std::uint64_t bits_of_b,
                                           std::uint64_t bits_of_union, const filter_shape& shape) {
  const auto a = estimate_keys(bits_of_a, shape);
  const auto b = estimate_keys(bits_of_b, shape);
  const auto either = estimate_keys(bits_of_union, shape);
  if (!a || !b || !either) return std::nullopt;

  const detail::zero_bits model(shape);
  const std::array<double, 3> keys{*a, *b, *either};
  const double both = std::clamp(*a + *b - *either, 0.0, std::min(*a, *b));
  const double common[3][3] = {{*a, both, *a}, {both, *b, *b}, {*a, *b, *either}};
  /// Of `weights[0] a + weights[1] b + weights[2] union`.
  const auto combine = [&](const std::array<double, 3>& weights) {
    size_estimate result;
    double variance = 0;
    for (unsigned i = 0; i < 3; ++i) {
      result.keys += weights[i] * keys[i];
      for (unsigned j = 0; j < 3; ++j) {
        variance += weights[i] * weights[j] * model.slope(keys[i]) * model.slope(keys[j]) *
                    model.covariance(keys[i], keys[j], common[i][j]);
      }
    }
    result.keys = std::max(result.keys, 0.0);
    result.standard_error = std::sqrt(std::max(variance, 0.0));
    return result;
  };
  return set_estimates{combine({1, 0, 0}),  combine({0, 1, 0}),  combine({0, 0, 1}),
                       combine({1, 1, -1}), combine({0, -1, 1}), combine({-1, 0, 1})};
}

std::optional<set_estimates> estimate_sets(const const_filter_view& a, const const_filter_view& b) {
  require_one_shape(a.shape(), b.shape());
  std::uint64_t bits_of_union = 0;
  for (std::uint64_t i = 0; i < a.shape().word_count(); ++i) {
    bits_of_union += detail::popcount(a.words()[i] | b.words()[i]);
  }
  return estimate_sets(popcount_of(a), popcount_of(b), bits_of_union, a.shape());
}

filter union_of(const filter& a, const filter& b) {
  require_one_shape(a.view().shape(), b.view().shape());
  filter result = a.copy();
  result.merge(b);
  return result;
}

filter common_bits(const filter& a, const filter& b) {
  const auto sizes = estimate_sets(a, b);
  filter result = a.copy();
  const bool known = a.families() != 0 && b.families() != 0;
  const auto both = static_cast<key_families>(known ? a.families() | b.families() : 0);
  std::uint64_t* words_of_result = result.view().words();
  for (std::uint64_t i = 0; i < a.view().shape().word_count(); ++i) {
    words_of_result[i] &= b.view().words()[i];
  }
  result.count_removed(result.inserted_keys());
  const double keys = sizes ? sizes->in_both.keys
                            : static_cast<double>(std::min(a.inserted_keys(), b.inserted_keys()));
  result.count_inserted(static_cast<std::uint64_t>(std::round(keys)));
  // One key may have come to them as two families: as a string, and as its hash.
  result.set_families(both);
  return result;
}

filter fold(const filter& source, std::uint32_t divisor) {
  if (divisor == 0 || source.blocks() % divisor != 0) {
    throw error(error_code::invalid_argument,
                "a filter of " + std::to_string(source.blocks()) + " blocks cannot be folded by " +
                    std::to_string(divisor) + ": use a divisor of its blocks");
  }
  filter_record smaller = source.record();
  smaller.shape.blocks /= divisor;
  filter result(smaller);
  // A key of block b, of all blocks, has block b / divisor of the fewer: both are roundings down of
  // the same fraction.
  const std::uint64_t* from = source.view().words();
  std::uint64_t* to = result.view().words();
  for (std::uint32_t block = 0; block < result.blocks(); ++block, to += words) {
    for (std::uint32_t i = 0; i < divisor; ++i) {
      for (unsigned w = 0; w < words; ++w) to[w] |= *from++;
    }
  }
  result.set_families(source.families());
  return result;
}

}  // namespace octobloom
