#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <octobloom/filter.h>
#include <octobloom/gpu/filter_view.h>
#include <octobloom/gpu/insert_plan.h>
#include <octobloom/gpu/keys.h>
#include <octobloom/gpu/memory.h>
#include <octobloom/plan.h>
#include <octobloom/statistics.h>

/// Filters in device memory. No header here needs the CUDA Toolkit; pass a cudaStream_t where a
/// `stream` is asked for.
namespace octobloom::gpu {

/// A Bloom filter that owns device memory; the bytes are those of octobloom::filter. Move only; a
/// moved-from filter may only be assigned or destroyed.
///
/// Every call takes a stream and is asynchronous on it, unless it returns a value or touches host
/// memory, when it waits for that stream. Calls on different streams are not ordered with each
/// other: synchronise them, or keys added on one may not be seen on the other. None is lost:
/// whatever adds keys does so by atomics. Host threads may call const functions at once; others
/// need the filter to themselves.
///
/// A filter is used while the device that was current when it was made is current; any other is
/// refused. Its memory is given back in the order of the stream that it was made on, which must
/// live as long, whatever device is current.
///
/// Throws octobloom::error: {engine_unavailable} where no device can be used, {out_of_memory},
/// {device} for what the runtime reports (an asynchronous fault is reported by a later call),
/// {invalid_argument}, {wrong_key}, {mismatch}.
class filter {
 public:
  /// An empty filter on the current device.
  explicit filter(const plan& plan, const filter_options& options = {}, stream on = nullptr,
                  const allocator& from = stream_ordered_allocator());

  /// A copy of a host filter: mapped or owned. Waits.
  template <class Source>
  [[nodiscard]] static filter from_host(const filter_queries<Source>& source, stream on = nullptr,
                                        const allocator& from = stream_ordered_allocator()) {
    const auto& host = static_cast<const Source&>(source);
    filter copy = from_host(host.record(), host.view().words(), on, from);
    copy.families_.unite(host.families(),
                         host.inserted_keys() > 0 || octobloom::detail::any_bit(host.view()));
    return copy;
  }
  /// Reads a filter file; checked as octobloom::filter::load does. Waits.
  [[nodiscard]] static filter load(const std::string& path, stream on = nullptr,
                                   const load_options& options = {},
                                   const allocator& from = stream_ordered_allocator());

  /// A host filter with the same bytes, counts and plan. Waits.
  [[nodiscard]] octobloom::filter to_host(stream on = nullptr) const;
  /// The file that to_host().save(path) writes. Waits.
  void save(const std::string& path, stream on = nullptr) const { to_host(on).save(path); }
  [[nodiscard]] filter copy(stream on = nullptr) const;

  /// Adds every key. For insert_method::direct no memory is taken; the others take 16 bytes a key
  /// for up to 2^26 keys at a time.
  void insert(const keys& batch, stream on = nullptr,
              insert_method method = insert_method::automatic);

  /// One answer a key: bit i of `bitmap` in device memory, bitmap_bytes(batch.size()) bytes,
  /// aligned to 4, tail zero. Asynchronous.
  void may_contain(const keys& batch, std::uint8_t* bitmap, stream on = nullptr) const;
  /// One byte a key, 0 or 1. Asynchronous.
  void may_contain_bytes(const keys& batch, std::uint8_t* answers, stream on = nullptr) const;
  /// How many of the keys may be contained. Waits.
  [[nodiscard]] std::uint64_t count_contained(const keys& batch, stream on = nullptr) const;
  /// The semi-join: writes the numbers of the keys that may be contained, ascending, to `positions`
  /// (room for batch.size()), and returns how many. Waits.
  [[nodiscard]] std::uint64_t select_contained(const keys& batch, std::uint64_t* positions,
                                               stream on = nullptr) const;
  /// The same with the keys themselves, in order, to `selected` (elements as those of the batch,
  /// room for batch.size()). Not for strings: error{wrong_key}. Waits.
  [[nodiscard]] std::uint64_t select_contained_values(const keys& batch, void* selected,
                                                      stream on = nullptr) const;

  /// Tells which keys were absent and inserts them: bit i of `bitmap` (device memory as above;
  /// null: count only) is set for new keys. Of equal keys only the first is new. Returns how many
  /// were new. Waits.
  ///
  /// The filter is the one that the CPU engines build. A key is told new unless it was in the
  /// filter before its group of 2^24 keys or equals an earlier one of its group: keys that the
  /// order-by-order answer would take for repeats by a false positive within the group are told
  /// new. Takes 25 bytes a key of a group.
  std::uint64_t insert_new(const keys& batch, std::uint8_t* bitmap, stream on = nullptr);

  /// Adds the keys of `other`, which is on the same device, O(blocks). error{mismatch} when the
  /// shapes differ; nothing changes.
  void merge(const filter& other, stream on = nullptr);

  void clear(stream on = nullptr);

  /// Bits set. Waits.
  [[nodiscard]] std::uint64_t popcount(stream on = nullptr) const;
  /// As octobloom::filter::statistics(). Waits.
  [[nodiscard]] filter_statistics statistics(stream on = nullptr) const;

  /// For kernels of your own.
  [[nodiscard]] filter_view view() const noexcept {
    return {words_.data<std::uint64_t>(), shape()};
  }

  [[nodiscard]] const filter_shape& shape() const noexcept { return record_.shape; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return shape().bytes(); }
  /// As octobloom::filter counts them.
  [[nodiscard]] std::uint64_t inserted_keys() const noexcept { return record_.inserted_keys; }
  [[nodiscard]] std::uint64_t planned_keys() const noexcept { return record_.planned_keys; }
  [[nodiscard]] double target_fpr() const noexcept { return record_.target_fpr; }
  /// As octobloom::filter has them: a question with keys of another family is error{wrong_key}.
  [[nodiscard]] key_families families() const noexcept { return families_.families(); }
  /// From now on questions of every family are answered; false takes it back.
  void accept_any_family(bool any) noexcept { families_.accept(any); }
  /// For those who insert through view(); when they do not say of which family the keys were,
  /// families() is not known from then on.
  void count_inserted(std::uint64_t keys) noexcept {
    if (keys > 0) families_.forget();
    record_.count_inserted(keys);
  }
  void count_inserted(std::uint64_t keys, key_family family) noexcept {
    if (keys > 0) families_.state(family);
    record_.count_inserted(keys);
  }

  /// The copy behind the template above; it knows of no families.
  [[nodiscard]] static filter from_host(const filter_record& record, const std::uint64_t* words,
                                        stream on, const allocator& from);

 private:
  /// Holds garbage.
  filter(const filter_record& record, stream on, const allocator& from);

  void require(const keys& batch) const;
  /// The same, and throws error{wrong_key} for a family that was never inserted.
  void require_question(const keys& batch) const;
  void state_family(const keys& batch) noexcept {
    if (batch.size() > 0) families_.state(batch.family());
  }
  /// Throws error{invalid_argument} when another device is current.
  void require_current() const;
  /// Where temporaries come from; as require_current().
  [[nodiscard]] const allocator& temporaries() const;

  filter_record record_;
  int device_ = 0;
  octobloom::detail::family_record families_;
  buffer words_;
};

}  // namespace octobloom::gpu
