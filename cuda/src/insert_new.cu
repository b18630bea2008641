#include "device_backend.cuh"

namespace octobloom::gpu::detail {

std::uint64_t insert_new(const place& at, const filter_view& view, const keys& batch,
                         std::uint8_t* bitmap) {
  device_backend backend(at, view.shape().seed);
  return with_thrust("tell new keys",
                     [&] { return insert_new_all(backend, view, batch, batch.size(), bitmap); });
}

}  // namespace octobloom::gpu::detail
