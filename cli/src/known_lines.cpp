#include "known_lines.h"

#include <algorithm>
#include <utility>

#include <octobloom/plan.h>
#include <octobloom/statistics.h>

#include "filters.h"
#include "process.h"

namespace octobloom::cli {

namespace {

class filter_of_lines : public known_lines {
 public:
  filter_of_lines(filter start, bool is_new)
      : filter_(std::move(start)),
        at_start_(is_new ? 0 : distinct_keys(filter_.statistics(), filter_.inserted_keys())) {}

  std::uint64_t insert_new(const engine&, const key_batch& hashes, std::uint8_t* marks) override {
    const std::uint64_t fresh = filter_.insert_new(hashes, marks);
    told_new_ += fresh;
    return fresh;
  }

  [[nodiscard]] std::uint64_t seed() const noexcept override { return filter_.seed(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return filter_.bytes(); }
  [[nodiscard]] std::uint64_t capacity() const noexcept override {
    return filter_.planned_keys() > 0 ? filter_.planned_keys() : UINT64_MAX;
  }
  [[nodiscard]] std::uint64_t held() const noexcept override {
    return told_new_ + static_cast<std::uint64_t>(at_start_);
  }

  [[nodiscard]] filter_facts facts(reading how) const override { return facts_of(filter_, how); }

  [[nodiscard]] knowledge assess(const filter_facts& now, std::uint64_t repeats) const override {
    if (!now.estimated_keys) return {now.current_fpr, static_cast<double>(repeats), true};
    return {now.current_fpr,
            expected_lost(at_start_, *now.estimated_keys, filter_.blocks(), filter_.k()), false};
  }

  void save(const std::string& path) const override { save_whole(filter_, path); }

 private:
  filter filter_;
  double at_start_;  // distinct keys of earlier runs
  std::uint64_t told_new_ = 0;
};

/// A filter that asks the default engine, and has no end.
template <class Filter>
class endless_lines : public known_lines {
 public:
  explicit endless_lines(Filter start) : filter_(std::move(start)) {}

  std::uint64_t insert_new(const engine&, const key_batch& hashes, std::uint8_t* marks) override {
    const std::uint64_t fresh = filter_.insert_new(hashes, marks);
    told_new_ += fresh;
    return fresh;
  }

  [[nodiscard]] std::uint64_t seed() const noexcept override { return filter_.seed(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return filter_.bytes(); }
  [[nodiscard]] std::uint64_t capacity() const noexcept override { return UINT64_MAX; }
  [[nodiscard]] filter_facts facts(reading how) const override { return facts_of(filter_, how); }
  void save(const std::string& path) const override { save_whole(filter_, path); }

 protected:
  Filter filter_;
  std::uint64_t told_new_ = 0;
};

class growing_lines : public endless_lines<growing_filter> {
 public:
  explicit growing_lines(growing_filter start)
      : endless_lines(std::move(start)), lost_before_(filter_.expected_lost()) {}

  [[nodiscard]] std::uint64_t held() const noexcept override { return filter_.distinct_keys(); }
  [[nodiscard]] knowledge assess(const filter_facts& now, std::uint64_t) const override {
    return {now.current_fpr, filter_.expected_lost() - lost_before_};
  }

 private:
  double lost_before_;
};

class windowed_lines : public endless_lines<windowed_filter> {
 public:
  using endless_lines::endless_lines;

  [[nodiscard]] std::uint64_t held() const noexcept override { return told_new_; }
  [[nodiscard]] knowledge assess(const filter_facts& now, std::uint64_t repeats) const override {
    // The rate of a window in use stays where it is, a little below its target.
    const double rate = now.current_fpr;
    const double lost = rate >= 1 ? static_cast<double>(repeats)
                                  : static_cast<double>(told_new_) * rate / (1 - rate);
    return {rate, std::min(lost, static_cast<double>(repeats))};
  }
};

}  // namespace

std::unique_ptr<known_lines> remember_in(filter start, bool is_new) {
  return std::make_unique<filter_of_lines>(std::move(start), is_new);
}

std::unique_ptr<known_lines> remember_in(growing_filter start) {
  return std::make_unique<growing_lines>(std::move(start));
}

std::unique_ptr<known_lines> remember_in(windowed_filter start) {
  return std::make_unique<windowed_lines>(std::move(start));
}

}  // namespace octobloom::cli
