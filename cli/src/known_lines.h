#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <octobloom/engine.h>
#include <octobloom/facts.h>
#include <octobloom/filter.h>
#include <octobloom/growing_filter.h>
#include <octobloom/windowed_filter.h>

/// What `dedup` remembers lines in.
namespace octobloom::cli {

/// How well the memory of lines has served so far.
struct knowledge {
  double expected_fpr = 0;   ///< the rate now
  double expected_lost = 0;  ///< new lines of this run that were taken for repeats
  bool at_most = false;      ///< that is only a bound: with every bit set nothing can be estimated
};

/// A memory of lines. Not thread safe.
class known_lines {
 public:
  known_lines() = default;
  known_lines(const known_lines&) = delete;
  known_lines& operator=(const known_lines&) = delete;
  virtual ~known_lines() = default;

  /// Marks the new ones among the hashes, in order, and remembers all. Returns how many were new.
  virtual std::uint64_t insert_new(const key_batch& hashes, std::uint8_t* marks) = 0;

  [[nodiscard]] virtual std::uint64_t seed() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;
  /// The distinct lines it was made for, those of earlier runs included; UINT64_MAX where nothing
  /// tells, or where lines come and go.
  [[nodiscard]] virtual std::uint64_t capacity() const noexcept = 0;
  /// Lines of earlier runs and lines told new in this one.
  [[nodiscard]] virtual std::uint64_t held() const noexcept = 0;
  [[nodiscard]] virtual filter_facts facts(reading how) const = 0;
  /// From what facts() just said. `repeats` is how many lines were taken for repeats in this run.
  [[nodiscard]] virtual knowledge assess(const filter_facts& now, std::uint64_t repeats) const = 0;
  virtual void save(const std::string& path) const = 0;
};

/// A filter of one size. `is_new`: nothing is in it, which spares a look at its bits. Here and
/// below `e` works on it.
[[nodiscard]] std::unique_ptr<known_lines> remember_in(filter start, const engine& e,
                                                       bool is_new = false);
/// One that grows: its capacity is without end.
[[nodiscard]] std::unique_ptr<known_lines> remember_in(growing_filter start, const engine& e);
/// A filter of one size that becomes the first level of one that grows, all at `rate`, before it
/// gets more than its plan. Saved as the plain filter that it is, if it never came to that.
[[nodiscard]] std::unique_ptr<known_lines> remember_in(filter start, const engine& e, double rate,
                                                       const growing_options& growing);
/// One that forgets: its capacity is without end, and only repeats within the window are repeats.
[[nodiscard]] std::unique_ptr<known_lines> remember_in(windowed_filter start, const engine& e);
/// The same, with a line known from when it was told new last, not from when it came last.
[[nodiscard]] std::unique_ptr<known_lines> remember_told_in(windowed_filter start, const engine& e);

}  // namespace octobloom::cli
