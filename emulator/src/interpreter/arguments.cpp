#include <octobloom/emulator/interpreter.h>

#include <algorithm>
#include <utility>

#include "interpreter/integers.h"

namespace octobloom::ptx {

const char* name_of(fault_kind k) {
  switch (k) {
    case fault_kind::usage:
      return "usage";
    case fault_kind::unsupported:
      return "unsupported";
    case fault_kind::out_of_bounds:
      return "out of bounds";
    case fault_kind::misaligned:
      return "misaligned";
    case fault_kind::read_only:
      return "read-only";
    case fault_kind::uninitialised:
      return "uninitialised";
    case fault_kind::sync:
      return "sync";
    case fault_kind::deadlock:
      return "deadlock";
    case fault_kind::trap:
      return "trap";
    case fault_kind::race:
      return "race";
    case fault_kind::limit:
      return "limit";
  }
  return "?";
}

argument argument::raw(const void* from, std::size_t size, std::size_t align) {
  argument a;
  a.kind = kind_type::bytes;
  a.bytes.assign(static_cast<const u8*>(from), static_cast<const u8*>(from) + size);
  a.align = align;
  return a;
}
argument argument::in(const void* host, std::size_t bytes, std::int64_t offset) {
  argument a = inout(const_cast<void*>(host), bytes, offset);
  a.writable = false;
  return a;
}
argument argument::inout(void* host, std::size_t bytes, std::int64_t offset) {
  argument a;
  a.kind = kind_type::buffer;
  a.align = 8;
  a.host = host;
  a.size = bytes;
  a.offset = offset;
  a.writable = true;
  return a;
}
argument argument::record(std::vector<argument> fields) {
  argument a;
  a.kind = kind_type::record;
  a.fields = std::move(fields);
  for (const argument& f : a.fields) a.align = std::max(a.align, f.align);
  return a;
}

}  // namespace octobloom::ptx
