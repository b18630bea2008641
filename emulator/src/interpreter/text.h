#pragma once

#include <string>

#include "interpreter/integers.h"

namespace octobloom::ptx {

/// As printf does it.
std::string format(const char* f, ...) __attribute__((format(__printf__, 1, 2)));
std::string hex(u64 v);
std::string mask_text(u32 m);
std::string demangle(const std::string& name);
[[noreturn]] void bad_ptx(u32 line, const std::string& what);

}  // namespace octobloom::ptx
