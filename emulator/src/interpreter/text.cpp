#include "interpreter/text.h"

#include <cxxabi.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include <octobloom/emulator/interpreter.h>

namespace octobloom::ptx {

std::string format(const char* f, ...) {
  va_list ap;
  va_start(ap, f);
  char buf[2048];
  std::vsnprintf(buf, sizeof buf, f, ap);
  va_end(ap);
  return buf;
}
std::string hex(u64 v) {
  return format("0x%llx", static_cast<unsigned long long>(v));
}
std::string mask_text(u32 m) {
  return format("0x%08x", m);
}

std::string demangle(const std::string& name) {
  if (name.compare(0, 2, "_Z") != 0) return name;
  int status = 0;
  char* d = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && d ? d : name;
  std::free(d);
  return out;
}

void bad_ptx(u32 line, const std::string& what) {
  throw kernel_fault(fault_kind::usage, format("PTX line %u: %s", line, what.c_str()));
}

}  // namespace octobloom::ptx
