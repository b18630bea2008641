// A million keys in a growing filter that started with room for a thousand: its levels, their
// memory, and the rate that is kept, beside a plain filter of the right size.
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <vector>

#include <octobloom/octobloom.h>

namespace {

std::vector<std::uint64_t> numbers(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  std::iota(keys.begin(), keys.end(), first);
  return keys;
}

}  // namespace

int main() {
  constexpr std::size_t keys = 1'000'000;
  constexpr std::size_t strangers = 10'000'000;
  constexpr double target = 0.01;
  octobloom::growing_filter grown(1000, target);
  grown.insert(numbers(0, keys));

  std::cout << "level     keys    planned     bytes   k   target rate\n";
  int number = 0;
  for (const octobloom::filter& level : grown.levels()) {
    std::cout << std::setw(5) << ++number << std::setw(9) << level.inserted_keys() << std::setw(11)
              << level.planned_keys() << std::setw(10) << level.bytes() << std::setw(4) << level.k()
              << std::setw(14) << std::setprecision(3) << level.target_fpr() << '\n';
  }

  const auto found = static_cast<double>(
      grown.count_contained(numbers(std::uint64_t{1} << 40, strangers), {.threads = 0}));
  const double measured = found / static_cast<double>(strangers);
  const octobloom::plan plain = octobloom::plan_for(keys, target);
  std::cout << "rate      " << measured << " of " << strangers << " strangers, expected "
            << grown.expected_fpr() << ", allowed " << target << '\n'
            << "bytes     " << grown.bytes() << ", a plain filter for " << keys << " keys has "
            << plain.bytes() << '\n';
  return measured <= target && grown.count_contained(numbers(0, keys)) == keys ? 0 : 1;
}
