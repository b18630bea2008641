#include <octobloom/engine.h>

// Core knows no engine but the reference. The room of all engines defines this, and brings it into
// every program that links the room.
extern "C" [[gnu::weak]] const octobloom::engine* octobloom_linked_engine();

namespace octobloom {

const engine& default_engine() {
  return octobloom_linked_engine == nullptr ? reference_engine() : *octobloom_linked_engine();
}

}  // namespace octobloom
