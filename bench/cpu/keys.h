#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <octobloom/keys.h>

namespace octobloom::bench {

enum class key_type : std::uint8_t { integers, strings };

/// Keys 0 to n - 1 are a filter's members; from `absent` on nobody is. The same in every run.
inline constexpr std::uint64_t absent = std::uint64_t{1} << 48;

/// A set of keys made from their numbers: 64-bit integers, or strings of 24 characters.
class key_set {
 public:
  key_set(key_type type, const std::vector<std::uint64_t>& numbers);

  [[nodiscard]] key_batch batch() const;
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] const std::vector<std::uint64_t>& integers() const noexcept { return integers_; }

 private:
  key_type type_;
  std::size_t count_;
  std::vector<std::uint64_t> integers_;
  std::string bytes_;
  std::vector<std::uint64_t> offsets_;
};

/// Numbers first to first + count - 1.
[[nodiscard]] std::vector<std::uint64_t> numbers_from(std::uint64_t first, std::size_t count);

/// `count` numbers, of which `hit_percent` are drawn from the members 0 to members - 1.
[[nodiscard]] std::vector<std::uint64_t> mixed_numbers(std::size_t count, std::uint64_t members,
                                                       unsigned hit_percent);

}  // namespace octobloom::bench
