#include <octobloom/plan.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <octobloom/error.h>

// The rate of a block filter is an average over the loads of its blocks, which are Poisson with
// mean lambda. With A_b(l) from
//     E[(X/64)^b after t balls] = sum over l of A_b(l) (1 - l/64)^t,     X = bits set of a word's
//     64,
// full rounds see independent words given the load; a partial round ties them together by the keys'
// starts. docs/format.md has the derivation.
namespace octobloom {

namespace {

constexpr unsigned words = rot8::words_per_block;
constexpr double cells = 64;
constexpr std::uint64_t max_blocks = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t hash_range = std::uint64_t{1} << 32;
constexpr unsigned max_probes = rot8::max_k / words;  // of one word, by one key

using expansion = std::array<double, max_probes + 2>;  // A_b(0) to A_b(b)

/// A_b: the chance that b probes of one word hit d distinct cells, S(b, d) 64!/(64-d)!/64^b, times
/// inclusion and exclusion over those.
expansion expand(unsigned probes) {
  std::array<double, max_probes + 2> distinct{1};  // chances of d distinct cells so far
  for (unsigned b = 0; b < probes; ++b) {
    for (unsigned d = b + 1; d > 0; --d) {
      distinct[d] = distinct[d] * (d / cells) + distinct[d - 1] * ((cells - (d - 1)) / cells);
    }
    distinct[0] = 0;
  }
  expansion a{};
  for (unsigned d = 0; d <= probes; ++d) {
    double choose = 1;  // binomial(d, l)
    for (unsigned l = 0; l <= d; ++l) {
      a[l] += (l % 2 == 0 ? 1 : -1) * choose * distinct[d];
      choose = choose * (d - l) / (l + 1);
    }
  }
  return a;
}

double power(double base, unsigned exponent) {
  double result = 1;
  for (; exponent > 0; --exponent) result *= base;
  return result;
}

/// The rate as a function of lambda, for one k.
class rate_model {
 public:
  explicit rate_model(std::uint32_t k)
      : rounds_(k / words), rest_(k % words), by_load_(rates_by_load()) {
    if (rest_ > 0) collect_terms();
  }

  /// Takes the words of a partial round as independent: exact for full rounds, otherwise up to 1.4
  /// % off, and fast.
  [[nodiscard]] double approximate(double lambda) const {
    if (lambda <= 0) return 0;
    if (lambda >= saturated_load) return 1;
    const auto mode = static_cast<std::size_t>(lambda);
    double weights = 0;
    double sum = 0;
    const auto add = [&](std::size_t load, double weight) {
      weights += weight;
      sum += weight * by_load_[std::min(load, by_load_.size() - 1)];
    };
    constexpr double negligible = 1e-40;
    double weight = 1;
    for (std::size_t i = mode; weight > negligible; ++i) {
      add(i, weight);
      weight *= lambda / static_cast<double>(i + 1);
    }
    weight = 1;
    for (std::size_t i = mode; i > 0 && weight > negligible; --i) {
      weight *= static_cast<double>(i) / lambda;
      add(i - 1, weight);
    }
    return sum / weights;
  }

  /// The exact rate, keys with equal pattern sources included.
  [[nodiscard]] double exact(double lambda) const {
    double rate = 0;
    if (rest_ == 0 || lambda >= saturated_load) {
      rate = approximate(lambda);
    } else {
      for (const term& t : terms_) rate += t.coefficient * std::exp(lambda * t.exponent);
    }
    const double equal_sources = lambda / static_cast<double>(hash_range);
    return std::clamp(rate + equal_sources, 0.0, 1.0);
  }

 private:
  struct term {
    double exponent;
    double coefficient;
  };

  static constexpr double saturated_load = 4096;  // (63/64)^4096 is 1e-28: every bit is set

  /// E[(X/64)^probes] of a word, as keys with independent extra balls come one by one.
  class word_moment {
   public:
    word_moment(unsigned probes, unsigned rounds, unsigned rest)
        : coefficients_(expand(probes)), probes_(probes) {
      for (unsigned l = 0; l <= probes; ++l) {
        const double missed = 1 - l / cells;
        per_key_[l] = power(missed, rounds) * (1 - rest / double{words} * (1 - missed));
        missed_[l] = 1;
      }
    }
    [[nodiscard]] double value() const {
      double moment = 0;
      for (unsigned l = 0; l <= probes_; ++l) moment += coefficients_[l] * missed_[l];
      return std::max(moment, 0.0);
    }
    void add_key() {
      for (unsigned l = 0; l <= probes_; ++l) missed_[l] *= per_key_[l];
    }

   private:
    expansion coefficients_;
    expansion per_key_{};
    expansion missed_{};
    unsigned probes_;
  };

  [[nodiscard]] std::vector<double> rates_by_load() const {
    word_moment full(rounds_, rounds_, rest_);
    word_moment extra(rounds_ + 1, rounds_, rest_);
    std::vector<double> rates(static_cast<std::size_t>(saturated_load));
    for (double& rate : rates) {
      rate = power(full.value(), words - rest_);
      if (rest_ > 0) rate *= power(extra.value(), rest_);
      full.add_key();
      extra.add_key();
    }
    return rates;
  }

  /// All (l_0 ... l_7), those with equal exponents taken together.
  void collect_terms() {
    const expansion full = expand(rounds_);
    const expansion extra = expand(rounds_ + 1);
    const auto probes = [&](unsigned w) { return rounds_ + (w < rest_ ? 1 : 0); };
    std::array<unsigned, words> l{};
    while (true) {
      double coefficient = 1;
      std::array<double, words> missed;
      double all_rounds = 1;
      for (unsigned w = 0; w < words; ++w) {
        coefficient *= (w < rest_ ? extra : full)[l[w]];
        missed[w] = 1 - l[w] / cells;
        all_rounds *= power(missed[w], rounds_);
      }
      double partial = 0;
      for (unsigned start = 0; start < words; ++start) {
        double window = 1;
        for (unsigned i = 0; i < rest_; ++i) window *= missed[(start + i) % words];
        partial += window;
      }
      terms_.push_back({all_rounds * partial / words - 1, coefficient});
      unsigned w = 0;
      while (w < words && l[w] == probes(w)) l[w++] = 0;
      if (w == words) break;
      ++l[w];
    }
    std::sort(terms_.begin(), terms_.end(),
              [](const term& a, const term& b) { return a.exponent < b.exponent; });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < terms_.size(); ++i) {
      if (terms_[i].exponent - terms_[kept].exponent < 1e-13) {
        terms_[kept].coefficient += terms_[i].coefficient;
      } else {
        terms_[++kept] = terms_[i];
      }
    }
    terms_.resize(kept + 1);
    terms_.shrink_to_fit();
  }

  unsigned rounds_;
  unsigned rest_;
  std::vector<double> by_load_;
  std::vector<term> terms_;
};

/// Made when first asked for. Not by std::call_once: an exception that leaves it, when memory is
/// refused, has glibc load a library, which aborts when that memory is refused too.
const rate_model& model(std::uint32_t k) {
  static std::mutex making;
  static std::array<std::unique_ptr<const rate_model>, rot8::max_k + 1> models;
  static std::array<std::atomic<const rate_model*>, rot8::max_k + 1> made{};
  if (const rate_model* known = made[k].load(std::memory_order_acquire)) return *known;
  const std::lock_guard lock(making);
  if (!models[k]) models[k] = std::make_unique<const rate_model>(k);
  made[k].store(models[k].get(), std::memory_order_release);
  return *models[k];
}

/// The exact rate, uneven shares of the hash range counted: a block is met by v or v + 1 values of
/// the upper half of the hash. Below 2^20 blocks that changes the rate by less than one in 10^6.
double exact_rate(double n, std::uint64_t blocks, std::uint32_t k) {
  const std::uint64_t v = hash_range / blocks;
  const std::uint64_t longer = hash_range % blocks;
  if (longer == 0 || v >= 4096) return model(k).exact(n / static_cast<double>(blocks));
  const auto rate_of = [&](std::uint64_t values, std::uint64_t count) {
    const double share = static_cast<double>(values) / static_cast<double>(hash_range);
    return share * static_cast<double>(count) * model(k).exact(n * share);
  };
  return rate_of(v, blocks - longer) + rate_of(v + 1, longer);
}

/// The largest lambda whose approximate rate is at most p.
double approximate_load(std::uint32_t k, double p) {
  double low = std::log(1e-12);
  double high = std::log(4096.0);
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (model(k).approximate(std::exp(middle)) <= p ? low : high) = middle;
  }
  return std::exp(low);
}

/// The fewest blocks for which k reaches p, from an estimate by a secant on logarithms and then
/// block by block. Above max_blocks when there are none.
std::uint64_t fewest_blocks(double n, double p, std::uint32_t k, double estimate) {
  const auto limited = [](double blocks) {
    return std::clamp(blocks, 1.0, static_cast<double>(max_blocks));
  };
  const auto excess = [&](double blocks) {
    const double lambda = n / blocks;
    return std::log(std::max(model(k).exact(lambda), 1e-300) / p);
  };
  double x0 = std::log(estimate);
  double x1 = x0 + 1e-3;
  double f0 = excess(std::exp(x0));
  for (int i = 0; i < 8; ++i) {
    const double f1 = excess(std::exp(x1));
    if (f1 == f0) break;
    const double x2 = x1 - f1 * (x1 - x0) / (f1 - f0);
    x0 = x1;
    f0 = f1;
    x1 = x2;
    if (std::abs(x1 - x0) < 1e-10) break;
  }
  auto blocks = static_cast<std::uint64_t>(limited(std::ceil(std::exp(x1))));
  while (blocks > 1 && exact_rate(n, blocks - 1, k) <= p) --blocks;
  // Uneven shares can ask for a few per cent more than the even estimate: go up in growing steps,
  // then back by halves.
  std::uint64_t step = 1;
  std::uint64_t failed = blocks - 1;
  while (exact_rate(n, blocks, k) > p) {
    if (blocks == max_blocks) return max_blocks + 1;
    failed = blocks;
    blocks = std::min(blocks + step, max_blocks);
    step *= 2;
  }
  while (blocks - failed > 1) {
    const std::uint64_t middle = failed + (blocks - failed) / 2;
    (exact_rate(n, middle, k) <= p ? blocks : failed) = middle;
  }
  return blocks;
}

[[noreturn]] void refuse(const std::string& message) {
  throw error(error_code::invalid_argument, message);
}

void require_keys(std::uint64_t n) {
  if (n == 0) refuse("a filter is planned for at least 1 key, not 0: use 1 for an empty set");
}

void require_k(std::uint32_t k) {
  if (k < 1 || k > rot8::max_k) refuse("k is from 1 to 24, not " + std::to_string(k));
}

}  // namespace

classic_plan classic_plan_for(std::uint64_t n, double p) {
  const double ln2 = std::log(2.0);
  const auto keys = static_cast<double>(n);
  const double bits = std::ceil(-keys * std::log(p) / (ln2 * ln2));
  const double k = std::max(1.0, std::round(bits / keys * ln2));
  return {static_cast<std::uint64_t>(bits), static_cast<std::uint32_t>(k),
          std::pow(-std::expm1(-k * keys / bits), k)};
}

plan plan_for(std::uint64_t n, double p) {
  require_keys(n);
  if (!(p >= min_target_fpr && p < 1)) {
    refuse("the target rate is from 1e-8 up to, not including, 1 (given: " + std::to_string(p) +
           "): a 32-bit part of the hash chooses a key's bits, which sets that floor");
  }
  const auto keys = static_cast<double>(n);
  std::array<double, rot8::max_k + 1> estimates{};
  double best_estimate = std::numeric_limits<double>::infinity();
  for (std::uint32_t k = 1; k <= rot8::max_k; ++k) {
    estimates[k] = keys / approximate_load(k, p);
    best_estimate = std::min(best_estimate, estimates[k]);
  }
  if (best_estimate > 1.2 * static_cast<double>(max_blocks)) {
    refuse(std::to_string(n) +
           " keys at this rate need more than 2^32 blocks (256 GiB), the most "
           "that a filter can have: split the keys or accept a higher rate");
  }
  constexpr double approximation = 1.02;  // how far the estimates may be off, in blocks
  std::uint64_t blocks = max_blocks + 1;
  for (std::uint32_t k = 1; k <= rot8::max_k; ++k) {
    if (estimates[k] <= approximation * best_estimate + 1) {
      blocks = std::min(blocks, fewest_blocks(keys, p, k, estimates[k]));
    }
  }
  if (blocks > max_blocks) {
    refuse(std::to_string(n) +
           " keys at this rate need more than 2^32 blocks (256 GiB), the most "
           "that a filter can have: split the keys or accept a higher rate");
  }
  for (std::uint32_t k = 1; k <= rot8::max_k; ++k) {
    if (estimates[k] > approximation * static_cast<double>(blocks) + 1) continue;
    const double rate = exact_rate(keys, blocks, k);
    if (rate <= p) {
      return {n, p, static_cast<std::uint32_t>(blocks), k, rate, classic_plan_for(n, p)};
    }
  }
  refuse("no plan was found for " + std::to_string(n) + " keys");
}

plan plan_with_memory(std::uint64_t bytes, std::uint64_t n) {
  require_keys(n);
  const std::uint64_t blocks = std::min(bytes / rot8::bytes_per_block, max_blocks);
  if (blocks == 0) refuse("a filter needs at least 64 bytes, not " + std::to_string(bytes));
  const auto keys = static_cast<double>(n);
  const double lambda = keys / static_cast<double>(blocks);
  std::array<double, rot8::max_k + 1> estimates{};
  double best_estimate = 1;
  for (std::uint32_t k = 1; k <= rot8::max_k; ++k) {
    estimates[k] = model(k).approximate(lambda);
    best_estimate = std::min(best_estimate, estimates[k]);
  }
  plan best{.expected_keys = n,
            .target_fpr = 0,
            .blocks = static_cast<std::uint32_t>(blocks),
            .k = 0,
            .expected_fpr = 2,
            .classic = {}};
  for (std::uint32_t k = 1; k <= rot8::max_k; ++k) {
    if (estimates[k] > 1.05 * best_estimate + 1e-12) continue;
    const double rate = exact_rate(keys, blocks, k);
    if (rate < best.expected_fpr) {
      best.k = k;
      best.expected_fpr = rate;
    }
  }
  return best;
}

plan plan_with_blocks(std::uint64_t blocks, std::uint32_t k) {
  require_k(k);
  if (blocks < 1 || blocks > max_blocks) {
    refuse("a filter has from 1 to 4294967295 blocks of 64 bytes, not " + std::to_string(blocks));
  }
  plan result;
  result.blocks = static_cast<std::uint32_t>(blocks);
  result.k = k;
  return result;
}

plan plan_with_bits(std::uint64_t total_bits, std::uint32_t k) {
  constexpr std::uint64_t per_block = rot8::bits_per_block;
  return plan_with_blocks(total_bits / per_block + (total_bits % per_block != 0 ? 1 : 0), k);
}

double expected_fpr(double n, std::uint32_t blocks, std::uint32_t k) {
  require_k(k);
  if (blocks == 0 || !(n >= 0)) refuse("a rate needs at least one block and a number of keys");
  return n == 0 ? 0 : exact_rate(n, blocks, k);
}

double expected_lost(double from, double to, std::uint32_t blocks, std::uint32_t k) {
  if (!(to > from)) return 0;
  // Simpson's rule; the rate is smooth.
  constexpr int intervals = 256;
  const double step = (to - from) / intervals;
  double sum = expected_fpr(from, blocks, k) + expected_fpr(to, blocks, k);
  for (int i = 1; i < intervals; ++i) {
    sum += (i % 2 == 0 ? 2 : 4) * expected_fpr(from + i * step, blocks, k);
  }
  return sum * step / 3;
}

}  // namespace octobloom
