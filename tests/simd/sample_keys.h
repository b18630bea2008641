#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <octobloom/keys.h>

namespace octobloom::test {

/// Numbers without a pattern, the same in every run.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    // splitmix64
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t n) { return (*this)() % n; }

 private:
  std::uint64_t state_;
};

/// Owns keys of one kind, and shows any run of them at a chosen alignment.
class sample_keys {
 public:
  /// Key i is made from identities[i]: equal identities are equal keys.
  sample_keys(key_kind kind, const std::vector<std::uint64_t>& identities, std::size_t misalignment,
              std::uint64_t separator = 0)
      : kind_(kind), count_(identities.size()), skip_(misalignment), separator_(separator) {
    if (kind == key_kind::strings) {
      bytes_.assign(misalignment, '#');
      offsets_.push_back(misalignment);
      for (const std::uint64_t identity : identities) {
        append_text(identity);
        bytes_.append(separator, '\n');
        offsets_.push_back(bytes_.size());
      }
      bytes_.shrink_to_fit();
    } else {
      values_.resize(misalignment);
      for (const std::uint64_t identity : identities) {
        values_.push_back(random_numbers(identity)());
      }
    }
  }

  [[nodiscard]] key_batch batch() const {
    switch (kind_) {
      case key_kind::integers:
        return key_batch::integers(std::span<const std::uint64_t>(values_).subspan(skip_));
      case key_kind::hashes:
        return key_batch::hashes(std::span<const std::uint64_t>(values_).subspan(skip_));
      case key_kind::strings:
        break;
    }
    return key_batch::strings({bytes_.data(), offsets_.data(), count_, separator_});
  }

 private:
  /// Lengths of every class that XXH64 treats apart: empty, 1 to 3, 4 to 7, whole words, 32 and
  /// more.
  void append_text(std::uint64_t identity) {
    random_numbers random(identity);
    std::uint64_t length = random.below(40);
    if (random.below(16) == 0) length = random.below(300);
    for (std::uint64_t i = 0; i < length; ++i) {
      bytes_.push_back(static_cast<char>(random.below(256)));
    }
  }

  key_kind kind_;
  std::size_t count_;
  std::size_t skip_;
  std::uint64_t separator_;
  std::vector<std::uint64_t> values_;
  std::string bytes_;
  std::vector<std::uint64_t> offsets_;
};

}  // namespace octobloom::test
