#include <cstdint>
#include <cstdio>
#include <cstring>

#include <octobloom/filter.h>

// The engine that works is the one of the libraries that were linked, and not of this one header.
int main(int argc, char** argv) {
  if (argc != 2 || std::strcmp(argv[1], octobloom::default_engine().name) != 0) {
    std::fprintf(stderr, "the engine is %s\n", octobloom::default_engine().name);
    return 1;
  }
  octobloom::filter filter(octobloom::plan_for(100, 0.01));
  filter.insert(std::uint64_t{42});
  return filter.may_contain(std::uint64_t{42}) ? 0 : 1;
}
