#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <octobloom/detail/keyed.h>
#include <octobloom/detail/open_filters.h>
#include <octobloom/engine.h>

namespace octobloom {

/// A filter and the engine that works on it, call after call. An engine that keeps filters in the
/// memory of a device gets it there with the first call, once, and it comes back when filter(),
/// home() or close() asks for it; on the CPU nothing moves, and calls are the filter's own.
///
/// `Filter` is any kind, any_filter or a mapped_filter. Move only. Concurrent const calls are safe
/// as far as they are on the filter, but for a look at the bits of unsettled() while filter()
/// brings them home; writers need it to themselves. When a call throws, what was done until then is
/// in the filter; where the device itself failed, the filter is as it last came home.
template <class Filter>
class opened {
 public:
  /// Throws error{engine_unavailable} when the engine cannot run here.
  explicit opened(Filter filter, const engine& e = default_engine())
      : opened(std::in_place, e, std::move(filter)) {}
  /// The same with a filter made in place of `args`.
  template <class... Args>
  opened(std::in_place_t, const engine& e, Args&&... args)
      : filter_(std::forward<Args>(args)...), engine_(&e) {
    detail::require_available(e);
    if (e.open != nullptr) open_ = std::make_unique<detail::open_filters>(e);
  }

  [[nodiscard]] const octobloom::engine& engine() const noexcept { return *engine_; }

  /// The filter's own calls for many keys, on this engine; an engine in `options` is not looked at.
  template <class Keys>
  decltype(auto) insert(const Keys& keys, const bulk_options& options = {}) {
    return filter_.insert(keys, here(options));
  }
  template <class Keys, class Answers>
  std::uint64_t insert_new(const Keys& keys, Answers&& answers, const bulk_options& options = {}) {
    return filter_.insert_new(keys, std::forward<Answers>(answers), here(options));
  }
  template <class Keys, class Answers>
  std::uint64_t may_contain(const Keys& keys, Answers&& answers,
                            const bulk_options& options = {}) const {
    return filter_.may_contain(keys, std::forward<Answers>(answers), here(options));
  }
  template <class Keys, class Answers>
  std::uint64_t remove(const Keys& keys, Answers&& answers, const bulk_options& options = {}) {
    return filter_.remove(keys, std::forward<Answers>(answers), here(options));
  }

  /// Its plan, counts, seed and families, at no cost; of its bits only what last came home.
  [[nodiscard]] const Filter& unsettled() const noexcept { return filter_; }
  /// The filter with all that was inserted. O(bytes) from a device that is ahead.
  [[nodiscard]] const Filter& filter() const {
    if (open_ != nullptr) open_->bring_home();
    return filter_;
  }
  /// The filter to write to. The engine gets it anew with its next call.
  [[nodiscard]] Filter& home() {
    (void)std::as_const(*this).filter();
    if (open_ != nullptr) open_->forget();
    return filter_;
  }
  /// The filter, and the end of this object.
  [[nodiscard]] Filter close() && { return std::move(home()); }

 private:
  [[nodiscard]] bulk_options here(bulk_options options) const noexcept {
    options.engine = engine_;
    options.open = open_.get();
    return options;
  }

  Filter filter_;
  const octobloom::engine* engine_;
  std::unique_ptr<detail::open_filters> open_;  // null: the engine holds nothing
};

}  // namespace octobloom
