// Prints the target whose code answered, or why none did (exit status 3).

#include <iostream>

#include <octobloom/octobloom.h>
#include <octobloom/simd_engine.h>
#include <octobloom/simd_hooks.h>

int main() {
  try {
    const octobloom::engine& simd = octobloom::find_engine("simd");
    octobloom::filter f = octobloom::filter::with_blocks(10, 8);
    const std::uint64_t key = 5;
    const auto keys = octobloom::key_batch::integers(std::span(&key, 1));
    simd.insert(f.view(), keys, {});
    if (!f.may_contain(key)) {
      std::cout << "a key was lost\n";
      return 1;
    }
    std::cout << octobloom::simd_last_target() << '\n';
    return 0;
  } catch (const octobloom::error& e) {
    std::cout << e.what() << '\n';
    return e.code() == octobloom::error_code::engine_unavailable ? 3 : 1;
  }
}
