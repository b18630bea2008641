#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "guard.h"

/// Structs that begin with their size, so that they can grow.
namespace octobloom::c {

/// Throws error{invalid_argument} for a size that cannot be meant. `name` is that of the type.
template <class Struct>
std::size_t checked_size(const Struct& given, const char* name) {
  constexpr std::size_t most = 4096;
  if (given.size < sizeof(Struct) || given.size > most) {
    refuse(std::string("the size of an ") + name + " is sizeof(" + name + "), " +
           std::to_string(sizeof(Struct)) + " here, not " + std::to_string(given.size));
  }
  return given.size;
}

/// The caller's options, zeros for a null pointer.
template <class Options>
Options read_sized(const Options* given, const char* name) {
  if (given == nullptr) return {};
  const std::size_t size = checked_size(*given, name);
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  if (std::any_of(bytes + sizeof(Options), bytes + size, [](unsigned char b) { return b != 0; })) {
    refuse(std::string("this library is too old for what is set in the ") + name +
           " behind its first " + std::to_string(sizeof(Options)) + " bytes");
  }
  return *given;
}

/// Fills the caller's result.
template <class Result>
void write_sized(Result value, Result& out, const char* name) {
  const std::size_t size = checked_size(out, name);
  value.size = size;
  std::memcpy(&out, &value, sizeof value);
  std::memset(reinterpret_cast<unsigned char*>(&out) + sizeof value, 0, size - sizeof value);
}

}  // namespace octobloom::c
