#include "device_backend.cuh"

namespace octobloom::gpu::detail {

void insert_sorted(const place& at, const filter_view& view, const keys& batch,
                   const insert_plan& plan) {
  device_backend backend(at, view.shape().seed);
  with_thrust("insert keys", [&] { insert_by_range(backend, view, batch, batch.size(), plan); });
}

}  // namespace octobloom::gpu::detail
