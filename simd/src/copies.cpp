#include "copies.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <octobloom/detail/team.h>
#include <octobloom/rot8.h>

#include "scratch.h"
#include "tuning.h"

namespace octobloom::simd {

bool copies_pay(const filter_shape& shape, std::size_t keys, unsigned threads) noexcept {
  const simd_tuning& tuning = current_tuning();
  return threads > 1 && shape.bytes() < tuning.partition_from_bytes &&
         keys / shape.blocks >= tuning.copies_from_keys_per_block &&
         shape.bytes() * (threads - 1) <= tuning.chunk_keys * sizeof(std::uint64_t);
}

void insert_by_copies(const kernels& code, unsigned threads, const filter_view& view,
                      const key_batch& keys) {
  const std::uint64_t words = view.shape().blocks * std::uint64_t{rot8::words_per_block};
  scratch memory((threads - 1) * scratch::bytes_for<std::uint64_t>(words));
  std::vector<std::span<std::uint64_t>> filters{{view.words(), words}};
  while (filters.size() < threads) filters.push_back(memory.take<std::uint64_t>(words));

  const std::size_t share = (keys.size() + threads - 1) / threads;
  detail::run_tasks(threads, threads, [&](std::size_t t) {
    if (t > 0) std::ranges::fill(filters[t], std::uint64_t{0});
    const std::size_t first = std::min(t * share, keys.size());
    code.insert(filter_view(filters[t].data(), view.shape()),
                keys.slice(first, std::min(share, keys.size() - first)), {});
  });

  constexpr std::uint64_t piece = std::uint64_t{1} << 13;
  detail::run_tasks(threads, (words + piece - 1) / piece, [&](std::size_t p) {
    const std::uint64_t end = std::min(words, (p + 1) * piece);
    for (std::size_t t = 1; t < filters.size(); ++t) {
      for (std::uint64_t w = p * piece; w < end; ++w) filters[0][w] |= filters[t][w];
    }
  });
}

}  // namespace octobloom::simd
