#pragma once

#include <cstdint>

#include <octobloom/gpu/filter.h>
#include <octobloom/gpu/insert_plan.h>
#include <octobloom/gpu/keys.h>
#include <octobloom/gpu/memory.h>
#include <octobloom/statistics.h>

/// What the host code of this room asks of its .cu files. Everything is asynchronous on the stream
/// unless it returns a value. All memory is the device's.
namespace octobloom::gpu::detail {

/// Where the work is done: a stream, and where its temporaries come from.
struct place {
  stream on;
  allocator from;
};

void launch_hash(const place& at, const keys& batch, std::uint64_t seed, std::uint64_t* hashes);
void launch_contains(const place& at, const filter_view& view, const keys& batch,
                     std::uint8_t* bitmap);

/// Whether keys come as they are or by block of the filter.
enum class key_order { any, sorted };
void launch_insert(const place& at, const filter_view& view, const keys& batch, key_order order);

void launch_insert_slices(const place& at, const filter_view& view, const std::uint64_t* hashes,
                          const std::uint64_t* offsets, unsigned bits);

void insert_sorted(const place& at, const filter_view& view, const keys& batch,
                   const insert_plan& plan);
std::uint64_t insert_new(const place& at, const filter_view& view, const keys& batch,
                         std::uint8_t* bitmap);

void expand_bitmap(const place& at, const std::uint8_t* bitmap, std::uint64_t bits,
                   std::uint8_t* answers);
std::uint64_t count_bits(const place& at, const std::uint8_t* bitmap, std::uint64_t bits);
std::uint64_t select_positions(const place& at, const std::uint8_t* bitmap, std::uint64_t bits,
                               std::uint64_t* positions);
std::uint64_t select_values(const place& at, const keys& batch, const std::uint8_t* bitmap,
                            void* selected);
void merge(const place& at, const filter_view& target, const filter_view& other);

struct bits_and_fpr {
  std::uint64_t bits;
  double fpr_sum;  ///< of the blocks
};
bits_and_fpr sum_blocks(const place& at, const filter_view& view);

/// Whether this library has code for the current device: a CUDA error, 0 when it has.
int probe_kernel_image() noexcept;

}  // namespace octobloom::gpu::detail
