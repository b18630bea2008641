#include "known_lines.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <octobloom/error.h>
#include <octobloom/opened.h>
#include <octobloom/plan.h>
#include <octobloom/statistics.h>

#include "filters.h"
#include "numbers.h"
#include "process.h"

namespace octobloom::cli {

namespace {

class filter_of_lines : public known_lines {
 public:
  filter_of_lines(filter start, const engine& e, bool is_new)
      : at_start_(is_new ? 0 : distinct_keys(start.statistics(), start.inserted_keys())),
        filter_(std::move(start), e) {}

  std::uint64_t insert_new(const key_batch& hashes, std::uint8_t* marks) override {
    const std::uint64_t fresh = filter_.insert_new(hashes, marks);
    told_new_ += fresh;
    return fresh;
  }

  [[nodiscard]] std::uint64_t seed() const noexcept override { return filter_.unsettled().seed(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept override {
    return filter_.unsettled().bytes();
  }
  [[nodiscard]] std::uint64_t capacity() const noexcept override {
    return filter_.unsettled().planned_keys() > 0 ? filter_.unsettled().planned_keys() : UINT64_MAX;
  }
  [[nodiscard]] std::uint64_t held() const noexcept override {
    return told_new_ + static_cast<std::uint64_t>(at_start_);
  }

  [[nodiscard]] filter_facts facts(reading how) const override {
    return facts_of(filter_.filter(), how);
  }

  [[nodiscard]] knowledge assess(const filter_facts& now, std::uint64_t repeats) const override {
    if (!now.estimated_keys) return {now.current_fpr, static_cast<double>(repeats), true};
    return {now.current_fpr,
            expected_lost(at_start_, *now.estimated_keys, filter_.unsettled().blocks(),
                          filter_.unsettled().k()),
            false};
  }

  void save(const std::string& path) const override { save_whole(filter_.filter(), path); }

  [[nodiscard]] filter release() && { return std::move(filter_).close(); }

 private:
  double at_start_;  // distinct keys of earlier runs
  opened<filter> filter_;
  std::uint64_t told_new_ = 0;
};

/// A filter that has no end.
template <class Filter>
class endless_lines : public known_lines {
 public:
  endless_lines(Filter start, const engine& e) : filter_(std::move(start), e) {}

  std::uint64_t insert_new(const key_batch& hashes, std::uint8_t* marks) override {
    const std::uint64_t fresh = filter_.insert_new(hashes, marks);
    told_new_ += fresh;
    return fresh;
  }

  [[nodiscard]] std::uint64_t seed() const noexcept override { return filter_.unsettled().seed(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept override {
    return filter_.unsettled().bytes();
  }
  [[nodiscard]] std::uint64_t capacity() const noexcept override { return UINT64_MAX; }
  [[nodiscard]] filter_facts facts(reading how) const override {
    return facts_of(filter_.filter(), how);
  }
  void save(const std::string& path) const override { save_whole(filter_.filter(), path); }

 protected:
  opened<Filter> filter_;
  std::uint64_t told_new_ = 0;
};

class growing_lines : public endless_lines<growing_filter> {
 public:
  growing_lines(growing_filter start, const engine& e) : growing_lines(std::move(start), e, 0) {
    lost_before_ = filter_.unsettled().expected_lost();
  }
  growing_lines(growing_filter start, const engine& e, double lost_before)
      : endless_lines(std::move(start), e), lost_before_(lost_before) {}

  std::uint64_t insert_new(const key_batch& hashes, std::uint8_t* marks) override {
    try {
      return endless_lines::insert_new(hashes, marks);
    } catch (const error& problem) {
      if (problem.code() != error_code::full) throw;
      throw error(error_code::full,
                  "the filter has grown to " + grouped(filter_.unsettled().distinct_keys()) +
                      " distinct lines, as far as its rate allows, and would lose more of the next "
                      "ones. Start with -n, the number of distinct lines, or a higher rate");
    }
  }

  [[nodiscard]] std::uint64_t held() const noexcept override {
    return filter_.unsettled().distinct_keys();
  }
  [[nodiscard]] std::span<const filter> levels() const noexcept {
    return filter_.filter().levels();
  }
  [[nodiscard]] knowledge assess(const filter_facts& now, std::uint64_t) const override {
    return {now.current_fpr, filter_.unsettled().expected_lost() - lost_before_};
  }

 private:
  double lost_before_;
};

/// Sized by a guess: plain while that holds.
class guessed_lines : public known_lines {
 public:
  guessed_lines(filter start, const engine& e, double rate, const growing_options& growing)
      : memory_(std::in_place_type<filter_of_lines>, std::move(start), e, true),
        engine_(e),
        rate_(rate),
        growing_(growing) {}

  std::uint64_t insert_new(const key_batch& hashes, std::uint8_t* marks) override {
    if (auto* plain = std::get_if<filter_of_lines>(&memory_)) {
      if (hashes.size() <= plain->capacity() - plain->held()) {
        return plain->insert_new(hashes, marks);
      }
      memory_.emplace<growing_lines>(growing_filter(std::move(*plain).release(), rate_, growing_),
                                     engine_, 0);
    }
    return std::get<growing_lines>(memory_).insert_new(hashes, marks);
  }

  [[nodiscard]] std::uint64_t seed() const noexcept override { return now().seed(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return now().bytes(); }
  [[nodiscard]] std::uint64_t capacity() const noexcept override { return UINT64_MAX; }
  [[nodiscard]] std::uint64_t held() const noexcept override { return now().held(); }
  [[nodiscard]] filter_facts facts(reading how) const override { return now().facts(how); }
  [[nodiscard]] knowledge assess(const filter_facts& facts, std::uint64_t repeats) const override {
    return now().assess(facts, repeats);
  }
  void save(const std::string& path) const override {
    const auto* grown = std::get_if<growing_lines>(&memory_);
    if (grown != nullptr && grown->levels().size() == 1) {
      save_whole(grown->levels()[0], path);
    } else {
      now().save(path);
    }
  }

 private:
  [[nodiscard]] const known_lines& now() const noexcept {
    if (const auto* plain = std::get_if<filter_of_lines>(&memory_)) return *plain;
    return *std::get_if<growing_lines>(&memory_);
  }

  std::variant<filter_of_lines, growing_lines> memory_;
  const engine& engine_;
  double rate_;
  growing_options growing_;
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

class told_lines : public windowed_lines {
 public:
  using windowed_lines::windowed_lines;

  std::uint64_t insert_new(const key_batch& hashes, std::uint8_t* marks) override {
    filter_.may_contain(hashes, marks);
    absent_.clear();
    origins_.clear();
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      if ((marks[i / 8] >> (i % 8) & 1) != 0) continue;
      absent_.push_back(hashes.values()[i]);
      origins_.push_back(i);
    }
    fresh_.resize(bitmap_bytes(absent_.size()));
    const std::uint64_t fresh =
        filter_.insert_new(key_batch::hashes(absent_, hashes.family()), fresh_.data());
    std::fill_n(marks, bitmap_bytes(hashes.size()), std::uint8_t{0});
    for (std::size_t i = 0; i < absent_.size(); ++i) {
      const std::size_t at = origins_[i];
      const unsigned bit = bitmap_get(fresh_.data(), i) ? 1 : 0;
      marks[at / 8] = static_cast<std::uint8_t>(marks[at / 8] | bit << (at % 8));
    }
    told_new_ += fresh;
    return fresh;
  }

 private:
  std::vector<std::uint64_t> absent_;
  std::vector<std::size_t> origins_;
  std::vector<std::uint8_t> fresh_;
};

}  // namespace

std::unique_ptr<known_lines> remember_in(filter start, const engine& e, bool is_new) {
  return std::make_unique<filter_of_lines>(std::move(start), e, is_new);
}

std::unique_ptr<known_lines> remember_in(growing_filter start, const engine& e) {
  return std::make_unique<growing_lines>(std::move(start), e);
}

std::unique_ptr<known_lines> remember_in(filter start, const engine& e, double rate,
                                         const growing_options& growing) {
  return std::make_unique<guessed_lines>(std::move(start), e, rate, growing);
}

std::unique_ptr<known_lines> remember_told_in(windowed_filter start, const engine& e) {
  return std::make_unique<told_lines>(std::move(start), e);
}

std::unique_ptr<known_lines> remember_in(windowed_filter start, const engine& e) {
  return std::make_unique<windowed_lines>(std::move(start), e);
}

}  // namespace octobloom::cli
