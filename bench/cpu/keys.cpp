#include "keys.h"

#include <numeric>
#include <span>
#include <string_view>

namespace octobloom::bench {

namespace {

/// A bijection that leaves no pattern (the finaliser of splitmix64).
std::uint64_t scramble(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

void append_text(std::string& out, std::uint64_t value) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += "user-";
  for (unsigned shift = 0; shift < 64; shift += 4) out += digits[value >> shift & 15];
  out += "@ex";
}

}  // namespace

key_set::key_set(key_type type, const std::vector<std::uint64_t>& numbers)
    : type_(type), count_(numbers.size()) {
  if (type == key_type::integers) {
    integers_.reserve(count_);
    for (const std::uint64_t number : numbers) integers_.push_back(scramble(number));
    return;
  }
  offsets_.reserve(count_ + 1);
  bytes_.reserve(count_ * 24);
  offsets_.push_back(0);
  for (const std::uint64_t number : numbers) {
    append_text(bytes_, scramble(number));
    offsets_.push_back(bytes_.size());
  }
}

key_batch key_set::batch() const {
  if (type_ == key_type::integers) {
    return key_batch::integers(std::span<const std::uint64_t>(integers_));
  }
  return key_batch::strings({bytes_.data(), offsets_.data(), count_});
}

std::vector<std::uint64_t> numbers_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

std::vector<std::uint64_t> mixed_numbers(std::size_t count, std::uint64_t members,
                                         unsigned hit_percent) {
  std::vector<std::uint64_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t random = scramble(~i);
    numbers[i] = random % 100 < hit_percent ? scramble(random) % members : absent + i;
  }
  return numbers;
}

}  // namespace octobloom::bench
