// Prints how filters are sized, as many as the argument says, one a line: keys, blocks, k, and the
// bits of both rates.

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>

#include <octobloom/octobloom.h>

int main(int argc, char** argv) {
  const std::uint64_t count = argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t random = octobloom::hash_integer(i);
    // From 1 to 2^40 keys, evenly over their lengths in bits; rates from 0.4 to 1e-8 by the same
    // rule, divided exactly.
    const std::uint64_t keys = 1 + (random >> 24 >> random % 40);
    double rate = 0.4 - 0.2 * static_cast<double>(octobloom::hash_integer(random) >> 32) / 0x1p32;
    for (std::uint64_t half = 0; half < random / 64 % 25; ++half) rate /= 2;
    try {
      const octobloom::plan plan = octobloom::plan_for(keys, rate);
      std::cout << std::dec << keys << ' ' << plan.blocks << ' ' << plan.k << std::hex << ' '
                << std::bit_cast<std::uint64_t>(rate) << ' '
                << std::bit_cast<std::uint64_t>(plan.expected_fpr) << '\n';
    } catch (const octobloom::error&) {
      std::cout << std::dec << keys << " do not fit " << std::hex
                << std::bit_cast<std::uint64_t>(rate) << '\n';
    }
  }
}
