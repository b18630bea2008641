#include "tuning.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include <octobloom/error.h>
#include <octobloom/simd_engine.h>

namespace octobloom {

namespace simd {

namespace {

std::atomic<const kernels*> forced_kernels{nullptr};
std::atomic<const simd_tuning*> forced_tuning{nullptr};

const kernels* find_kernels(std::string_view target) {
  for (const kernels* candidate : available_kernels()) {
    if (target == candidate->target) return candidate;
  }
  return nullptr;
}

std::string not_here(std::string_view target) {
  std::string text =
      "no SIMD target \"" + std::string(target) + "\" in this build on this processor; there are: ";
  std::string_view separator;
  for (const std::string& name : simd_targets()) {
    text += std::string(separator) + name;
    separator = ", ";
  }
  return text;
}

std::string_view environment_target() {
  static const char* const target = std::getenv("OCTOBLOOM_TARGET");
  return target == nullptr ? std::string_view() : std::string_view(target);
}

std::uint64_t cache_bytes(int name, std::uint64_t otherwise) noexcept {
  const long bytes = sysconf(name);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : otherwise;
}

}  // namespace

const kernels& current_kernels() {
  if (const kernels* forced = forced_kernels.load(std::memory_order_acquire)) return *forced;
  static const kernels* const chosen = environment_target().empty()
                                           ? available_kernels().front()
                                           : find_kernels(environment_target());
  if (chosen == nullptr) {
    throw error(error_code::engine_unavailable,
                "OCTOBLOOM_TARGET: " + not_here(environment_target()));
  }
  return *chosen;
}

const simd_tuning& current_tuning() noexcept {
  if (const simd_tuning* forced = forced_tuning.load(std::memory_order_acquire)) return *forced;
  static const simd_tuning here = simd_tuning::of_this_machine();
  return here;
}

}  // namespace simd

simd_tuning simd_tuning::of_this_machine() noexcept {
#if defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE)
  const std::uint64_t level2 = simd::cache_bytes(_SC_LEVEL2_CACHE_SIZE, std::uint64_t{512} << 10);
  const std::uint64_t level3 = simd::cache_bytes(_SC_LEVEL3_CACHE_SIZE, std::uint64_t{32} << 20);
#else
  const std::uint64_t level2 = std::uint64_t{512} << 10;
  const std::uint64_t level3 = std::uint64_t{32} << 20;
#endif
  // A virtual machine is told of all of the host's cache and gets its share of it.
  constexpr std::uint64_t most_per_core = std::uint64_t{16} << 20;
  const std::uint64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::uint64_t cache = std::max(level2, std::min(level3, cores * most_per_core));
  return {.partition_from_bytes = 2 * cache,
          .partition_answers_from_bytes = 8 * cache,
          .blocks_per_key = 2,
          .part_bytes = level2 / 2,
          .chunk_keys = std::size_t{1} << 25,
          .copies_from_keys_per_block = 8,
          .keys_per_thread = std::size_t{1} << 15};
}

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const simd::kernels* one : simd::available_kernels()) names.emplace_back(one->target);
  return names;
}

simd_override::simd_override(std::string_view target) : of_target_(true) {
  const simd::kernels* wanted = simd::find_kernels(target);
  if (wanted == nullptr) throw error(error_code::engine_unavailable, simd::not_here(target));
  previous_ = simd::forced_kernels.exchange(wanted);
}

simd_override::simd_override(const simd_tuning& tuning) noexcept
    : tuning_(tuning), of_target_(false) {
  previous_ = simd::forced_tuning.exchange(&tuning_);
}

simd_override::~simd_override() {
  if (of_target_) {
    simd::forced_kernels.store(static_cast<const simd::kernels*>(previous_));
  } else {
    simd::forced_tuning.store(static_cast<const simd_tuning*>(previous_));
  }
}

}  // namespace octobloom
