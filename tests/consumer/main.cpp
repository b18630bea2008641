#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include <octobloom/octobloom.h>
#include <octobloom/version.h>

int main(int argc, char** argv) {
  if (argc != 2 || std::strcmp(argv[1], OCTOBLOOM_VERSION) != 0) {
    std::fprintf(stderr, "the headers are of version %s\n", OCTOBLOOM_VERSION);
    return 1;
  }
  octobloom::filter filter(octobloom::plan_for(1000, 0.01));
  std::vector<std::uint64_t> keys(1000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  filter.insert(keys);
  for (const std::uint64_t key : keys) {
    if (!filter.may_contain(key)) return 1;
  }
  return filter.may_contain(std::uint64_t{123456789}) &&
                 filter.may_contain(std::uint64_t{987654321}) &&
                 filter.may_contain(std::uint64_t{555555555})
             ? 1
             : 0;
}
