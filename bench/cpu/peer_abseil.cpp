#include <absl/container/flat_hash_set.h>

#include "contenders.h"

namespace octobloom::bench {

namespace {

class abseil_set : public structure {
 public:
  explicit abseil_set(std::uint64_t keys) { set_.reserve(keys); }
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
  [[nodiscard]] std::uint64_t bytes() const override {
    return set_.capacity() * (sizeof(std::uint64_t) + 1);
  }

 private:
  absl::flat_hash_set<std::uint64_t> set_;
};

}  // namespace

std::unique_ptr<structure> make_abseil(std::uint64_t keys, std::uint64_t) {
  return std::make_unique<abseil_set>(keys);
}

}  // namespace octobloom::bench
