#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace octobloom::emulated_device {

/// What no program may do, and what a real runtime need not notice.
[[noreturn]] inline void misuse(const std::string& what) {
  std::fprintf(stderr, "emulated device: %s\n", what.c_str());
  std::abort();
}

}  // namespace octobloom::emulated_device
