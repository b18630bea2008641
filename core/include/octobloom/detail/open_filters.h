#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include <octobloom/engine.h>

/// What filters do with batches: on the engine of the call, and where that holds filters, on what
/// it holds.
namespace octobloom::detail {

/// Throws error{engine_unavailable} that says why.
void require_available(const engine& e);

/// The filters that an engine holds, by their words in host memory. What was inserted there is
/// ahead of the host's words until it is brought home. Several threads may ask questions and bring
/// home at once; writers need it to themselves.
class open_filters {
 public:
  explicit open_filters(const engine& e) : engine_(&e) {}

  void insert(const filter_view& view, const key_batch& keys, const bulk_options& options);
  std::uint64_t may_contain(const const_filter_view& view, const key_batch& keys,
                            std::uint8_t* bitmap, const bulk_options& options);
  std::uint64_t insert_new(const filter_view& view, const key_batch& keys, std::uint8_t* bitmap,
                           const bulk_options& options);

  /// Makes the host's words those that the engine has; they stay open.
  void bring_home();
  void bring_home(const std::uint64_t* words);
  /// Gives up the engine's copies, and what they are ahead.
  void forget() noexcept { held_.clear(); }
  void forget(const std::uint64_t* words) noexcept { held_.erase(words); }

 private:
  struct held {
    std::unique_ptr<opened_filter> filter;
    std::uint64_t* ahead_of = nullptr;  // words that are behind; null: none

    void bring_home();
  };
  held& at(const const_filter_view& view);
  held& written_at(const filter_view& view);

  const engine* engine_;
  std::mutex mutex_;  // of the map, and of the ways there and back
  std::map<const std::uint64_t*, held> held_;
};

inline void insert(const filter_view& view, const key_batch& keys, const bulk_options& options) {
  if (options.open != nullptr) return options.open->insert(view, keys, options);
  engine_of(options).insert(view, keys, options);
}
inline std::uint64_t may_contain(const const_filter_view& view, const key_batch& keys,
                                 std::uint8_t* bitmap, const bulk_options& options) {
  if (options.open != nullptr) return options.open->may_contain(view, keys, bitmap, options);
  return engine_of(options).may_contain(view, keys, bitmap, options);
}
inline std::uint64_t insert_new(const filter_view& view, const key_batch& keys,
                                std::uint8_t* bitmap, const bulk_options& options) {
  if (options.open != nullptr) return options.open->insert_new(view, keys, bitmap, options);
  return engine_of(options).insert_new(view, keys, bitmap, options);
}

/// Before the words are written to by others than the engine of the call.
inline void take_home(const const_filter_view& view, const bulk_options& options) {
  if (options.open == nullptr) return;
  options.open->bring_home(view.words());
  options.open->forget(view.words());
}
/// Before the words are cleared or freed.
inline void forget(const const_filter_view& view, const bulk_options& options) noexcept {
  if (options.open != nullptr) options.open->forget(view.words());
}

/// Returns call(options), within which an engine that holds filters takes each only once, for calls
/// of several batches. When it throws, what was done until then is in the filters.
template <class Call>
std::uint64_t in_one_call(const bulk_options& options, Call call) {
  const engine& e = engine_of(options);
  if (options.open != nullptr || e.open == nullptr) return call(options);
  open_filters open(e);
  bulk_options within = options;
  within.open = &open;
  std::uint64_t result = 0;
  try {
    result = call(within);
  } catch (...) {
    open.bring_home();
    throw;
  }
  open.bring_home();
  return result;
}

}  // namespace octobloom::detail
