#include "partition.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

#include <octobloom/detail/team.h>
#include <octobloom/rot8.h>

#include "parts.h"
#include "tuning.h"

namespace octobloom::simd {

namespace {

/// More would not fit the nearest cache while hashes are split.
constexpr std::size_t max_parts = 512;

constexpr std::uint64_t least_chunk = std::uint64_t{1} << 20;

/// One thread's share of a chunk.
struct share {
  part_pages pages;
  std::span<std::uint16_t> part_of_key;    ///< to find a key's answer again
  std::span<std::uint8_t> answers;         ///< bit n: the answer for hash number n
  std::vector<std::uint32_t> next_answer;  ///< a part's next one
  key_batch keys = key_batch::hashes({});
  std::uint8_t* bitmap = nullptr;

  share(scratch& memory, std::size_t capacity, const partition& cut, bool with_bitmap)
      : pages(memory, capacity, cut.parts, cut.shift) {
    if (!with_bitmap) return;
    part_of_key = memory.take<std::uint16_t>(capacity);
    answers = memory.take<std::uint8_t>(part_pages::capacity(capacity, cut.parts) / 8);
    next_answer.resize(cut.parts);
  }

  [[nodiscard]] static std::uint64_t scratch_bytes(std::size_t capacity, const partition& cut,
                                                   bool with_bitmap) {
    const std::uint64_t bytes = part_pages::scratch_bytes(capacity, cut.parts);
    if (!with_bitmap) return bytes;
    return bytes + scratch::bytes_for<std::uint16_t>(capacity) +
           scratch::bytes_for<std::uint8_t>(part_pages::capacity(capacity, cut.parts) / 8);
  }

  void split(const kernels& code, const filter_shape& shape) {
    pages.clear();
    code.split(keys, shape.seed, shape.blocks, pages.writer(),
               part_of_key.empty() ? nullptr : part_of_key.data());
    pages.finish();
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
        byte |= (unsigned{answers[at / 8]} >> (at % 8) & 1u) << (j - i);
        at = pages.after(at);
      }
      bitmap[i / 8] = static_cast<std::uint8_t>(byte);
    }
  }
};

/// The blocks of a part, to be read ahead `per_group` at a time; none when that is 0.
read_ahead blocks_of(std::size_t part, const const_filter_view& view, unsigned part_shift,
                     std::size_t per_group) noexcept {
  const auto first_of = [&](std::size_t p) {
    return view.words() +
           rot8::words_per_block *
               std::min<std::uint64_t>(std::uint64_t{p} << part_shift, view.blocks());
  };
  return {first_of(part), first_of(part + (per_group > 0 ? 1 : 0)),
          per_group * rot8::words_per_block};
}

/// Runs `serve(hashes, answers, read_ahead)`, which returns a count, over all pages of all parts.
template <class Serve>
std::uint64_t run(const kernels& code, const partition& cut, const const_filter_view& view,
                  const key_batch& keys, std::uint8_t* bitmap, const Serve& serve) {
  const filter_shape& shape = view.shape();
  const std::size_t chunk = std::min(cut.chunk, (keys.size() + 7) / 8 * 8);
  const std::size_t share_keys = (chunk / 8 + cut.threads - 1) / cut.threads * 8;
  const bool with_bitmap = bitmap != nullptr;
  scratch memory(cut.threads * share::scratch_bytes(share_keys, cut, with_bitmap));
  std::vector<share> shares;
  shares.reserve(cut.threads);
  for (unsigned t = 0; t < cut.threads; ++t)
    shares.emplace_back(memory, share_keys, cut, with_bitmap);

  std::atomic<std::uint64_t> count{0};
  for (std::size_t first = 0; first < keys.size(); first += chunk) {
    const std::size_t in_chunk = std::min(chunk, keys.size() - first);
    for (std::size_t t = 0; t < shares.size(); ++t) {
      const std::size_t begin = std::min(t * share_keys, in_chunk);
      const std::size_t end = std::min(begin + share_keys, in_chunk);
      shares[t].keys = keys.slice(first + begin, end - begin);
      if (bitmap != nullptr) shares[t].bitmap = bitmap + (first + begin) / 8;
    }
    detail::run_tasks(cut.threads, shares.size(),
                      [&](std::size_t t) { shares[t].split(code, shape); });
    // Reading all of a part in order is worth it when most of its blocks will be touched.
    const std::size_t per_group =
        in_chunk >= shape.blocks ? 8 * std::uint64_t{shape.blocks} / in_chunk + 1 : 0;
    const std::size_t run_length = std::clamp<std::size_t>(cut.parts / (4 * cut.threads), 1, 16);
    detail::run_tasks(
        cut.threads, (cut.parts + run_length - 1) / run_length, [&](std::size_t task) {
          std::uint64_t in_parts = 0;
          const std::size_t begin = task * run_length;
          const std::size_t end = std::min(begin + run_length, cut.parts);
          for (std::size_t part = begin; part < end; ++part) {
            read_ahead ahead = blocks_of(part + 1, view, cut.shift, per_group);
            for (share& s : shares) {
              s.pages.for_each_page(
                  part, [&](std::uint32_t at, std::span<const std::uint64_t> hashes) {
                    std::uint8_t* answers = s.answers.empty() ? nullptr : s.answers.data() + at / 8;
                    in_parts += serve(key_batch::hashes(hashes), answers, ahead);
                    ahead.advance(hashes.size());
                  });
            }
          }
          count += in_parts;
        });
    if (bitmap != nullptr) {
      detail::run_tasks(cut.threads, shares.size(), [&](std::size_t t) { shares[t].collect(); });
    }
  }
  return count;
}

}  // namespace

std::optional<partition> plan_partition(const filter_shape& shape, std::size_t keys,
                                        unsigned threads, bool writes, bool answers) {
  const simd_tuning& tuning = current_tuning();
  const std::uint64_t from_bytes =
      answers ? tuning.partition_answers_from_bytes : tuning.partition_from_bytes;
  const bool beyond_cache =
      shape.bytes() >= from_bytes &&
      keys >= shape.blocks / std::max<std::uint64_t>(1, tuning.blocks_per_key);
  // Bringing keys to their parts costs as much as inserting them two or three times into a filter
  // in the caches.
  const unsigned least_writers = shape.bytes() <= 2 * tuning.part_bytes        ? 4
                                 : shape.bytes() < tuning.partition_from_bytes ? 3
                                                                               : 2;
  const bool shared_writing = writes && threads >= least_writers;
  if (!beyond_cache && !shared_writing) return std::nullopt;

  std::uint64_t wanted = shape.bytes() / std::max<std::uint64_t>(1, tuning.part_bytes);
  if (threads > 1) wanted = std::max<std::uint64_t>(wanted, 4 * threads);
  wanted = std::clamp<std::uint64_t>(wanted, 1, max_parts);
  unsigned shift = 0;
  while (((shape.blocks - 1) >> shift) + 1 > wanted) ++shift;
  const std::size_t parts = ((shape.blocks - 1) >> shift) + 1;
  if (parts == 1) return std::nullopt;
  // Ten bytes a key: about half of a large filter's size, and not much at a time for small ones.
  const std::size_t chunk = std::min<std::uint64_t>(
      tuning.chunk_keys, std::max<std::uint64_t>(least_chunk, shape.bytes() / 16));
  return partition{.shift = shift,
                   .parts = parts,
                   .threads = threads,
                   .chunk = std::max<std::size_t>(8, chunk / 8 * 8)};
}

void insert_by_parts(const kernels& code, const partition& cut, const filter_view& view,
                     const key_batch& keys) {
  run(code, cut, view, keys, nullptr,
      [&](const key_batch& hashes, std::uint8_t*, const read_ahead& ahead) {
        code.insert(view, hashes, ahead);
        return std::uint64_t{0};
      });
}

std::uint64_t may_contain_by_parts(const kernels& code, const partition& cut,
                                   const const_filter_view& view, const key_batch& keys,
                                   std::uint8_t* bitmap) {
  return run(code, cut, view, keys, bitmap,
             [&](const key_batch& hashes, std::uint8_t* answers, const read_ahead& ahead) {
               return code.may_contain(view, hashes, answers, ahead);
             });
}

std::uint64_t insert_new_by_parts(const kernels& code, const partition& cut,
                                  const filter_view& view, const key_batch& keys,
                                  std::uint8_t* bitmap) {
  return run(code, cut, view, keys, bitmap,
             [&](const key_batch& hashes, std::uint8_t* answers, const read_ahead& ahead) {
               return code.insert_new(view, hashes, answers, ahead);
             });
}

}  // namespace octobloom::simd
