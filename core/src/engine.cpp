#include <octobloom/engine.h>

#include <atomic>

namespace octobloom {

namespace {
std::atomic<engine_chooser> chooser{nullptr};
}

const engine& default_engine() {
  const engine_chooser choose = chooser.load(std::memory_order_acquire);
  return choose == nullptr ? reference_engine() : choose();
}

void set_engine_chooser(engine_chooser choose) noexcept {
  chooser.store(choose, std::memory_order_release);
}

}  // namespace octobloom
