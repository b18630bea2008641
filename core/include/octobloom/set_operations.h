#pragma once

#include <cstdint>
#include <optional>

#include <octobloom/filter.h>

/// Filters as sets. Whatever takes two of them throws error{mismatch} when their block counts, k,
/// seeds or hashes differ, and changes nothing then. Thread safe for const arguments.
namespace octobloom {

/// A number of distinct keys, estimated from bits.
struct size_estimate {
  double keys = 0;  ///< at least 0
  /// The standard deviation of `keys` around the true number, over seeds. Keys that were given to
  /// both filters and differences of nearly equal sets are told apart by few bits: look at this
  /// before `keys`.
  double standard_error = 0;
};

struct set_estimates {
  size_estimate a;
  size_estimate b;
  size_estimate in_either;  ///< the union
  size_estimate in_both;    ///< the intersection, by inclusion and exclusion: a + b - union
  size_estimate only_in_a;  ///< the difference: union - b
  size_estimate only_in_b;
};

/// Estimates from the bits of both filters and of their union. Empty when one of these has every
/// bit set. O(blocks).
[[nodiscard]] std::optional<set_estimates> estimate_sets(const const_filter_view& a,
                                                         const const_filter_view& b);
/// The same from the numbers of bits set. The shape is that of all three.
[[nodiscard]] std::optional<set_estimates> estimate_sets(std::uint64_t bits_of_a,
                                                         std::uint64_t bits_of_b,
                                                         std::uint64_t bits_of_union,
                                                         const filter_shape& shape);

/// The filter of the keys of both: what it would be had every key been inserted into it. Plan and
/// target rate are those of `a`; filter::merge does this in place.
[[nodiscard]] filter union_of(const filter& a, const filter& b);

/// The bits that both have. This is NOT the filter of the intersection: it contains every key that
/// is in both, but more strangers than a filter of those keys would, up to as many as `a` or `b`
/// does. Its inserted_keys() is the estimated size of the intersection, rounded.
[[nodiscard]] filter common_bits(const filter& a, const filter& b);

/// The same keys in a filter `divisor` times smaller, for filters that were planned too large: bit
/// for bit the filter that had been built with blocks() / divisor blocks. Its rate is higher: see
/// expected_fpr() first. Throws error{invalid_argument} unless `divisor` divides the blocks.
[[nodiscard]] filter fold(const filter& source, std::uint32_t divisor);

template <class A, class B>
[[nodiscard]] std::optional<set_estimates> estimate_sets(const filter_queries<A>& a,
                                                         const filter_queries<B>& b) {
  return estimate_sets(const_filter_view(static_cast<const A&>(a).view()),
                       const_filter_view(static_cast<const B&>(b).view()));
}

}  // namespace octobloom
