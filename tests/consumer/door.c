#include <octobloom/c.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  octobloom_plan plan;
  if (argc != 2 || strcmp(argv[1], octobloom_version()) != 0) {
    fprintf(stderr, "the library is of version %s\n", octobloom_version());
    return 1;
  }
  return octobloom_plan_for(1000, 0.01, &plan) == OCTOBLOOM_OK ? 0 : 1;
}
