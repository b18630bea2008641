#pragma once

#include <memory>

#include "contenders.h"

namespace octobloom::bench {

/// A set that keeps its keys and is never wrong. `Set` has the interface of std::unordered_set of
/// 64-bit integers.
template <class Set>
class exact_set : public structure {
 public:
  using bytes_function = std::uint64_t (*)(const Set&);
  exact_set(std::uint64_t keys, bytes_function bytes_of) : bytes_of_(bytes_of) {
    set_.reserve(keys);
  }

  void insert(const key_set& keys, unsigned) override {
    for (const std::uint64_t key : keys.integers()) set_.insert(key);
  }
  std::uint64_t may_contain(const key_set& keys, std::uint8_t* bitmap, unsigned) override {
    bitmap_writer answers(bitmap);
    for (const std::uint64_t key : keys.integers()) answers.push(set_.contains(key));
    return answers.finish();
  }
  std::uint64_t insert_new(const key_set& keys, std::uint8_t* bitmap, unsigned) override {
    bitmap_writer answers(bitmap);
    for (const std::uint64_t key : keys.integers()) answers.push(set_.insert(key).second);
    return answers.finish();
  }
  [[nodiscard]] std::uint64_t bytes() const override { return bytes_of_(set_); }

 private:
  Set set_;
  bytes_function bytes_of_;
};

}  // namespace octobloom::bench
