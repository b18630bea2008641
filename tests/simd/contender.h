#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <octobloom/octobloom.h>
#include <octobloom/simd_engine.h>

namespace octobloom::test {

/// An engine and, for `simd`, the target that is forced on it.
struct contender {
  const engine* code;
  std::string target;

  [[nodiscard]] std::string name() const {
    return std::string(code->name) + (target.empty() ? "" : "_" + target);
  }
  /// Keeps the target forced while the result lives.
  [[nodiscard]] std::unique_ptr<simd_override> force() const {
    return target.empty() ? nullptr : std::make_unique<simd_override>(target);
  }
  friend std::ostream& operator<<(std::ostream& out, const contender& c) { return out << c.name(); }
};

/// Everything that has to agree with the reference engine to the bit. Extended by a line.
inline std::vector<contender> contenders() {
  std::vector<contender> all{{&reference_engine(), ""}};
  for (const std::string& target : simd_targets()) all.push_back({&simd_engine(), target});
  return all;
}

}  // namespace octobloom::test
