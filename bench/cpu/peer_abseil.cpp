#include <absl/container/flat_hash_set.h>

#include "exact_set.h"

namespace octobloom::bench {

std::unique_ptr<structure> make_abseil(std::uint64_t keys, std::uint64_t) {
  using set = absl::flat_hash_set<std::uint64_t>;
  // A slot and a byte of control for each place.
  return std::make_unique<exact_set<set>>(keys, [](const set& s) -> std::uint64_t {
    return s.capacity() * (sizeof(set::value_type) + 1);
  });
}

}  // namespace octobloom::bench
