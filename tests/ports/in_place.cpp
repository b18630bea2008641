// A mistake on a big-endian machine, which the compiler has to explain.

#include <octobloom/mapped_filter.h>

int main() {
  return octobloom::mapped_filter("a.octobloom").may_contain(1) ? 0 : 1;
}
