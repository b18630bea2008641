#include <octobloom/simd_engine.h>

#include <algorithm>
#include <atomic>
#include <new>

#include <octobloom/detail/team.h>
#include <octobloom/error.h>
#include <octobloom/simd_hooks.h>

#include "copies.h"
#include "kernels.h"
#include "partition.h"
#include "scratch.h"
#include "tuning.h"

namespace octobloom {

namespace simd {

namespace {

thread_local const char* last_target = "";

const kernels& use_kernels() {
  const kernels& chosen = current_kernels();
  last_target = chosen.target;
  return chosen;
}

/// Chunks end where a byte of the bitmap ends.
constexpr std::size_t keys_per_task = std::size_t{1} << 16;

unsigned useful_threads(std::size_t keys, const bulk_options& options) noexcept {
  const std::size_t limit = std::max<std::size_t>(1, keys / current_tuning().keys_per_thread);
  return static_cast<unsigned>(std::min<std::size_t>(detail::thread_count(options.threads), limit));
}

/// Calls work(first, count) for consecutive chunks of `keys` keys.
template <class Work>
void for_each_chunk(std::size_t keys, const bulk_options& options, const Work& work) {
  const unsigned threads = useful_threads(keys, options);
  if (threads == 1) {
    work(std::size_t{0}, keys);
    return;
  }
  const std::size_t chunks = (keys + keys_per_task - 1) / keys_per_task;
  detail::run_tasks(threads, chunks, [&](std::size_t chunk) {
    const std::size_t first = chunk * keys_per_task;
    work(first, std::min(keys_per_task, keys - first));
  });
}

/// The sum of what work(keys of a chunk, their bytes of `bitmap`) returns.
template <class Work>
std::uint64_t count_in_chunks(const key_batch& keys, std::uint8_t* bitmap,
                              const bulk_options& options, const Work& work) {
  std::atomic<std::uint64_t> found{0};
  for_each_chunk(keys.size(), options, [&](std::size_t first, std::size_t count) {
    found += work(keys.slice(first, count), bitmap == nullptr ? nullptr : bitmap + first / 8);
  });
  return found;
}

std::string why_unavailable() {
  try {
    (void)current_kernels();
    return {};
  } catch (const error& reason) {
    return reason.what();
  }
}

/// Runs `fast()`, or `plain()` when the memory for it cannot be had: nothing was done then.
template <class Fast, class Plain>
auto with_memory_or(const Fast& fast, const Plain& plain) {
  try {
    return fast();
  } catch (const error&) {
  } catch (const std::bad_alloc&) {
  }
  return plain();
}

/// Runs `by_parts(partition)` when a partition pays and its memory is there, `plain()` otherwise.
template <class ByParts, class Plain>
auto by_parts_or(const filter_shape& shape, std::size_t keys, unsigned threads, bool writes,
                 bool answers, const ByParts& by_parts, const Plain& plain) {
  const auto cut = plan_partition(shape, keys, threads, writes, answers);
  return cut ? with_memory_or([&] { return by_parts(*cut); }, plain) : plain();
}

void insert(const filter_view& view, const key_batch& keys, const bulk_options& options) {
  const kernels& code = use_kernels();
  const unsigned threads = useful_threads(keys.size(), options);
  const auto plain = [&] { code.insert(view, keys, {}); };
  if (copies_pay(view.shape(), keys.size(), threads)) {
    with_memory_or([&] { insert_by_copies(code, threads, view, keys); }, plain);
    return;
  }
  by_parts_or(
      view.shape(), keys.size(), threads, true, false,
      [&](const partition& cut) { insert_by_parts(code, cut, view, keys); }, plain);
}

std::uint64_t may_contain(const const_filter_view& view, const key_batch& keys,
                          std::uint8_t* bitmap, const bulk_options& options) {
  const kernels& code = use_kernels();
  return by_parts_or(
      view.shape(), keys.size(), useful_threads(keys.size(), options), false, bitmap != nullptr,
      [&](const partition& cut) { return may_contain_by_parts(code, cut, view, keys, bitmap); },
      [&] {
        return count_in_chunks(keys, bitmap, options,
                               [&](const key_batch& chunk, std::uint8_t* answers) {
                                 return code.may_contain(view, chunk, answers, {});
                               });
      });
}

std::uint64_t insert_new(const filter_view& view, const key_batch& keys, std::uint8_t* bitmap,
                         const bulk_options& options) {
  const kernels& code = use_kernels();
  return by_parts_or(
      view.shape(), keys.size(), useful_threads(keys.size(), options), true, bitmap != nullptr,
      [&](const partition& cut) { return insert_new_by_parts(code, cut, view, keys, bitmap); },
      [&] { return code.insert_new(view, keys, bitmap, {}); });
}

std::uint64_t cuckoo_may_contain(const cuckoo_view& view, const key_batch& keys,
                                 std::uint8_t* bitmap, const bulk_options& options) {
  const kernels& code = use_kernels();
  return count_in_chunks(keys, bitmap, options, [&](const key_batch& chunk, std::uint8_t* answers) {
    return code.cuckoo_may_contain(view, chunk, answers);
  });
}

void hash(const key_batch& keys, std::uint64_t seed, std::uint64_t* hashes,
          const bulk_options& options) {
  const kernels& code = use_kernels();
  for_each_chunk(keys.size(), options, [&](std::size_t first, std::size_t count) {
    code.hash(keys.slice(first, count), seed, hashes + first);
  });
}

}  // namespace

}  // namespace simd

const engine& simd_engine() noexcept {
  static constexpr engine simd{.name = "simd",
                               .automatic = true,
                               .why_unavailable = simd::why_unavailable,
                               .open = nullptr,
                               .insert = simd::insert,
                               .may_contain = simd::may_contain,
                               .insert_new = simd::insert_new,
                               .cuckoo_may_contain = simd::cuckoo_may_contain,
                               .hash = simd::hash};
  return simd;
}

void simd_release_memory() noexcept {
  simd::scratch::release();
}

void simd_touch_lines(const filter_view& view, const key_batch& keys, bool write) {
  simd::use_kernels().touch_lines(view, keys, write);
}

std::string_view simd_last_target() noexcept {
  return simd::last_target;
}

}  // namespace octobloom
