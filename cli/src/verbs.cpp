#include "verbs.h"

#include <array>

// The list of verbs: VERB(x) stands for x_verb, which verb_x.cpp defines.
#define OCTOBLOOM_VERBS(VERB) \
  VERB(plan)                  \
  VERB(create)                \
  VERB(insert)                \
  VERB(remove)                \
  VERB(check)                 \
  VERB(dedup)                 \
  VERB(merge)                 \
  VERB(info)                  \
  VERB(bench)

namespace octobloom::cli {

#define OCTOBLOOM_DECLARE(name) extern const verb name##_verb;
OCTOBLOOM_VERBS(OCTOBLOOM_DECLARE)

std::span<const verb* const> all_verbs() noexcept {
#define OCTOBLOOM_ADDRESS(name) &name##_verb,
  static const std::array verbs{OCTOBLOOM_VERBS(OCTOBLOOM_ADDRESS)};
  return verbs;
}

}  // namespace octobloom::cli
