#include "partition.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

#include <octobloom/rot8.h>

#include "parts.h"
#include "team.h"
#include "tuning.h"

namespace octobloom::simd {

namespace {

constexpr std::size_t max_parts = 512;

/// One thread's share of a chunk.
struct slice {
  part_pages pages;
  std::vector<std::uint16_t> part_of_key;  ///< to find a key's answer again
  std::vector<std::uint8_t> answers;       ///< bit n: the answer for hash number n
  std::vector<std::uint32_t> next_answer;  ///< a part's next one
  key_batch keys;
  std::uint8_t* bitmap = nullptr;

  slice(std::size_t capacity, const partition& cut, bool with_bitmap)
      : pages(capacity, cut.parts, cut.shift),
        part_of_key(with_bitmap ? capacity : 0),
        answers(with_bitmap ? pages.capacity() / 8 : 0),
        next_answer(with_bitmap ? cut.parts : 0),
        keys(key_batch::hashes({})) {}

  void split(const kernels& code, const filter_shape& shape) {
    pages.clear();
    code.split(keys, shape.seed, shape.blocks, pages.writer(),
               part_of_key.empty() ? nullptr : part_of_key.data());
  }

  /// Brings the answers back into the order of the keys.
  void collect() {
    for (std::size_t part = 0; part < next_answer.size(); ++part) {
      next_answer[part] = part_pages::first(part);
    }
    for (std::size_t i = 0; i < keys.size(); i += 8) {
      const std::size_t end = std::min(keys.size(), i + 8);
      unsigned byte = 0;
      for (std::size_t j = i; j < end; ++j) {
        std::uint32_t& at = next_answer[part_of_key[j]];
        byte |= (answers[at / 8] >> (at % 8) & 1u) << (j - i);
        at = pages.after(at);
      }
      bitmap[i / 8] = static_cast<std::uint8_t>(byte);
    }
  }
};

/// Runs `serve(hashes, answers)`, which returns a count, over all pages of all parts.
template <class Serve>
std::uint64_t run(const kernels& code, const partition& cut, const filter_shape& shape,
                  const key_batch& keys, std::uint8_t* bitmap, const Serve& serve) {
  const std::size_t chunk = std::min(cut.chunk, (keys.size() + 7) / 8 * 8);
  const std::size_t share = (chunk / 8 + cut.threads - 1) / cut.threads * 8;
  std::vector<slice> slices;
  slices.reserve(cut.threads);
  for (unsigned t = 0; t < cut.threads; ++t) slices.emplace_back(share, cut, bitmap != nullptr);

  std::atomic<std::uint64_t> count{0};
  for (std::size_t first = 0; first < keys.size(); first += chunk) {
    const std::size_t in_chunk = std::min(chunk, keys.size() - first);
    for (std::size_t t = 0; t < slices.size(); ++t) {
      const std::size_t begin = std::min(t * share, in_chunk);
      const std::size_t end = std::min(begin + share, in_chunk);
      slices[t].keys = keys.slice(first + begin, end - begin);
      if (bitmap != nullptr) slices[t].bitmap = bitmap + (first + begin) / 8;
    }
    run_tasks(cut.threads, slices.size(), [&](std::size_t t) { slices[t].split(code, shape); });
    run_tasks(cut.threads, cut.parts, [&](std::size_t part) {
      std::uint64_t in_part = 0;
      for (slice& s : slices) {
        s.pages.for_each_page(part, [&](std::uint32_t at, std::span<const std::uint64_t> hashes) {
          std::uint8_t* answers = s.answers.empty() ? nullptr : s.answers.data() + at / 8;
          in_part += serve(key_batch::hashes(hashes), answers);
        });
      }
      count += in_part;
    });
    if (bitmap != nullptr) {
      run_tasks(cut.threads, slices.size(), [&](std::size_t t) { slices[t].collect(); });
    }
  }
  return count;
}

}  // namespace

std::optional<partition> plan_partition(const filter_shape& shape, std::size_t keys,
                                        unsigned threads, bool writes) {
  const simd_tuning& tuning = current_tuning();
  const bool beyond_cache =
      shape.bytes() >= tuning.partition_from_bytes &&
      keys >= shape.blocks / std::max<std::uint64_t>(1, tuning.blocks_per_key);
  const bool shared_writing = writes && threads > 1;
  if (!beyond_cache && !shared_writing) return std::nullopt;

  std::uint64_t wanted = shape.bytes() / std::max<std::uint64_t>(1, tuning.part_bytes);
  if (threads > 1) wanted = std::max<std::uint64_t>(wanted, 4 * threads);
  wanted = std::clamp<std::uint64_t>(wanted, 1, max_parts);
  unsigned shift = 0;
  while (((shape.blocks - 1) >> shift) + 1 > wanted) ++shift;
  const std::size_t parts = ((shape.blocks - 1) >> shift) + 1;
  if (parts == 1) return std::nullopt;
  return partition{.shift = shift,
                   .parts = parts,
                   .threads = threads,
                   .chunk = std::max<std::size_t>(8, tuning.chunk_keys / 8 * 8)};
}

void insert_by_parts(const kernels& code, const partition& cut, const filter_view& view,
                     const key_batch& keys) {
  run(code, cut, view.shape(), keys, nullptr, [&](const key_batch& hashes, std::uint8_t*) {
    code.insert(view, hashes);
    return std::uint64_t{0};
  });
}

std::uint64_t may_contain_by_parts(const kernels& code, const partition& cut,
                                   const const_filter_view& view, const key_batch& keys,
                                   std::uint8_t* bitmap) {
  return run(code, cut, view.shape(), keys, bitmap,
             [&](const key_batch& hashes, std::uint8_t* answers) {
               return code.may_contain(view, hashes, answers);
             });
}

std::uint64_t insert_new_by_parts(const kernels& code, const partition& cut,
                                  const filter_view& view, const key_batch& keys,
                                  std::uint8_t* bitmap) {
  return run(code, cut, view.shape(), keys, bitmap,
             [&](const key_batch& hashes, std::uint8_t* answers) {
               return code.insert_new(view, hashes, answers);
             });
}

}  // namespace octobloom::simd
