#include "device_backend.cuh"

namespace octobloom::gpu::detail {

void expand_bitmap(const place& at, const std::uint8_t* bitmap, std::uint64_t bits,
                   std::uint8_t* answers) {
  device_backend backend(at);
  with_thrust("write answers", [&] { bitmap_to_bytes(backend, bitmap, bits, answers); });
}

std::uint64_t count_bits(const place& at, const std::uint8_t* bitmap, std::uint64_t bits) {
  device_backend backend(at);
  return with_thrust("count answers",
                     [&] { return count_bits(backend, bitmap, bitmap_bytes(bits)); });
}

std::uint64_t select_positions(const place& at, const std::uint8_t* bitmap, std::uint64_t bits,
                               std::uint64_t* positions) {
  device_backend backend(at);
  return with_thrust("select keys",
                     [&] { return select(backend, counting(0), bits, bitmap, positions); });
}

std::uint64_t select_values(const place& at, const keys& batch, const std::uint8_t* bitmap,
                            void* selected) {
  device_backend backend(at);
  return with_thrust("select keys", [&] {
    if (batch.type() == key_type::uint32 || batch.type() == key_type::int32) {
      return select(backend, static_cast<const std::uint32_t*>(batch.data()), batch.size(), bitmap,
                    static_cast<std::uint32_t*>(selected));
    }
    return select(backend, static_cast<const std::uint64_t*>(batch.data()), batch.size(), bitmap,
                  static_cast<std::uint64_t*>(selected));
  });
}

void merge(const place& at, const filter_view& target, const filter_view& other) {
  device_backend backend(at);
  with_thrust("merge filters", [&] {
    merge_words(backend, target.words(), other.words(),
                std::uint64_t{target.shape().blocks} * rot8::words_per_block);
  });
}

bits_and_fpr sum_blocks(const place& at, const filter_view& view) {
  device_backend backend(at);
  const block_sum sum =
      with_thrust("read a filter", [&] { return detail::sum_blocks(backend, view); });
  return {sum.bits, sum.fpr};
}

}  // namespace octobloom::gpu::detail
