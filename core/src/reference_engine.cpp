#include <cstring>

#include <octobloom/engine.h>

namespace octobloom {

namespace {

/// Runs `test` on the hash of every key in order and collects its answers.
template <class Test>
std::uint64_t collect(const key_batch& keys, std::uint64_t seed, std::uint8_t* bitmap, Test test) {
  if (bitmap != nullptr) std::memset(bitmap, 0, bitmap_bytes(keys.size()));
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool answer = test(keys.hash(i, seed));
    count += answer ? 1 : 0;
    if (bitmap != nullptr && answer) {
      bitmap[i / 8] = static_cast<std::uint8_t>(bitmap[i / 8] | 1u << (i % 8));
    }
  }
  return count;
}

std::string why_unavailable() {
  return {};
}

void insert(const filter_view& view, const key_batch& keys, const bulk_options&) {
  for (std::size_t i = 0; i < keys.size(); ++i) view.insert_hash(keys.hash(i, view.seed()));
}

std::uint64_t may_contain(const const_filter_view& view, const key_batch& keys,
                          std::uint8_t* bitmap, const bulk_options&) {
  return collect(keys, view.seed(), bitmap,
                 [&](std::uint64_t hash) { return view.may_contain_hash(hash); });
}

std::uint64_t insert_new(const filter_view& view, const key_batch& keys, std::uint8_t* bitmap,
                         const bulk_options&) {
  return collect(keys, view.seed(), bitmap,
                 [&](std::uint64_t hash) { return view.insert_new_hash(hash); });
}

std::uint64_t cuckoo_may_contain(const cuckoo_view& view, const key_batch& keys,
                                 std::uint8_t* bitmap, const bulk_options&) {
  return collect(keys, view.seed(), bitmap,
                 [&](std::uint64_t hash) { return view.may_contain_hash(hash); });
}

void hash(const key_batch& keys, std::uint64_t seed, std::uint64_t* hashes, const bulk_options&) {
  for (std::size_t i = 0; i < keys.size(); ++i) hashes[i] = keys.hash(i, seed);
}

}  // namespace

const engine& reference_engine() noexcept {
  static constexpr engine reference{.name = "reference",
                                    .automatic = true,
                                    .why_unavailable = why_unavailable,
                                    .open = nullptr,
                                    .insert = insert,
                                    .may_contain = may_contain,
                                    .insert_new = insert_new,
                                    .cuckoo_may_contain = cuckoo_may_contain,
                                    .hash = hash};
  return reference;
}

}  // namespace octobloom
