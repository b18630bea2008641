// Every width of the kernels for the common case, 64-bit integers and k = 8: those that the library
// does not choose are here to be counted, interpreted and measured.

#include <octobloom/gpu/detail/sources.h>
#include <octobloom/gpu/detail/kernels.cuh>

namespace octobloom::gpu::detail {

using integers = integer_source<std::uint64_t>;

#define OCTOBLOOM_CONTAINS(lanes, words)                                                 \
  template __global__ void contains_kernel<layout<lanes, words>, rounds::one, integers>( \
      const std::uint64_t*, std::uint32_t, std::uint32_t, integers, std::uint64_t, std::uint8_t*);
#define OCTOBLOOM_INSERT(lanes)                                                    \
  template __global__ void insert_kernel<layout<lanes, 1>, rounds::one, integers>( \
      std::uint64_t*, std::uint32_t, std::uint32_t, integers, std::uint64_t);

OCTOBLOOM_CONTAINS(1, 2)
OCTOBLOOM_CONTAINS(1, 4)
OCTOBLOOM_CONTAINS(2, 2)
OCTOBLOOM_CONTAINS(2, 4)
OCTOBLOOM_CONTAINS(4, 2)
OCTOBLOOM_CONTAINS(8, 1)
OCTOBLOOM_INSERT(1)
OCTOBLOOM_INSERT(2)
OCTOBLOOM_INSERT(4)
OCTOBLOOM_INSERT(8)

}  // namespace octobloom::gpu::detail
