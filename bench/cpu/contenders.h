#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "keys.h"

namespace octobloom::bench {

/// What is measured: a set of keys, exact or approximate.
class structure {
 public:
  structure() = default;
  virtual ~structure() = default;
  structure(const structure&) = delete;
  structure& operator=(const structure&) = delete;

  /// Adds members, on all cores where it can, before anything is measured.
  virtual void fill(const key_set& keys) { insert(keys, 1); }
  /// Whether another contender has filled it, where several work on one filter.
  [[nodiscard]] virtual bool filled() const { return false; }
  /// Called once, after the filling: for checks, and for choices between the ways that a peer
  /// offers. `members` are in the set.
  virtual void prepare(const key_set& /*members*/) {}

  virtual void insert(const key_set& keys, unsigned threads) = 0;
  /// Returns the number of keys found where the contender tells it.
  virtual std::uint64_t may_contain(const key_set& keys, std::uint8_t* bitmap,
                                    unsigned threads) = 0;
  virtual std::uint64_t insert_new(const key_set&, std::uint8_t*, unsigned /*threads*/) {
    return 0;
  }
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// What prepare() chose.
  [[nodiscard]] virtual std::string label() const { return {}; }
};

enum class operation : std::uint8_t { may_contain, insert, insert_new };

/// A row of the list of those who compete.
struct contender {
  std::string name;
  /// For `keys` keys; a filter takes `bytes` bytes.
  std::unique_ptr<structure> (*make)(std::uint64_t keys, std::uint64_t bytes);
  std::vector<operation> operations;
  bool strings = false;                 ///< takes strings too
  bool threads = false;                 ///< takes a number of threads
  bool common_only = false;             ///< at 10 bits a key, half of the keys found, one thread;
                                        ///< strings only in a full run
  bool answers = true;                  ///< may_contain says which keys it found
  std::uint64_t from_bytes = 0;         ///< the smallest filter
  std::uint64_t to_bytes = UINT64_MAX;  ///< and the largest
  bool slow = false;                    ///< takes fewer keys a call
  double bytes_per_key = 0;             ///< of exact sets, to leave out what would not fit
};

[[nodiscard]] const std::vector<contender>& contenders();

/// Eight words of a block gathered for as many keys as a vector holds: what the engine's kernels,
/// which take a whole block for one key, are compared with. For k up to 8.
std::unique_ptr<structure> make_vertical(std::uint64_t keys, std::uint64_t bytes);
std::unique_ptr<structure> make_vertical_k8(std::uint64_t keys, std::uint64_t bytes);
#ifdef OCTOBLOOM_BENCH_ABSEIL
std::unique_ptr<structure> make_abseil(std::uint64_t keys, std::uint64_t bytes);
#endif
#ifdef OCTOBLOOM_BENCH_ARROW
std::unique_ptr<structure> make_acero(std::uint64_t keys, std::uint64_t bytes);
std::unique_ptr<structure> make_parquet(std::uint64_t keys, std::uint64_t bytes);
[[nodiscard]] std::uint64_t largest_parquet();
#endif

/// Collects answers, eight a byte.
class bitmap_writer {
 public:
  explicit bitmap_writer(std::uint8_t* bitmap) noexcept : at_(bitmap) {}
  void push(bool answer) noexcept {
    byte_ |= static_cast<unsigned>(answer) << bits_;
    count_ += answer ? 1 : 0;
    if (++bits_ == 8) flush();
  }
  void flush() noexcept {
    *at_++ = static_cast<std::uint8_t>(byte_);
    byte_ = 0;
    bits_ = 0;
  }
  std::uint64_t finish() noexcept {
    if (bits_ > 0) flush();
    return count_;
  }

 private:
  std::uint8_t* at_;
  unsigned byte_ = 0;
  unsigned bits_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace octobloom::bench
