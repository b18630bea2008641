// Conversions between types.

#include <cmath>
#include <limits>
#include <type_traits>

#include "interpreter/decoder.h"
#include "interpreter/lanes.h"
#include "interpreter/operations.h"
#include "interpreter/rounding.h"

namespace octobloom::ptx {

namespace {

// Conversions. opt: 0 truncate/none, 1 rni, 2 rzi, 3 rmi, 4 rpi (to integer); opt2: saturate.
template <class S>
double round_as(u8 mode, S v) {
  switch (mode) {
    case 1:
      return std::nearbyint(double(v));
    case 3:
      return std::floor(double(v));
    case 4:
      return std::ceil(double(v));
    default:
      return std::trunc(double(v));
  }
}
template <class D, class S>
D convert(S v, u8 round, bool sat) {
  if constexpr (std::is_floating_point<S>::value && std::is_integral<D>::value) {
    if (v != v)
      return sizeof(S) < 8 && sizeof(D) < 8 ? D(0) : D(unsigned_of<D>(1) << (sizeof(D) * 8 - 1));
    const double r = round_as(round, v);
    if (r <= double(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
    if (r >= double(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
    return D(r);
  } else if constexpr (std::is_integral<S>::value && std::is_integral<D>::value) {
    if (sat) {
      const s128 w = v;
      if (w < s128(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
      if (w > s128(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
    }
    return D(v);
  } else {
    D r = D(v);
    if constexpr (std::is_floating_point<S>::value)
      if (round && sizeof(S) == sizeof(D)) r = D(round_as(round, v));
    if (sat) r = r != r ? D(0) : r < D(0) ? D(0) : r > D(1) ? D(1) : r;
    return r;
  }
}
template <class D, class S>
void h_cvt(machine& x, const instruction& i, u32 m) {
  const u64* a = x.src(i.a);
  const u64 dm = i.dmask;
  auto extend = [](D v) {
    if constexpr (std::is_integral<D>::value)
      return u64(s64(v));
    else
      return bits_of(v);
  };
  if (std::is_integral<S>::value && std::is_integral<D>::value && !i.opt2) {
    for_lanes(m, x.dst(i.d), [=](u32 l) {
      const D v = D(value_of<S>(a[l]));
      return (std::is_signed<D>::value ? extend(v) : bits_of(v)) & dm;
    });
    return;
  }
  u64* d = x.dst(i.d);
  rounding_scope mode(u8(i.imm));
  for_each_lane(m, [&](u32 l) {
    volatile S from = value_of<S>(a[l]);
    const D v = convert<D, S>(from, i.opt, i.opt2);
    d[l] = (std::is_signed<D>::value && std::is_integral<D>::value ? extend(v) : bits_of(v)) & dm;
  });
}

template <class D>
handler cvt_from(data_type s) {
  switch (s) {
    case U8:
    case B8:
      return h_cvt<D, u8>;
    case S8:
      return h_cvt<D, s8>;
    case U16:
    case B16:
      return h_cvt<D, u16>;
    case S16:
      return h_cvt<D, s16>;
    case U32:
    case B32:
      return h_cvt<D, u32>;
    case S32:
      return h_cvt<D, s32>;
    case U64:
    case B64:
      return h_cvt<D, u64>;
    case S64:
      return h_cvt<D, s64>;
    case F32:
      return h_cvt<D, float>;
    case F64:
      return h_cvt<D, double>;
    default:
      return nullptr;
  }
}
void decode_cvt(decoder& d) {
  d.in.cls = class_convert;
  const data_type to = d.type(0), from = d.type(1);
  d.in.d = d.dest(0);
  d.in.a = d.source(1, from);
  const char* int_modes[] = {"rni", "rzi", "rmi", "rpi"};
  for (u8 k = 0; k < 4; ++k)
    if (d.has(int_modes[k])) d.in.opt = u8(k + 1);
  d.in.imm = d.float_rounding();
  d.in.opt2 = d.has("sat");
  d.ignore({"ftz"});
  handler h = nullptr;
  switch (to) {
    case U8:
    case B8:
      h = cvt_from<u8>(from);
      break;
    case S8:
      h = cvt_from<s8>(from);
      break;
    case U16:
    case B16:
      h = cvt_from<u16>(from);
      break;
    case S16:
      h = cvt_from<s16>(from);
      break;
    case U32:
    case B32:
      h = cvt_from<u32>(from);
      break;
    case S32:
      h = cvt_from<s32>(from);
      break;
    case U64:
    case B64:
      h = cvt_from<u64>(from);
      break;
    case S64:
      h = cvt_from<s64>(from);
      break;
    case F32:
      h = cvt_from<float>(from);
      break;
    case F64:
      h = cvt_from<double>(from);
      break;
    default:
      break;
  }
  d.need(h);
}

}  // namespace

void add_conversions(decode_rows& rows) {
  rows.insert({
      {"cvt", decode_cvt},
  });
}

}  // namespace octobloom::ptx
