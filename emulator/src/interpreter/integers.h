#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace octobloom::ptx {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

constexpr u32 warp_lanes = 32;
constexpr u32 all_lanes = 0xffffffffu;

// Registers hold 64 bits whatever their type; the upper ones of narrower types are zero.
template <class T>
inline T value_of(u64 bits) {
  T v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}
template <class T>
inline u64 bits_of(T v) {
  u64 b = 0;
  std::memcpy(&b, &v, sizeof v);
  return b;
}
template <>
inline u64 value_of<u64>(u64 b) {
  return b;
}
template <>
inline u32 value_of<u32>(u64 b) {
  return u32(b);
}
template <>
inline s32 value_of<s32>(u64 b) {
  return s32(u32(b));
}
template <>
inline s64 value_of<s64>(u64 b) {
  return s64(b);
}
template <>
inline u64 bits_of<u64>(u64 v) {
  return v;
}
template <>
inline u64 bits_of<u32>(u32 v) {
  return v;
}
template <>
inline u64 bits_of<s32>(s32 v) {
  return u32(v);
}
template <>
inline u64 bits_of<s64>(s64 v) {
  return u64(v);
}

}  // namespace octobloom::ptx
