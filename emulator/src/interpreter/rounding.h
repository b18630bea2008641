#pragma once

#include <cfenv>

#include "interpreter/integers.h"

namespace octobloom::ptx {

// A rounding mode other than to-nearest, for the length of a scope: 0 rn, 1 rz, 2 rm, 3 rp.
struct rounding_scope {
  int old = FE_TONEAREST;
  explicit rounding_scope(u8 mode) : active(mode != 0) {
    if (!active) return;
    old = std::fegetround();
    std::fesetround(mode == 1 ? FE_TOWARDZERO : mode == 2 ? FE_DOWNWARD : FE_UPWARD);
  }
  ~rounding_scope() {
    if (active) std::fesetround(old);
  }
  bool active;
};

}  // namespace octobloom::ptx
