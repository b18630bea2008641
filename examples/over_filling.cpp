// What happens to a filter that meets fifty times the keys that it was planned for, and how it
// tells.
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <vector>

#include <octobloom/octobloom.h>

int main() {
  constexpr std::uint64_t planned = 100'000;
  octobloom::filter filter = octobloom::filter::with_fpr(planned, 0.01);
  std::vector<std::uint64_t> strangers(100'000);
  std::iota(strangers.begin(), strangers.end(), std::uint64_t{1} << 40);

  std::cout << "keys inserted   bits set   measured rate   estimated rate   verdict\n";
  std::uint64_t inserted = 0;
  for (const std::uint64_t target : {100'000u, 200'000u, 500'000u, 1'000'000u, 5'000'000u}) {
    std::vector<std::uint64_t> keys(target - inserted);
    std::iota(keys.begin(), keys.end(), inserted);
    filter.insert(keys);
    inserted = target;
    const double measured = static_cast<double>(filter.count_contained(strangers)) /
                            static_cast<double>(strangers.size());
    std::cout << std::fixed << std::setprecision(3) << std::setw(13) << inserted << std::setw(11)
              << filter.fill_ratio() << std::setw(16) << measured << std::setw(17)
              << filter.current_fpr() << "   " << to_string(filter.verdict()) << "\n";
  }
}
