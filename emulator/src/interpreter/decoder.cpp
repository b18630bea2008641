#include "interpreter/decoder.h"

namespace octobloom::ptx {

const decode_rows& decode_table() {
  static const decode_rows table = [] {
    decode_rows rows;
    add_integer_instructions(rows);
    add_bit_instructions(rows);
    add_comparisons(rows);
    add_moves(rows);
    add_conversions(rows);
    add_float_instructions(rows);
    add_loads_and_stores(rows);
    add_atomics(rows);
    add_copies(rows);
    add_warp_instructions(rows);
    add_control_flow(rows);
    return rows;
  }();
  return table;
}

}  // namespace octobloom::ptx
