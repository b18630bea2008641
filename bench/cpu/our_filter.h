#pragma once

#include <memory>

#include <octobloom/octobloom.h>
#include <octobloom/simd_engine.h>

#include "contenders.h"

namespace octobloom::bench {

/// A filter, and whether its members are in it.
struct filled_filter {
  explicit filled_filter(const plan& sized) : bits(sized) {}
  filter bits;
  bool filled = false;
};

/// Our filter on one engine. Contenders that live at the same time and have one size and k share
/// one filter, so that it is filled once.
class our_filter : public structure {
 public:
  our_filter(const engine& code, const plan& sized);

  void fill(const key_set& keys) override {
    simd_engine().insert(view(), keys.batch(), {.threads = 0});
    shared_->filled = true;
  }
  [[nodiscard]] bool filled() const override { return shared_->filled; }
  void insert(const key_set& keys, unsigned threads) override {
    code_.insert(view(), keys.batch(), {.threads = threads});
  }
  std::uint64_t may_contain(const key_set& keys, std::uint8_t* bitmap, unsigned threads) override {
    return code_.may_contain(view(), keys.batch(), bitmap, {.threads = threads});
  }
  std::uint64_t insert_new(const key_set& keys, std::uint8_t* bitmap, unsigned threads) override {
    return code_.insert_new(view(), keys.batch(), bitmap, {.threads = threads});
  }
  [[nodiscard]] std::uint64_t bytes() const override { return shared_->bits.bytes(); }

 protected:
  [[nodiscard]] filter_view view() { return shared_->bits.view(); }

 private:
  const engine& code_;
  std::shared_ptr<filled_filter> shared_;
};

/// With the k that is best for its size.
inline plan best_plan(std::uint64_t keys, std::uint64_t bytes) {
  return plan_with_memory(bytes, keys);
}
/// With k = 8, one bit in each word: the shape of split-block filters.
inline plan plan_k8(std::uint64_t /*keys*/, std::uint64_t bytes) {
  return plan_with_bits(bytes * 8, 8);
}

}  // namespace octobloom::bench
