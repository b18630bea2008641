#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <octobloom/gpu/filter.h>
#include <octobloom/keys.h>

/// Keys in host memory, more than the device should hold at once.
namespace octobloom::gpu {

struct stream_options {
  /// The most device memory, and the most pinned host memory, that keys and results in flight may
  /// take; at least 64 KiB. insert_new takes 25 bytes a key of a chunk besides.
  std::uint64_t memory_bytes = std::uint64_t{96} << 20;
  /// Chunks in flight: while one is computed, the next is uploaded and the one before downloaded.
  /// 2 to 8.
  unsigned depth = 3;
  /// Threads that copy keys into pinned memory, up to max_threads; 0 is one a core, but no more
  /// than 8. Integers and hashes that are in page-locked memory already (cudaMallocHost, or one
  /// cudaHostRegister of them all) are uploaded from where they are.
  unsigned threads = 0;

  static constexpr unsigned max_threads = 256;
};

/// Passes batches of host keys through filters on the device that is current when it is made. It
/// keeps its streams, threads, and pinned and device memory from call to call, as large as the
/// largest batch needed, since those are slow to take. Calls wait for the device, return when all
/// is done, and throw octobloom::error{device} or {out_of_memory}; afterwards the streamer can be
/// used again, and a filter that was inserted into may hold some of the batch's keys. Move only; a
/// moved-from streamer may only be assigned or destroyed. Not thread-safe.
class streamer {
 public:
  /// Throws octobloom::error{invalid_argument} for options outside their range, and
  /// {engine_unavailable} where no device can be used.
  explicit streamer(const stream_options& options = {});
  streamer(streamer&&) noexcept;
  streamer& operator=(streamer&&) noexcept;
  ~streamer();

  /// Inserts host keys chunk by chunk, in order. filter.inserted_keys() grows by keys.size().
  void insert(filter& target, const key_batch& keys);

  /// One answer a key, into `bitmap` in host memory (null: count only); returns how many may be
  /// contained.
  std::uint64_t may_contain(const filter& source, const key_batch& keys, std::uint8_t* bitmap);

  /// filter::insert_new over host keys, in order; the groups are the chunks, of at most 2^24 keys,
  /// so the answers depend on memory_bytes only as described there.
  std::uint64_t insert_new(filter& target, const key_batch& keys, std::uint8_t* bitmap);

 private:
  class ring;
  std::unique_ptr<ring> ring_;
};

/// One batch through a streamer of its own.
void insert(filter& target, const key_batch& keys, const stream_options& options = {});
std::uint64_t may_contain(const filter& source, const key_batch& keys, std::uint8_t* bitmap,
                          const stream_options& options = {});
std::uint64_t insert_new(filter& target, const key_batch& keys, std::uint8_t* bitmap,
                         const stream_options& options = {});

/// A file of 64-bit little-endian integers, mapped: keys that were never read into memory. Move
/// only.
class mapped_integers {
 public:
  /// Throws octobloom::error{io}, or {bad_file} when the size is no multiple of 8.
  explicit mapped_integers(const std::string& path);
  mapped_integers(mapped_integers&& other) noexcept;
  mapped_integers& operator=(mapped_integers&& other) noexcept;
  mapped_integers(const mapped_integers&) = delete;
  mapped_integers& operator=(const mapped_integers&) = delete;
  ~mapped_integers();

  [[nodiscard]] std::span<const std::uint64_t> values() const noexcept { return values_; }
  [[nodiscard]] key_batch as_keys() const noexcept { return key_batch::integers(values_); }

 private:
  std::span<const std::uint64_t> values_;
};

}  // namespace octobloom::gpu
