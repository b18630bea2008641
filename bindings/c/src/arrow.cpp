#include <octobloom/arrow.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "filter.h"
#include "sized.h"

using namespace octobloom;
using namespace octobloom::c;

namespace {

arrow_keys keys_in(const ArrowSchema* schema, const ArrowArray* array) {
  return {deref(schema, "schema"), deref(array, "array")};
}

/// Nulls without a type are strange to no filter.
bulk_options for_keys(const arrow_keys& keys, bulk_options options) noexcept {
  options.any_family = options.any_family || keys.is_untyped();
  return options;
}

/// Runs call(filter, columns, row_answers, options), and hands the answers over.
template <class Filter, class Call>
octobloom_status answer(Filter* filter, const ArrowSchema* schema, const ArrowArray* array,
                        const octobloom_call_options* options, octobloom_answers* out,
                        Call call) noexcept {
  return guarded([&] {
    const octobloom_answers wanted = read_sized(out, "octobloom_answers");
    if (wanted.schema != nullptr && wanted.array == nullptr) {
      refuse("answers have a schema without an array");
    }
    const arrow_keys keys = keys_in(schema, array);
    std::optional<arrow_answers> exported;
    row_answers places{wanted.bitmap, wanted.valid};
    if (wanted.array != nullptr) places = exported.emplace(keys.rows()).places();
    const std::uint64_t count = call_for_many(filter, options, [&](auto& f, const bulk_options& o) {
      return call(f, keys.columns(), places, for_keys(keys, o));
    });
    if (exported) {
      const std::size_t bytes = bitmap_bytes(keys.rows());
      if (wanted.bitmap != nullptr) std::copy_n(places.bitmap, bytes, wanted.bitmap);
      if (wanted.valid != nullptr) std::copy_n(places.valid, bytes, wanted.valid);
      std::move(*exported).export_to(*wanted.array, wanted.schema);
    }
    if (out != nullptr) out->count = count;
  });
}

}  // namespace

octobloom_status octobloom_filter_insert_arrow(octobloom_filter* filter,
                                               const struct ArrowSchema* schema,
                                               const struct ArrowArray* array,
                                               const octobloom_call_options* options,
                                               uint64_t* inserted) {
  return guarded([&] {
    const arrow_keys keys = keys_in(schema, array);
    give(call_for_many(filter, options,
                       [&](auto& f, const bulk_options& o) -> std::uint64_t {
                         return f.insert(keys.columns(), o);
                       }),
         inserted);
  });
}

octobloom_status octobloom_filter_insert_new_arrow(octobloom_filter* filter,
                                                   const struct ArrowSchema* schema,
                                                   const struct ArrowArray* array,
                                                   const octobloom_call_options* options,
                                                   octobloom_answers* answers) {
  return answer(filter, schema, array, options, answers,
                [](auto& f, const key_columns& keys, const row_answers& places,
                   const bulk_options& o) { return f.insert_new(keys, places, o); });
}

octobloom_status octobloom_filter_may_contain_arrow(const octobloom_filter* filter,
                                                    const struct ArrowSchema* schema,
                                                    const struct ArrowArray* array,
                                                    const octobloom_call_options* options,
                                                    octobloom_answers* answers) {
  return answer(filter, schema, array, options, answers,
                [](auto& f, const key_columns& keys, const row_answers& places,
                   const bulk_options& o) { return f.may_contain(keys, places, o); });
}

octobloom_status octobloom_filter_remove_arrow(octobloom_filter* filter,
                                               const struct ArrowSchema* schema,
                                               const struct ArrowArray* array,
                                               const octobloom_call_options* options,
                                               octobloom_answers* answers) {
  return answer(filter, schema, array, options, answers,
                [](auto& f, const key_columns& keys, const row_answers& places,
                   const bulk_options& o) { return f.remove(keys, places, o); });
}

octobloom_status octobloom_hash_arrow(const struct ArrowSchema* schema,
                                      const struct ArrowArray* array, uint64_t seed,
                                      const octobloom_call_options* options, uint64_t* hashes,
                                      uint8_t* valid, int32_t* family) {
  return guarded([&] {
    const arrow_keys keys = keys_in(schema, array);
    if (keys.rows() > 0) deref(hashes, "hashes");
    (void)hash_rows(keys.columns(), seed, hashes, valid, options_of(options));
    give(keys.is_untyped() ? 0 : static_cast<std::int32_t>(family_of(keys.columns())), family);
  });
}
