#include <cstdint>

#include <octobloom/filter.h>

int main() {
  octobloom::filter filter(octobloom::plan_for(100, 0.01));
  filter.insert(std::uint64_t{42});
  return filter.may_contain(std::uint64_t{42}) ? 0 : 1;
}
