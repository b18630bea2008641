#include <cstdint>

#include <octobloom/detail/keyed.h>
#include <octobloom/plan.h>
#include <octobloom/statistics.h>

#include "filter.h"
#include "sized.h"

using namespace octobloom;
using namespace octobloom::c;

namespace {

void give_plan(const plan& size, octobloom_plan* out) {
  deref(out, "plan") = {size.expected_keys, size.target_fpr, size.blocks, size.k,
                        size.expected_fpr};
}

filter_view view_of(const octobloom_view* source) {
  const octobloom_view& view = deref(source, "view");
  deref(view.words, "the view's words");
  if (reinterpret_cast<std::uintptr_t>(view.words) % rot8::bytes_per_block != 0) {
    refuse("a view's words have to be aligned to 64 bytes");
  }
  (void)plan_with_blocks(view.blocks, view.k);  // refuses what is out of range
  return {view.words, {view.blocks, view.k, view.seed, hashing_of(view.callers_hashes)}};
}

key_batch keys_for(const filter_view& view, const octobloom_keys* source) {
  const key_batch keys = keys_of(source);
  octobloom::detail::require_keys(view.shape().hashing, keys.kind());
  return keys;
}

}  // namespace

octobloom_status octobloom_plan_for(uint64_t keys, double fpr, octobloom_plan* plan) {
  return guarded([&] { give_plan(plan_for(keys, fpr), plan); });
}

octobloom_status octobloom_plan_with_memory(uint64_t bytes, uint64_t keys, octobloom_plan* plan) {
  return guarded([&] { give_plan(plan_with_memory(bytes, keys), plan); });
}

octobloom_status octobloom_plan_with_blocks(uint64_t blocks, uint32_t k, octobloom_plan* plan) {
  return guarded([&] { give_plan(plan_with_blocks(blocks, k), plan); });
}

octobloom_status octobloom_view_insert(const octobloom_view* view, const octobloom_keys* keys,
                                       const octobloom_call_options* options) {
  return guarded([&] {
    const filter_view target = view_of(view);
    octobloom::detail::insert(target, keys_for(target, keys), options_of(options));
  });
}

octobloom_status octobloom_view_insert_new(const octobloom_view* view, const octobloom_keys* keys,
                                           const octobloom_call_options* options, uint8_t* bitmap,
                                           uint64_t* fresh) {
  return guarded([&] {
    const filter_view target = view_of(view);
    give(octobloom::detail::insert_new(target, keys_for(target, keys), bitmap, options_of(options)),
         fresh);
  });
}

octobloom_status octobloom_view_may_contain(const octobloom_view* view, const octobloom_keys* keys,
                                            const octobloom_call_options* options, uint8_t* bitmap,
                                            uint64_t* found) {
  return guarded([&] {
    const filter_view source = view_of(view);
    give(
        octobloom::detail::may_contain(source, keys_for(source, keys), bitmap, options_of(options)),
        found);
  });
}

octobloom_status octobloom_view_get_statistics(const octobloom_view* view,
                                               octobloom_statistics* statistics) {
  return guarded([&] {
    const filter_view source = view_of(view);
    const filter_statistics now = statistics_of(source);
    give_statistics(now, judge(now, 0, plan_use::unplanned), statistics);
  });
}
