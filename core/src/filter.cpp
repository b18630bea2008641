#include <octobloom/filter.h>

#include <algorithm>
#include <cstring>

namespace octobloom {

namespace {

const filter_record& checked(const filter_record& record) {
  const filter_shape& shape = record.shape;
  if (shape.blocks == 0 || shape.k == 0 || shape.k > rot8::max_k) {
    throw error(error_code::invalid_argument,
                "a filter needs at least one block and k from 1 to 24, not blocks " +
                    std::to_string(shape.blocks) + ", k " + std::to_string(shape.k) +
                    ": size it with plan_for()");
  }
  require_storable(shape.hashing, record.target_fpr);
  return record;
}

}  // namespace

bool detail::any_bit(const const_filter_view& view) noexcept {
  const std::uint64_t* words = view.words();
  return std::any_of(words, words + view.shape().word_count(),
                     [](std::uint64_t word) { return word != 0; });
}

std::string describe_mismatch(const filter_shape& target, const filter_shape& other) {
  std::string text;
  const auto compare = [&text](const char* field, std::uint64_t a, std::uint64_t b) {
    if (a == b) return;
    if (!text.empty()) text += ", ";
    text += std::string(field) + " " + std::to_string(a) + " against " + std::to_string(b);
  };
  compare("blocks", target.blocks, other.blocks);
  compare("k", target.k, other.k);
  compare("seed", target.seed, other.seed);
  compare("hash id", static_cast<std::uint64_t>(target.hashing),
          static_cast<std::uint64_t>(other.hashing));
  return text;
}

filter::filter(const filter_record& record)
    : record_(checked(record)), storage_(record.shape.word_count()) {}

filter filter::copy() const {
  filter twin(record_);
  twin.families_ = families_;
  twin.view_given_ = view_given_;
  std::memcpy(twin.storage_.words(), storage_.words(), bytes());
  return twin;
}

void filter::merge(const const_filter_view& other, std::uint64_t inserted_keys,
                   key_families families) {
  const std::string mismatch = describe_mismatch(record_.shape, other.shape());
  if (!mismatch.empty()) {
    throw error(error_code::mismatch,
                "filters can be merged only when they have one shape; these "
                "differ: " +
                    mismatch);
  }
  std::uint64_t* target = storage_.words();
  std::uint64_t there = 0;
  std::uint64_t incoming = 0;
  for (std::uint64_t i = 0; i < storage_.size(); ++i) {
    there |= target[i];
    incoming |= other.words()[i];
    target[i] |= other.words()[i];
  }
  if (there != 0 && families_.is_empty()) families_.forget();
  families_.unite(families, inserted_keys > 0 || incoming != 0);
  record_.count_inserted(inserted_keys);
}

void filter::set_families(key_families families) noexcept {
  families_.clear();
  families_.unite(families, inserted_keys() > 0 || detail::any_bit(bits()));
}

/// Before the first statement, since then every bit is of keys that nobody spoke of.
void filter::state_news(key_family family) noexcept {
  if (view_given_ && families_.is_empty() && detail::any_bit(bits())) families_.forget();
  families_.state(family);
}

void filter::clear() noexcept {
  storage_.clear();
  record_.inserted_keys = 0;
  families_.clear();
}

filter filter::decoded(filter_reader& file, const load_options& options) {
  file.require_kind(filter_kind::plain);
  const file_header& header = file.header();
  filter result{filter_record(header)};
  file.read_body(std::as_writable_bytes(std::span(result.storage_.words(), result.storage_.size())),
                 options);
  result.set_families(header.families);
  return result;
}

encoded_filter filter::encoded() const {
  return detail::encode_words({record_, filter_kind::plain, families()},
                              {{storage_.words(), storage_.size()}});
}

}  // namespace octobloom
