#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <octobloom/detail/open_filters.h>
#include <octobloom/engine.h>

namespace octobloom::detail {

/// Keys per chunk of the loops below: their hashes stay in the caches, and a chunk is long enough
/// for an engine to share it out among threads.
inline constexpr std::size_t chunk_keys = std::size_t{1} << 16;

/// The keys of one chunk that no filter so far has answered for: each filter in turn is asked only
/// about the rest. Keeps its memory from chunk to chunk.
class candidates {
 public:
  /// Starts with all of `keys`, which stand at `first` and on in their chunk.
  void start(const key_batch& keys, std::uint64_t seed, const bulk_options& options,
             std::size_t first = 0) {
    hashes_.resize(keys.size());
    origins_.resize(keys.size());
    if (keys.size() > 0) engine_of(options).hash(keys, seed, hashes_.data(), options);
    std::iota(origins_.begin(), origins_.end(), static_cast<std::uint32_t>(first));
  }

  void clear() noexcept {
    hashes_.clear();
    origins_.clear();
  }

  [[nodiscard]] std::size_t size() const noexcept { return hashes_.size(); }
  [[nodiscard]] std::uint64_t hash(std::size_t i) const noexcept { return hashes_[i]; }
  [[nodiscard]] key_batch hashes() const noexcept { return key_batch::hashes(hashes_); }
  /// Where candidate i stood in the chunk.
  [[nodiscard]] std::size_t origin(std::size_t i) const noexcept { return origins_[i]; }

  /// Drops the keys that `view` may contain, and returns how many.
  std::uint64_t drop_contained(const const_filter_view& view, const bulk_options& options) {
    if (hashes_.empty()) return 0;
    const std::uint64_t found = detail::may_contain(view, hashes(), answers(size()), options);
    if (found > 0) keep([this](std::size_t i) { return !bitmap_get(answers_.data(), i); });
    return found;
  }

  /// Inserts the first `count` into `view` and keeps, of these, the ones that were absent.
  std::uint64_t insert_absent(const filter_view& view, std::size_t count,
                              const bulk_options& options) {
    const std::uint64_t fresh =
        detail::insert_new(view, hashes().slice(0, count), answers(count), options);
    keep([&](std::size_t i) { return i >= count || bitmap_get(answers_.data(), i); });
    return fresh;
  }

  /// Sets the bit of every candidate from `begin` to `end` in the chunk's bitmap.
  void mark(std::uint8_t* bitmap, std::size_t begin, std::size_t end) const noexcept {
    for (std::size_t i = begin; i < end; ++i) {
      bitmap[origins_[i] / 8] =
          static_cast<std::uint8_t>(bitmap[origins_[i] / 8] | 1u << (origins_[i] % 8));
    }
  }

  /// Hands the first `count` on to `others`, behind those that are there.
  void move_first(std::size_t count, candidates& others) {
    if (count == size() && others.size() == 0) {
      hashes_.swap(others.hashes_);
      origins_.swap(others.origins_);
      return;
    }
    const auto end = static_cast<std::ptrdiff_t>(count);
    others.hashes_.insert(others.hashes_.end(), hashes_.begin(), hashes_.begin() + end);
    others.origins_.insert(others.origins_.end(), origins_.begin(), origins_.begin() + end);
    drop_first(count);
  }

  /// Drops the first `count`.
  void drop_first(std::size_t count) {
    keep([count](std::size_t i) { return i >= count; });
  }

 private:
  std::uint8_t* answers(std::size_t keys) {
    answers_.resize(bitmap_bytes(keys));
    return answers_.data();
  }

  template <class Keep>
  void keep(Keep kept) {
    std::size_t to = 0;
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
      hashes_[to] = hashes_[i];
      origins_[to] = origins_[i];
      if (kept(i)) ++to;
    }
    hashes_.resize(to);
    origins_.resize(to);
  }

  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> origins_;
  std::vector<std::uint8_t> answers_;
};

/// Calls `work(chunk, bitmap of the chunk)` for `keys` cut into chunks; `bitmap`, when there is
/// one, is zeroed before.
template <class Work>
void for_each_chunk(const key_batch& keys, std::uint8_t* bitmap, Work work) {
  if (bitmap != nullptr) std::fill_n(bitmap, bitmap_bytes(keys.size()), std::uint8_t{0});
  for (std::size_t first = 0; first < keys.size(); first += chunk_keys) {
    work(keys.slice(first, std::min(chunk_keys, keys.size() - first)),
         bitmap == nullptr ? nullptr : bitmap + first / 8);
  }
}

/// Calls `act(hash)`, in order, for filters that go key by key, and marks the keys for which it
/// holds; returns how many. `prefetch(hash)` is called a few keys before.
template <class Prefetch, class Act>
std::uint64_t for_each_hash(const key_batch& keys, std::uint64_t seed, std::uint8_t* bitmap,
                            const bulk_options& options, Prefetch prefetch, Act act) {
  constexpr std::size_t ahead = 12;
  constexpr std::size_t piece = 2048;  // their hashes stay in the nearest cache
  const engine& e = engine_of(options);
  std::array<std::uint64_t, piece + ahead> hashes;
  std::uint64_t count = 0;
  for (std::size_t first = 0; first < keys.size(); first += piece) {
    const std::size_t size = std::min(piece, keys.size() - first);
    e.hash(keys.slice(first, size), seed, hashes.data(), options);
    std::fill_n(hashes.begin() + static_cast<std::ptrdiff_t>(size), ahead, hashes[0]);
    for (std::size_t i = 0; i < std::min(ahead, size); ++i) prefetch(hashes[i]);
    std::uint8_t answers = 0;
    for (std::size_t i = 0; i < size; ++i) {
      prefetch(hashes[i + ahead]);
      const bool holds = act(hashes[i]);
      count += holds ? std::uint64_t{1} : std::uint64_t{0};
      answers = static_cast<std::uint8_t>(answers | (holds ? 1u : 0u) << (i % 8));
      if (i % 8 == 7 || i + 1 == size) {
        if (bitmap != nullptr) bitmap[(first + i) / 8] = answers;
        answers = 0;
      }
    }
  }
  return count;
}

/// Which keys may be in any of `count` filters, `filter_at(0)` asked first: with the largest or
/// newest first most keys are answered early. As engine::may_contain.
template <class FilterAt>
std::uint64_t may_contain_any(std::size_t count, FilterAt filter_at, std::uint64_t seed,
                              const key_batch& keys, std::uint8_t* bitmap,
                              const bulk_options& options) {
  return in_one_call(options, [&](const bulk_options& within) {
    candidates left;
    std::uint64_t found = 0;
    for_each_chunk(keys, bitmap, [&](const key_batch& chunk, std::uint8_t* answers) {
      left.start(chunk, seed, within);
      for (std::size_t i = 0; i < count && left.size() > 0; ++i) {
        found += left.drop_contained(filter_at(i).view(), within);
      }
      if (answers == nullptr) return;
      std::fill_n(answers, bitmap_bytes(chunk.size()), std::uint8_t{0xFF});
      if (chunk.size() % 8 != 0) {
        answers[chunk.size() / 8] = static_cast<std::uint8_t>((1u << (chunk.size() % 8)) - 1);
      }
      for (std::size_t i = 0; i < left.size(); ++i) {
        const std::size_t at = left.origin(i);
        answers[at / 8] = static_cast<std::uint8_t>(answers[at / 8] & ~(1u << (at % 8)));
      }
    });
    return found;
  });
}

}  // namespace octobloom::detail
