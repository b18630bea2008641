#include <octobloom/detail/open_filters.h>

#include <string>

#include <octobloom/error.h>

namespace octobloom::detail {

void require_available(const engine& e) {
  if (const std::string reason = e.why_unavailable(); !reason.empty()) {
    throw error(error_code::engine_unavailable,
                "the engine \"" + std::string(e.name) + "\" cannot run here: " + reason);
  }
}

void open_filters::held::bring_home() {
  if (ahead_of == nullptr) return;
  filter->copy_to(ahead_of);
  ahead_of = nullptr;
}

open_filters::held& open_filters::at(const const_filter_view& view) {
  const std::lock_guard guard(mutex_);
  held& one = held_[view.words()];
  if (one.filter == nullptr) one.filter = engine_->open(view);
  return one;
}

open_filters::held& open_filters::written_at(const filter_view& view) {
  held& one = at(view);
  one.ahead_of = view.words();
  return one;
}

void open_filters::insert(const filter_view& view, const key_batch& keys,
                          const bulk_options& options) {
  written_at(view).filter->insert(keys, options);
}

std::uint64_t open_filters::may_contain(const const_filter_view& view, const key_batch& keys,
                                        std::uint8_t* bitmap, const bulk_options& options) {
  return at(view).filter->may_contain(keys, bitmap, options);
}

std::uint64_t open_filters::insert_new(const filter_view& view, const key_batch& keys,
                                       std::uint8_t* bitmap, const bulk_options& options) {
  return written_at(view).filter->insert_new(keys, bitmap, options);
}

void open_filters::bring_home() {
  const std::lock_guard guard(mutex_);
  for (auto& [words, one] : held_) one.bring_home();
}

void open_filters::bring_home(const std::uint64_t* words) {
  const std::lock_guard guard(mutex_);
  if (const auto one = held_.find(words); one != held_.end()) one->second.bring_home();
}

}  // namespace octobloom::detail
