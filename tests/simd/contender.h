#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <octobloom/octobloom.h>
#include <octobloom/simd_engine.h>
#include <octobloom/simd_hooks.h>

namespace octobloom::test {

/// A tuning that sends even a handful of keys through the parts: little filters, odd chunks.
inline simd_tuning always_by_parts() {
  return {.partition_from_bytes = 0,
          .partition_answers_from_bytes = 0,
          .blocks_per_key = UINT64_MAX,
          .part_bytes = 256,
          .chunk_keys = 40,
          .copies_from_keys_per_block = SIZE_MAX,
          .keys_per_thread = 1};
}

/// An engine and, for `simd`, the target and the tuning that are forced on it.
struct contender {
  const engine* code;
  std::string target = {};
  std::string path = {};
  std::optional<simd_tuning> tuning = {};

  [[nodiscard]] std::string name() const {
    std::string text = code->name;
    if (!target.empty()) text += "_" + target;
    if (!path.empty()) text += "_" + path;
    return text;
  }
  friend std::ostream& operator<<(std::ostream& out, const contender& c) { return out << c.name(); }
};

/// Forces a contender's target and tuning while it lives.
class in_force {
 public:
  explicit in_force(const contender& c) {
    if (!c.target.empty()) target_.emplace(c.target);
    if (c.tuning) tuning_.emplace(*c.tuning);
  }

 private:
  std::optional<simd_override> target_;
  std::optional<simd_override> tuning_;
};

/// Everything that has to agree with the reference engine to the bit. Extended by a line.
inline std::vector<contender> contenders() {
  std::vector<contender> all{{.code = &reference_engine()}};
  for (const std::string& target : simd_targets()) {
    all.push_back({.code = &simd_engine(), .target = target});
    all.push_back({.code = &simd_engine(),
                   .target = target,
                   .path = "by_parts",
                   .tuning = always_by_parts()});
  }
  return all;
}

}  // namespace octobloom::test
