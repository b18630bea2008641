#include <octobloom/gpu/filter.h>

#include <cuda_runtime_api.h>

#include <utility>

#include <octobloom/error.h>
#include <octobloom/gpu/device.h>

#include "check.h"
#include "launch.h"

namespace octobloom::gpu {

namespace {

const filter_shape& checked(const filter_shape& shape) {
  if (shape.blocks == 0 || shape.k == 0 || shape.k > rot8::max_k) {
    throw error(error_code::invalid_argument,
                "a filter needs at least one block and k from 1 to 24, not blocks " +
                    std::to_string(shape.blocks) + ", k " + std::to_string(shape.k) +
                    ": size it with plan_for()");
  }
  detail::require_device();
  return shape;
}

/// Refuses what does not fit before it is tried: the runtime's pool would grow into the limit.
buffer take(const filter_shape& shape, stream on, const allocator& from) {
  if (from.allocate == stream_ordered_allocator().allocate) {
    std::size_t free_bytes = 0;
    std::size_t total = 0;
    detail::check(cudaMemGetInfo(&free_bytes, &total), "ask for free memory");
    if (shape.bytes() > total) {
      throw error(error_code::out_of_memory, "the filter needs " + std::to_string(shape.bytes()) +
                                                 " bytes, the GPU has " + std::to_string(total) +
                                                 ": use an engine of the CPU, or a smaller filter");
    }
  }
  return {shape.bytes(), on, from};
}

void require_output(const void* output, const keys& batch) {
  if (output == nullptr && batch.size() > 0) {
    throw error(error_code::invalid_argument,
                "the answers of " + std::to_string(batch.size()) +
                    " keys need device memory to go to, not a null pointer");
  }
}

void require_bitmap(const std::uint8_t* bitmap) {
  if (reinterpret_cast<std::uintptr_t>(bitmap) % 4 != 0) {
    throw error(error_code::invalid_argument,
                "the bitmap must be aligned to 4 bytes: its bits are written a word at a time");
  }
}

void copy_bytes(void* to, const void* from, std::uint64_t bytes, cudaMemcpyKind kind, stream on,
                const char* what) {
  detail::check(cudaMemcpyAsync(to, from, bytes, kind, on), what);
}

}  // namespace

filter::filter(const filter_record& record, stream on, const allocator& from)
    : record_{checked(record.shape), record.planned_keys, record.target_fpr, record.inserted_keys},
      device_(detail::current_device_number()),
      words_(take(shape(), on, from)) {}

filter::filter(const plan& plan, const filter_options& options, stream on, const allocator& from)
    : filter(octobloom::detail::record_of(plan, options), on, from) {
  clear(on);
}

void filter::require_current() const {
  detail::require_current(device_, "the filter");
}

const allocator& filter::temporaries() const {
  require_current();
  return words_.source();
}

filter filter::from_host(const filter_record& record, const std::uint64_t* words, stream on,
                         const allocator& from) {
  filter copy(record, on, from);
  copy_bytes(copy.words_.data(), words, copy.bytes(), cudaMemcpyHostToDevice, on,
             "copy a filter to the device");
  synchronize(on);
  return copy;
}

filter filter::load(const std::string& path, stream on, const load_options& options,
                    const allocator& from) {
  return from_host(octobloom::filter::load(path, options), on, from);
}

octobloom::filter filter::to_host(stream on) const {
  require_current();
  octobloom::filter host(record_);
  copy_bytes(host.view().words(), words_.data(), bytes(), cudaMemcpyDeviceToHost, on,
             "copy a filter from the device");
  synchronize(on);
  host.set_families(families());
  return host;
}

filter filter::copy(stream on) const {
  filter twin(record_, on, temporaries());
  twin.families_ = families_;
  copy_bytes(twin.words_.data(), words_.data(), bytes(), cudaMemcpyDeviceToDevice, on,
             "copy a filter");
  return twin;
}

void filter::require(const keys& batch) const {
  if (shape().hashing == key_hashing::caller && batch.type() != key_type::hashes) {
    throw error(error_code::wrong_key,
                "this filter holds the caller's own hashes: give it 64-bit hashes, not keys");
  }
  constexpr std::size_t most = std::size_t{1} << 38;
  if (batch.size() > most) {
    throw error(error_code::invalid_argument, "a call takes at most 2^38 keys, not " +
                                                  std::to_string(batch.size()) +
                                                  ": split the batch");
  }
  if (batch.size() > 0 && batch.data() == nullptr) {
    throw error(error_code::invalid_argument,
                "a batch of " + std::to_string(batch.size()) + " keys at a null pointer");
  }
}

void filter::require_question(const keys& batch) const {
  require(batch);
  if (batch.size() > 0 && families_.is_strange(batch.family())) {
    octobloom::detail::refuse_family(families(), batch.family());
  }
}

void filter::insert(const keys& batch, stream on, insert_method method) {
  require(batch);
  int l2_bytes = 0;
  detail::check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device_),
                "ask for the size of the L2");
  const insert_plan plan =
      plan_insert(shape(), batch.size(), static_cast<std::uint64_t>(l2_bytes), method);
  const detail::place at{on, temporaries()};
  if (plan.method == insert_method::direct) {
    detail::launch_insert(at, view(), batch, detail::key_order::any);
  } else {
    detail::insert_sorted(at, view(), batch, plan);
  }
  state_family(batch);
  record_.count_inserted(batch.size());
}

void filter::may_contain(const keys& batch, std::uint8_t* bitmap, stream on) const {
  require_question(batch);
  require_output(bitmap, batch);
  require_bitmap(bitmap);
  detail::launch_contains({on, temporaries()}, view(), batch, bitmap);
}

void filter::may_contain_bytes(const keys& batch, std::uint8_t* answers, stream on) const {
  require_output(answers, batch);
  const buffer bitmap(bitmap_bytes(batch.size()), on, temporaries());
  may_contain(batch, bitmap.data<std::uint8_t>(), on);
  detail::expand_bitmap({on, temporaries()}, bitmap.data<std::uint8_t>(), batch.size(), answers);
}

std::uint64_t filter::count_contained(const keys& batch, stream on) const {
  const buffer bitmap(bitmap_bytes(batch.size()), on, temporaries());
  may_contain(batch, bitmap.data<std::uint8_t>(), on);
  return detail::count_bits({on, temporaries()}, bitmap.data<std::uint8_t>(), batch.size());
}

std::uint64_t filter::select_contained(const keys& batch, std::uint64_t* positions,
                                       stream on) const {
  require_output(positions, batch);
  const buffer bitmap(bitmap_bytes(batch.size()), on, temporaries());
  may_contain(batch, bitmap.data<std::uint8_t>(), on);
  return detail::select_positions({on, temporaries()}, bitmap.data<std::uint8_t>(), batch.size(),
                                  positions);
}

std::uint64_t filter::select_contained_values(const keys& batch, void* selected, stream on) const {
  require_output(selected, batch);
  if (batch.type() == key_type::strings) {
    throw error(error_code::wrong_key,
                "strings are not copied: use select_contained(), which gives their positions");
  }
  const buffer bitmap(bitmap_bytes(batch.size()), on, temporaries());
  may_contain(batch, bitmap.data<std::uint8_t>(), on);
  return detail::select_values({on, temporaries()}, batch, bitmap.data<std::uint8_t>(), selected);
}

std::uint64_t filter::insert_new(const keys& batch, std::uint8_t* bitmap, stream on) {
  require(batch);
  const detail::place at{on, temporaries()};
  const std::uint64_t fresh = batch.size() == 0 ? 0 : detail::insert_new(at, view(), batch, bitmap);
  synchronize(on);
  state_family(batch);
  record_.count_inserted(fresh);
  return fresh;
}

void filter::merge(const filter& other, stream on) {
  if (const std::string mismatch = describe_mismatch(shape(), other.shape()); !mismatch.empty()) {
    throw error(error_code::mismatch,
                "filters can be merged only when they have one shape; these differ: " + mismatch);
  }
  other.require_current();
  detail::merge({on, temporaries()}, view(), other.view());
  families_.unite(other.families_);
  record_.count_inserted(other.inserted_keys());
}

void filter::clear(stream on) {
  require_current();
  detail::check(cudaMemsetAsync(words_.data(), 0, bytes(), on), "clear a filter");
  record_.inserted_keys = 0;
  families_.clear();
}

std::uint64_t filter::popcount(stream on) const {
  return detail::sum_blocks({on, temporaries()}, view()).bits;
}

filter_statistics filter::statistics(stream on) const {
  const detail::bits_and_fpr sum = detail::sum_blocks({on, temporaries()}, view());
  return {static_cast<double>(sum.bits) / (8.0 * static_cast<double>(bytes())),
          estimate_keys(sum.bits, shape()), sum.fpr_sum / shape().blocks};
}

}  // namespace octobloom::gpu
