#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <octobloom/cuckoo_filter.h>
#include <octobloom/engine.h>

namespace octobloom::test {

/// Blocks without the cost of a filter's pages: there are hundreds of thousands of them here.
class block_array {
 public:
  explicit block_array(const filter_shape& shape) : shape_(shape), blocks_(shape.blocks) {}
  [[nodiscard]] filter_view view() { return {blocks_.front().words.data(), shape_}; }
  bool operator==(const block_array&) const = default;

 private:
  struct alignas(rot8::bytes_per_block) block {
    std::array<std::uint64_t, rot8::words_per_block> words{};
    bool operator==(const block&) const = default;
  };
  filter_shape shape_;
  std::vector<block> blocks_;
};

/// All that a bulk operation may leave behind.
struct answers {
  block_array blocks;
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint8_t> bitmap;
  std::uint64_t count = 0;
  bool operator==(const answers&) const = default;
};

enum class bulk_operation { insert, may_contain, insert_new, hash };

inline answers perform(const engine& engine, bulk_operation operation, const block_array& start,
                       const key_batch& keys, bool with_bitmap, const bulk_options& options = {}) {
  answers result{.blocks = start, .hashes = {}, .bitmap = {}};
  const filter_view view = result.blocks.view();
  // 0xA5: every byte has to be written, and none beyond.
  result.bitmap.assign(with_bitmap ? bitmap_bytes(keys.size()) + 1 : 0, 0xA5);
  std::uint8_t* bitmap = with_bitmap ? result.bitmap.data() : nullptr;
  switch (operation) {
    case bulk_operation::insert:
      engine.insert(view, keys, options);
      break;
    case bulk_operation::may_contain:
      result.count = engine.may_contain(view, keys, bitmap, options);
      break;
    case bulk_operation::insert_new:
      result.count = engine.insert_new(view, keys, bitmap, options);
      break;
    case bulk_operation::hash:
      result.hashes.resize(keys.size());
      engine.hash(keys, view.seed(), result.hashes.data(), options);
      break;
  }
  return result;
}

/// Inserts each key once: a cuckoo filter holds few copies of one.
inline void insert_set(cuckoo_filter& filter, const key_batch& keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    (void)filter.insert_new_hash(keys.hash(i, filter.seed()));
  }
}

/// The same for a cuckoo filter, which engines only read.
inline answers perform(const engine& engine, const cuckoo_view& view, const key_batch& keys,
                       bool with_bitmap, const bulk_options& options = {}) {
  answers result{.blocks = block_array({}), .hashes = {}, .bitmap = {}};
  result.bitmap.assign(with_bitmap ? bitmap_bytes(keys.size()) + 1 : 0, 0xA5);
  result.count =
      engine.cuckoo_may_contain(view, keys, with_bitmap ? result.bitmap.data() : nullptr, options);
  return result;
}

}  // namespace octobloom::test
