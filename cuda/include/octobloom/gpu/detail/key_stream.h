#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <octobloom/detail/popcount.h>
#include <octobloom/detail/team.h>
#include <octobloom/error.h>
#include <octobloom/filter_view.h>
#include <octobloom/gpu/keys.h>
#include <octobloom/gpu/streaming.h>
#include <octobloom/keys.h>

/// Host keys, chunk by chunk past a device: a ring of slots of pinned memory and device memory, and
/// three queues, so that one chunk is uploaded, one computed and one downloaded at a time.
///
///   device.pinned(bytes), device.memory(bytes)     owners with data<T>()
///   device.is_pinned(from, bytes)                  whether the caller's memory needs no slot
///   device.copy_in(queue, to, from, bytes), device.copy_out(queue, to, from, bytes)
///   device.record(queue) -> event                  all that the queue has been given so far
///   device.wait(queue, event)                      the queue goes on when the event has happened
///   device.finish(event), device.finish()          the host waits for one, for everything
namespace octobloom::gpu::detail {

enum class queue : std::uint8_t { upload, work, download };

/// Threads that fill slots: one alone copies slower than the link to a device. They start when
/// there is enough to do.
class slot_fillers {
 public:
  explicit slot_fillers(unsigned threads) : threads_(threads) {}

  /// Calls f(first, last) for pieces of [0, count), each of at most `piece`.
  template <class F>
  void in_parallel(std::size_t count, std::size_t piece, const F& f) {
    const auto task = [&](std::size_t i) { f(i * piece, std::min(count, (i + 1) * piece)); };
    const std::size_t tasks = (count + piece - 1) / piece;
    if (tasks > 1 && threads_ > 1) {
      if (!team_) team_.emplace(threads_);
      team_->run(tasks, task);
    } else {
      for (std::size_t i = 0; i < tasks; ++i) task(i);
    }
  }

  void copy(std::byte* to, const void* from, std::size_t bytes) {
    in_parallel(bytes, std::size_t{1} << 20, [&](std::size_t first, std::size_t last) {
      std::memcpy(to + first, static_cast<const std::byte*>(from) + first, last - first);
    });
  }

 private:
  unsigned threads_;
  std::optional<octobloom::detail::team> team_;
};

/// How large the chunks are.
struct chunk_plan {
  std::size_t slot_bytes = 0;  ///< of keys, and of results behind them
  std::size_t keys = 0;        ///< at most, a multiple of 256
  std::size_t depth = 0;       ///< slots

  [[nodiscard]] std::size_t results_at() const noexcept { return slot_bytes - keys / 8; }

  /// Throws octobloom::error{invalid_argument} for options outside their range.
  static chunk_plan of(const stream_options& options, std::size_t most_keys) {
    constexpr std::uint64_t least = 64 << 10;
    if (options.depth < 2 || options.depth > 8) {
      throw error(error_code::invalid_argument,
                  "streaming takes 2 to 8 chunks in flight, not " + std::to_string(options.depth));
    }
    if (options.memory_bytes < least) {
      throw error(error_code::invalid_argument,
                  "streaming needs at least 65536 bytes for keys in flight, not " +
                      std::to_string(options.memory_bytes));
    }
    if (options.threads > stream_options::max_threads) {
      throw error(error_code::invalid_argument,
                  "streaming takes up to " + std::to_string(stream_options::max_threads) +
                      " threads, not " + std::to_string(options.threads));
    }
    // A key is 8 bytes and a bit of a result.
    const std::uint64_t bytes = options.memory_bytes / options.depth;
    return with_keys(std::min<std::size_t>(bytes * 8 / 65, most_keys) / 256 * 256, options.depth);
  }

  /// Short batches need less.
  [[nodiscard]] chunk_plan for_batch(const key_batch& batch) const noexcept {
    const std::size_t count = (batch.size() + 255) / 256 * 256;
    if (batch.kind() == key_kind::strings) {
      const string_keys& strings = batch.as_strings();
      const std::uint64_t bytes =
          (batch.size() + 1) * 8 +
          (batch.size() == 0 ? 0 : strings.offsets[batch.size()] - strings.offsets[0]);
      const std::uint64_t whole = (bytes + 7) / 8 * 8 + count / 8;
      if (count > keys || whole > slot_bytes) return *this;
      return {static_cast<std::size_t>(whole), count, 1};
    }
    if (count < keys) return with_keys(count, 1);
    return with_keys(keys, std::min<std::size_t>(depth, batch.size() / (keys + 1) + 1));
  }

 private:
  static chunk_plan with_keys(std::size_t keys, std::size_t depth) noexcept {
    return {keys * 8 + keys / 8, keys, depth};
  }
};

/// One batch at a time; the slots are kept for the next.
template <class Device>
class key_stream {
 public:
  /// Takes no memory yet. Throws octobloom::error{invalid_argument} for options outside their
  /// range.
  key_stream(Device& device, const stream_options& options, std::size_t most_keys)
      : device_(device),
        most_(chunk_plan::of(options, most_keys)),
        fillers_(options.threads != 0 ? options.threads
                                      : std::min(8u, octobloom::detail::thread_count(0))) {}
  key_stream(const key_stream&) = delete;
  key_stream& operator=(const key_stream&) = delete;
  /// What is in flight uses the slots.
  ~key_stream() { device_.finish(); }

  /// Calls work(chunk of device keys, bitmap in device memory) for each chunk, in order; what it
  /// starts belongs on the work queue. The bitmap it fills goes to `bitmap` (may be null). Returns
  /// how many bits were set. Without `results`, nothing is downloaded and 0 is returned. `seed` is
  /// for strings that are hashed here.
  template <class Work>
  std::uint64_t run(const key_batch& keys, std::uint64_t seed, bool results, std::uint8_t* bitmap,
                    Work work) {
    prepare(keys, seed);
    try {
      return pass(results, bitmap, work);
    } catch (...) {
      device_.finish();  // what is in flight may read the caller's memory
      throw;
    }
  }

 private:
  using memory_owner = decltype(std::declval<Device&>().memory(0));
  using pinned_owner = decltype(std::declval<Device&>().pinned(0));
  using event = decltype(std::declval<Device&>().record(queue::work));

  struct slot {
    std::size_t bytes;
    pinned_owner host;
    memory_owner device;
    std::optional<event> done{};
    bool has_results = false;
    std::size_t first = 0;  ///< key
    std::size_t count = 0;
    key_kind kind = key_kind::integers;
  };

  void prepare(const key_batch& keys, std::uint64_t seed) {
    for (slot& one : slots_) one.done.reset();  // left behind by an exception
    keys_ = keys;
    seed_ = seed;
    plan_ = most_.for_batch(keys);
    next_slot_ = 0;
    next_key_ = 0;
    direct_ = keys.kind() != key_kind::strings && device_.is_pinned(keys.values(), keys.size() * 8);
    if (std::any_of(slots_.begin(), slots_.end(),
                    [&](const slot& one) { return one.bytes < plan_.slot_bytes; })) {
      slots_.clear();
    }
    while (slots_.size() < plan_.depth) {
      slots_.push_back(
          {plan_.slot_bytes, device_.pinned(plan_.slot_bytes), device_.memory(plan_.slot_bytes)});
    }
  }

  template <class Work>
  std::uint64_t pass(bool results, std::uint8_t* bitmap, Work& work) {
    std::uint64_t found = 0;
    std::optional<std::size_t> ahead = upload_next(found, bitmap);
    while (ahead) {
      slot& current = slots_[*ahead];
      // The next upload is under way before this chunk's work, which may wait for its own result.
      ahead = slots_.size() > 1 ? upload_next(found, bitmap) : std::nullopt;
      compute(current, results, work);
      if (slots_.size() == 1) ahead = upload_next(found, bitmap);
    }
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      found += deliver(slots_[(next_slot_ + i) % slots_.size()], bitmap);
    }
    return found;
  }

  /// Fills the next slot and starts its upload; empty when there are no more keys.
  std::optional<std::size_t> upload_next(std::uint64_t& found, std::uint8_t* bitmap) {
    if (next_key_ == keys_.size()) return std::nullopt;
    const std::size_t number = next_slot_;
    slot& s = slots_[number];
    next_slot_ = (next_slot_ + 1) % slots_.size();
    found += deliver(s, bitmap);
    const std::size_t bytes = fill(s);
    device_.copy_in(queue::upload, s.device.template data<std::byte>(),
                    direct_ ? reinterpret_cast<const std::byte*>(keys_.values() + s.first)
                            : s.host.template data<std::byte>(),
                    bytes);
    device_.wait(queue::work, device_.record(queue::upload));
    next_key_ += s.count;
    return number;
  }

  template <class Work>
  void compute(slot& s, bool results, Work& work) {
    auto* answers = s.device.template data<std::uint8_t>() + plan_.results_at();
    work(device_keys(s), answers);
    if (results) {
      device_.wait(queue::download, device_.record(queue::work));
      device_.copy_out(queue::download, s.host.template data<std::byte>() + plan_.results_at(),
                       reinterpret_cast<const std::byte*>(answers), bitmap_bytes(s.count));
    }
    s.done = device_.record(results ? queue::download : queue::work);
    s.has_results = results;
  }

  /// Waits for a slot's last use and hands its results over.
  std::uint64_t deliver(slot& s, std::uint8_t* bitmap) {
    if (!s.done) return 0;
    device_.finish(*s.done);
    s.done.reset();
    if (!s.has_results) return 0;
    const auto* answers = s.host.template data<std::uint8_t>() + plan_.results_at();
    const std::size_t bytes = bitmap_bytes(s.count);
    if (bitmap != nullptr) std::memcpy(bitmap + s.first / 8, answers, bytes);
    return octobloom::detail::popcount(answers, bytes);
  }

  /// Takes keys from next_key_ on, and copies them into the slot where the device cannot read the
  /// caller's memory; returns the bytes to upload.
  std::size_t fill(slot& s) {
    s.first = next_key_;
    s.kind = keys_.kind();
    if (s.kind == key_kind::strings) return fill_strings(s);
    s.count = std::min(plan_.keys, keys_.size() - next_key_);
    if (!direct_) {
      fillers_.copy(s.host.template data<std::byte>(), keys_.values() + next_key_, s.count * 8);
    }
    return s.count * 8;
  }

  /// Offsets, then bytes. Chunks begin at multiples of 8 keys, as their bits do; eight strings that
  /// do not fit a slot are hashed here.
  std::size_t fill_strings(slot& s) {
    const string_keys& strings = keys_.as_strings();
    const std::uint64_t* offsets = strings.offsets + next_key_;
    const std::size_t most = std::min(plan_.keys, keys_.size() - next_key_);
    const std::size_t room = plan_.results_at();
    const auto size_of = [&](std::size_t count) {
      return (count + 1) * 8 + static_cast<std::size_t>(offsets[count] - offsets[0]);
    };
    std::size_t fits = 0;
    for (std::size_t step = std::bit_floor(most); step > 0; step /= 2) {
      if (fits + step <= most && size_of(fits + step) <= room) fits += step;
    }
    if (fits < most) fits = fits / 8 * 8;
    auto* words = s.host.template data<std::uint64_t>();
    if (fits == 0) {
      s.kind = key_kind::hashes;
      s.count = std::min<std::size_t>(8, most);
      for (std::size_t i = 0; i < s.count; ++i) words[i] = keys_.hash(next_key_ + i, seed_);
      return s.count * 8;
    }
    s.count = fits;
    fillers_.in_parallel(fits + 1, 1 << 17, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) words[i] = offsets[i] - offsets[0];
    });
    fillers_.copy(reinterpret_cast<std::byte*>(words + fits + 1), strings.bytes + offsets[0],
                  static_cast<std::size_t>(offsets[fits] - offsets[0]));
    return size_of(fits);
  }

  [[nodiscard]] gpu::keys device_keys(const slot& s) const {
    const auto* words = s.device.template data<const std::uint64_t>();
    switch (s.kind) {
      case key_kind::integers:
        return gpu::keys::integers(words, s.count).of(keys_.family());
      case key_kind::hashes:
        return gpu::keys::hashes(words, s.count).of(keys_.family());
      case key_kind::strings:
        break;
    }
    return gpu::keys::strings({reinterpret_cast<const char*>(words + s.count + 1), words, s.count,
                               keys_.as_strings().separator})
        .of(keys_.family());
  }

  Device& device_;
  chunk_plan most_;
  slot_fillers fillers_;
  std::vector<slot> slots_;

  // Of the batch.
  key_batch keys_ = key_batch::hashes({});
  std::uint64_t seed_ = 0;
  chunk_plan plan_;
  bool direct_ = false;  ///< from the caller's memory, which is pinned
  std::size_t next_slot_ = 0;
  std::size_t next_key_ = 0;
};

}  // namespace octobloom::gpu::detail
