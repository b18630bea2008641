#include <octobloom/key_column.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <octobloom/detail/keyed.h>
#include <octobloom/error.h>

namespace octobloom {

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw error(error_code::invalid_argument, what);
}

// ------------------------------------------------------------------ rows and values

/// Where the rows of a piece stand in a column's buffers: one after the other, or as selected.
struct consecutive {
  std::size_t base;
  [[nodiscard]] std::size_t operator()(std::size_t i) const noexcept { return base + i; }
};
struct selected {
  std::size_t base;
  const std::uint32_t* rows;
  [[nodiscard]] std::size_t operator()(std::size_t i) const noexcept { return base + rows[i]; }
};

/// Calls `act` with where rows `first` and on of `column` stand, counted from `base`.
template <class Act>
auto with_places(const key_column& column, std::size_t base, std::size_t first, const Act& act) {
  if (column.selection == nullptr) return act(consecutive{base + first});
  return act(selected{base, column.selection + first});
}

template <class T>
T value_at(const void* values, std::size_t place) noexcept {
  T value;
  std::memcpy(&value, static_cast<const char*>(values) + place * sizeof(T), sizeof(T));
  return value;
}

bool bit_at(const void* bits, std::size_t place) noexcept {
  return bitmap_get(static_cast<const std::uint8_t*>(bits), place);
}

struct binary16 {
  std::uint16_t bits;
};

/// The value of binary16 is m * 2^e; infinities and NaN have all bits of the exponent.
double to_double(binary16 half) noexcept {
  const std::uint64_t sign = std::uint64_t{half.bits} >> 15 << 63;
  const unsigned exponent = half.bits >> 10 & 31u;
  const std::uint64_t fraction = half.bits & 1023u;
  if (exponent == 0) {
    const double size = static_cast<double>(fraction) * 0x1p-24;
    return sign == 0 ? size : -size;
  }
  const std::uint64_t wide = exponent == 31 ? 2047 : exponent - 15 + 1023;
  return std::bit_cast<double>(sign | wide << 52 | fraction << 42);
}

std::uint64_t widened(binary16 value) noexcept {
  return widen(to_double(value));
}
template <numeric_key T>
std::uint64_t widened(T value) noexcept {
  return widen(value);
}

template <class T, class Places>
void widen_all(const void* values, const Places& places, std::size_t count,
               std::uint64_t* words) noexcept {
  for (std::size_t i = 0; i < count; ++i) words[i] = widened(value_at<T>(values, places(i)));
}

/// A decimal of 128 or 256 bits, lowest word first.
template <std::size_t Words>
struct wide_integer {
  std::array<std::uint64_t, Words> words;

  /// How many of the lowest words say it all, by sign extension: 1, 2 or Words.
  [[nodiscard]] std::size_t needed() const noexcept {
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}}) {
      const std::uint64_t sign = static_cast<std::int64_t>(words[size - 1]) < 0 ? ~0ull : 0;
      if (std::all_of(words.begin() + static_cast<std::ptrdiff_t>(size), words.end(),
                      [sign](std::uint64_t word) { return word == sign; })) {
        return size;
      }
    }
    return Words;
  }
};

template <std::size_t Words>
wide_integer<Words> wide_at(const void* values, std::size_t place) noexcept {
  auto value = value_at<wide_integer<Words>>(values, place);
  if constexpr (std::endian::native == std::endian::big) std::ranges::reverse(value.words);
  return value;
}

template <class Signed>
std::uint64_t index_at(const void* values, std::size_t place) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value_at<Signed>(values, place)));
}

std::uint64_t index_of(column_type type, const void* values, std::size_t place) noexcept {
  switch (type) {
    case column_type::int8:
      return index_at<std::int8_t>(values, place);
    case column_type::uint8:
      return value_at<std::uint8_t>(values, place);
    case column_type::int16:
      return index_at<std::int16_t>(values, place);
    case column_type::uint16:
      return value_at<std::uint16_t>(values, place);
    case column_type::int32:
      return index_at<std::int32_t>(values, place);
    case column_type::uint32:
      return value_at<std::uint32_t>(values, place);
    default:
      return value_at<std::uint64_t>(values, place);
  }
}

bool is_integer(column_type type) noexcept {
  return type >= column_type::int8 && type <= column_type::uint64;
}

// ------------------------------------------------------------------ validity

/// Copies `count` bits from bit `begin` on to the beginning of `to`, whose tail becomes zero.
void copy_bits(const std::uint8_t* from, std::size_t begin, std::size_t count, std::uint8_t* to) {
  const std::size_t bytes = bitmap_bytes(count);
  const unsigned shift = begin % 8;
  from += begin / 8;
  if (shift == 0) {
    std::copy_n(from, bytes, to);
  } else if (bytes > 0) {
    for (std::size_t i = 0; i + 1 < bytes; ++i) {
      to[i] = static_cast<std::uint8_t>(from[i] >> shift | from[i + 1] << (8 - shift));
    }
    const bool in_next_byte = shift + (count - 8 * (bytes - 1)) > 8;
    const unsigned next = in_next_byte ? from[bytes] : 0u;
    to[bytes - 1] = static_cast<std::uint8_t>(from[bytes - 1] >> shift | next << (8 - shift));
  }
  if (count % 8 != 0) to[bytes - 1] &= static_cast<std::uint8_t>((1u << (count % 8)) - 1);
}

std::size_t count_bits(const std::uint8_t* bits, std::size_t count) noexcept {
  std::size_t bytes = bitmap_bytes(count);
  std::size_t sum = 0;
  for (; bytes >= 8; bytes -= 8, bits += 8) {
    sum += static_cast<std::size_t>(std::popcount(value_at<std::uint64_t>(bits, 0)));
  }
  for (; bytes > 0; --bytes, ++bits) sum += static_cast<std::size_t>(std::popcount(*bits));
  return sum;
}

/// Writes the words whose bit is set one after the other; `to` may be `from`.
void compact(const std::uint64_t* from, const std::uint8_t* valid, std::size_t count,
             std::uint64_t* to) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const unsigned bits = valid[i / 8];
    for (unsigned j = 0; j < 8; ++j) {
      *to = from[i + j];
      to += bits >> j & 1u;
    }
  }
  for (; i < count; ++i) {
    if (bitmap_get(valid, i)) *to++ = from[i];
  }
}

/// Sets the first `count` bits, and clears the rest of the last byte.
void set_all(std::uint8_t* bits, std::size_t count) noexcept {
  std::fill_n(bits, count / 8, std::uint8_t{0xFF});
  if (count % 8 != 0) bits[count / 8] = static_cast<std::uint8_t>((1u << (count % 8)) - 1);
}

void write_valid(const key_piece& piece, std::size_t count, std::uint8_t* valid) noexcept {
  if (piece.valid == nullptr) return set_all(valid, count);
  std::copy_n(piece.valid, bitmap_bytes(count), valid);
}

/// Entry [mask][bits]: the lowest bits at the places where the mask has ones.
constexpr auto deposits = [] {
  std::array<std::array<std::uint8_t, 16>, 16> table{};
  for (unsigned mask = 0; mask < 16; ++mask) {
    for (unsigned bits = 0; bits < 16; ++bits) {
      unsigned next = 0;
      for (unsigned place = 0; place < 4; ++place) {
        if ((mask >> place & 1u) == 0) continue;
        table[mask][bits] |= static_cast<std::uint8_t>((bits >> next & 1u) << place);
        ++next;
      }
    }
  }
  return table;
}();

/// The 64 bits from bit `at` on.
std::uint64_t bits_from(const std::uint8_t* bits, std::size_t at) noexcept {
  std::uint64_t word = 0;
  for (unsigned b = 0; b < 8; ++b) word |= std::uint64_t{bits[at / 8 + b]} << (8 * b);
  const unsigned shift = at % 8;
  return shift == 0 ? word : word >> shift | std::uint64_t{bits[at / 8 + 8]} << (64 - shift);
}

/// Spreads answers without nulls over the rows that are none. `dense` has deposit_slack bytes to
/// spare.
constexpr std::size_t deposit_slack = 9;
void deposit(const std::uint8_t* dense, const std::uint8_t* valid, std::size_t count,
             std::uint8_t* bitmap) noexcept {
  std::size_t at = 0;
  for (std::size_t i = 0; i < bitmap_bytes(count);) {
    std::uint64_t left = bits_from(dense, at);  // for eight bytes of rows
    for (const std::size_t end = std::min(i + 8, bitmap_bytes(count)); i < end; ++i) {
      const unsigned low = valid[i] & 15u;
      const unsigned high = valid[i] >> 4u;
      const int low_bits = std::popcount(low);
      bitmap[i] = static_cast<std::uint8_t>(deposits[low][left & 15u] |
                                            deposits[high][left >> low_bits & 15u] << 4);
      const int bits = low_bits + std::popcount(high);
      left >>= bits;
      at += static_cast<std::size_t>(bits);
    }
  }
}

// ------------------------------------------------------------------ one column

/// Reads one column, each row to a key of its own.
class column_reader {
 public:
  column_reader(const key_column& column, std::uint64_t seed, const engine& e,
                const bulk_options& options)
      : column_(&column), seed_(seed), engine_(&e), options_(options) {
    if (column.type != column_type::dictionary) return;
    if (column.dictionary == nullptr || !is_integer(column.index_type)) {
      refuse("a dictionary column has indices of an integer type and a dictionary");
    }
    if (column.dictionary->type == column_type::dictionary) {
      refuse("the dictionary of a dictionary column is a dictionary column itself");
    }
    // Few rows of a large dictionary are looked up row by row.
    if (column.dictionary->rows <= column.rows) read_dictionary();
  }

  /// Bit i: row first + i is no null; null when none is.
  const std::uint8_t* valid(std::size_t first, std::size_t count) {
    bool all = true;
    valid_.resize(bitmap_bytes(count));
    if (const std::uint8_t* bits = column_->validity) {
      all = false;
      const std::size_t base = column_->validity_offset;
      if (column_->selection == nullptr) {
        copy_bits(bits, base + first, count, valid_.data());
      } else {
        set_bits(count, [&, places = selected{base, column_->selection + first}](std::size_t i) {
          return bit_at(bits, places(i));
        });
      }
    }
    if (column_->type == column_type::dictionary && column_->dictionary->validity != nullptr) {
      const key_column& dictionary = *column_->dictionary;
      set_bits(count, [&, was_all = all](std::size_t i) {
        if (!was_all && !bitmap_get(valid_.data(), i)) return false;
        return valid_row(dictionary, index(first + i));
      });
      all = false;
    }
    return all || count_bits(valid_.data(), count) == count ? nullptr : valid_.data();
  }

  /// The keys of all rows; `valid` is that of the same rows.
  key_batch keys(std::size_t first, std::size_t count, const std::uint8_t* valid) {
    switch (column_->type) {
      case column_type::boolean:
        return with_places(*column_, column_->offset, first, [&](const auto& places) {
          std::uint64_t* words = room(count);
          for (std::size_t i = 0; i < count; ++i) {
            words[i] = bit_at(column_->values, places(i)) ? 1 : 0;
          }
          return integers(count);
        });
      case column_type::int8:
        return widen_rows<std::int8_t>(first, count);
      case column_type::int16:
        return widen_rows<std::int16_t>(first, count);
      case column_type::int32:
      case column_type::decimal32:
        return widen_rows<std::int32_t>(first, count);
      case column_type::uint8:
        return widen_rows<std::uint8_t>(first, count);
      case column_type::uint16:
        return widen_rows<std::uint16_t>(first, count);
      case column_type::uint32:
        return widen_rows<std::uint32_t>(first, count);
      case column_type::float16:
        return widen_rows<binary16>(first, count);
      case column_type::float32:
        return widen_rows<float>(first, count);
      case column_type::float64:
        return widen_rows<double>(first, count);
      case column_type::int64:
      case column_type::uint64:
      case column_type::decimal64:
        if (const auto* in_place = in_place_words(column_->values, first)) {
          return key_batch::integers(std::span(in_place, count));
        }
        return widen_rows<std::uint64_t>(first, count);
      case column_type::decimal128:
        return hash_wide_rows<2>(first, count);
      case column_type::decimal256:
        return hash_wide_rows<4>(first, count);
      case column_type::binary:
        return string_rows<std::uint32_t>(first, count);
      case column_type::large_binary:
        return string_rows<std::uint64_t>(first, count);
      case column_type::fixed_binary:
        return fixed_rows(first, count);
      case column_type::binary_view:
        return gather_strings(count, [&, valid](std::size_t i) {
          const bool is_null = valid != nullptr && !bitmap_get(valid, i);
          return is_null ? std::string_view() : view(first + i);
        });
      case column_type::dictionary:
        return dictionary_rows(first, count, valid);
    }
    refuse("a column of an unknown type");
  }

  /// Whether the rows' keys can be used where they lie, however many they are.
  [[nodiscard]] bool in_place() const noexcept {
    if (column_->validity != nullptr) return false;
    switch (column_->type) {
      case column_type::int64:
      case column_type::uint64:
      case column_type::decimal64:
        return in_place_words(column_->values, 0) != nullptr;
      case column_type::large_binary:
        return in_place_words(column_->offsets, 0) != nullptr;
      default:
        return false;
    }
  }

  /// Memory for as many words, which stays until the next call for more.
  std::uint64_t* room(std::size_t count) {
    if (words_.size() < count) words_.resize(count);
    return words_.data();
  }

 private:
  [[nodiscard]] static bool valid_row(const key_column& column, std::size_t row) noexcept {
    if (column.validity == nullptr) return true;
    if (column.selection != nullptr) row = column.selection[row];
    return bit_at(column.validity, column.validity_offset + row);
  }

  template <class Holds>
  void set_bits(std::size_t count, const Holds& holds) {
    for (std::size_t i = 0; i < count; i += 8) {
      unsigned byte = 0;
      for (std::size_t j = i; j < std::min(i + 8, count); ++j) {
        byte |= (holds(j) ? 1u : 0u) << (j - i);
      }
      valid_[i / 8] = static_cast<std::uint8_t>(byte);
    }
  }

  [[nodiscard]] key_batch integers(std::size_t count) const noexcept {
    return key_batch::integers(std::span(words_.data(), count));
  }
  [[nodiscard]] key_batch hashes(std::size_t count) const noexcept {
    return key_batch::hashes(std::span(words_.data(), count));
  }

  /// The rows themselves, where they are words one after the other already.
  [[nodiscard]] const std::uint64_t* in_place_words(const void* words,
                                                    std::size_t first) const noexcept {
    if (column_->selection != nullptr) return nullptr;
    const auto* begin = static_cast<const char*>(words) + (column_->offset + first) * 8;
    return reinterpret_cast<std::uintptr_t>(begin) % alignof(std::uint64_t) == 0
               ? reinterpret_cast<const std::uint64_t*>(begin)
               : nullptr;
  }

  template <class T>
  key_batch widen_rows(std::size_t first, std::size_t count) {
    std::uint64_t* words = room(count);
    with_places(*column_, column_->offset, first,
                [&](const auto& places) { widen_all<T>(column_->values, places, count, words); });
    return integers(count);
  }

  template <std::size_t Words>
  key_batch hash_wide_rows(std::size_t first, std::size_t count) {
    return with_places(*column_, column_->offset, first, [&](const auto& places) {
      std::uint64_t* words = room(count);
      bool all_fit = true;
      for (std::size_t i = 0; i < count; ++i) {
        const auto value = wide_at<Words>(column_->values, places(i));
        words[i] = value.words[0];
        all_fit &= value.needed() == 1;
      }
      if (all_fit) return integers(count);
      engine_->hash(integers(count), seed_, words, options_);
      for (std::size_t i = 0; i < count; ++i) {
        const auto value = wide_at<Words>(column_->values, places(i));
        const std::size_t needed = value.needed();
        if (needed > 1) words[i] = combine_hashes(std::span(value.words).first(needed), seed_);
      }
      return hashes(count);
    });
  }

  template <class Offset>
  key_batch string_rows(std::size_t first, std::size_t count) {
    const auto* bytes = static_cast<const char*>(column_->values);
    if (column_->selection != nullptr) {
      const std::size_t base = column_->offset;
      return gather_strings(
          count, [this, bytes, places = selected{base, column_->selection + first}](std::size_t i) {
            const auto begin = value_at<Offset>(column_->offsets, places(i));
            const auto end = value_at<Offset>(column_->offsets, places(i) + 1);
            return std::string_view(bytes + begin, end - begin);
          });
    }
    if constexpr (sizeof(Offset) == sizeof(std::uint64_t)) {
      if (const auto* in_place = in_place_words(column_->offsets, first)) {
        return key_batch::strings({bytes, in_place, count});
      }
    }
    std::uint64_t* offsets = room(count + 1);
    widen_all<Offset>(column_->offsets, consecutive{column_->offset + first}, count + 1, offsets);
    return key_batch::strings({bytes, offsets, count});
  }

  key_batch fixed_rows(std::size_t first, std::size_t count) {
    const auto* bytes = static_cast<const char*>(column_->values);
    const std::size_t width = column_->width;
    if (column_->selection != nullptr) {
      const std::size_t base = column_->offset;
      return gather_strings(
          count, [bytes, width, places = selected{base, column_->selection + first}](
                     std::size_t i) { return std::string_view(bytes + places(i) * width, width); });
    }
    std::uint64_t* offsets = room(count + 1);
    for (std::size_t i = 0; i <= count; ++i) offsets[i] = (column_->offset + first + i) * width;
    return key_batch::strings({bytes, offsets, count});
  }

  [[nodiscard]] std::string_view view(std::size_t row) const noexcept {
    if (column_->selection != nullptr) row = column_->selection[row];
    const std::size_t place = column_->offset + row;
    const auto* at = static_cast<const char*>(column_->values) + place * sizeof(binary_view_row);
    const auto v = value_at<binary_view_row>(at, 0);
    const auto length = static_cast<std::size_t>(v.length);
    if (length <= 12) return {at + 4, length};
    return {static_cast<const char*>(column_->buffers[v.buffer]) + v.buffer_offset, length};
  }

  /// Hashes strings that lie here and there: copied together, as many as stay in the caches, so
  /// that engines hash them side by side. Long ones are hashed where they are.
  template <class StringAt>
  key_batch gather_strings(std::size_t count, const StringAt& string_at) {
    constexpr std::size_t most_bytes = std::size_t{1} << 15;
    std::uint64_t* words = room(count);
    bytes_.resize(most_bytes);
    offsets_.resize(count + 1);
    std::size_t begin = 0;
    std::size_t used = 0;
    const auto flush = [&](std::size_t end) {
      if (end > begin) {
        engine_->hash(key_batch::strings({bytes_.data(), offsets_.data(), end - begin}), seed_,
                      words + begin, options_);
      }
      begin = end;
      used = 0;
    };
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view string = string_at(i);
      if (string.size() > most_bytes / 4) {
        flush(i);
        words[i] = key_hash(string, seed_);
        begin = i + 1;
        continue;
      }
      if (used + string.size() > most_bytes) flush(i);
      offsets_[i - begin] = used;
      if (!string.empty()) std::memcpy(bytes_.data() + used, string.data(), string.size());
      used += string.size();
      offsets_[i - begin + 1] = used;
    }
    flush(count);
    return hashes(count);
  }

  [[nodiscard]] std::size_t index(std::size_t row) const noexcept {
    if (column_->selection != nullptr) row = column_->selection[row];
    return index_of(column_->index_type, column_->values, column_->offset + row);
  }

  void read_dictionary() {
    const key_column& dictionary = *column_->dictionary;
    dictionary_hashes_.resize(dictionary.rows);
    hash_rows(dictionary, seed_, dictionary_hashes_.data(), nullptr, *engine_, options_);
    has_hashes_ = true;
  }

  key_batch dictionary_rows(std::size_t first, std::size_t count, const std::uint8_t* valid) {
    if (column_->dictionary->rows == 0) {  // all rows are null
      std::fill_n(room(count), count, 0);
      return hashes(count);
    }
    rows_.resize(count);
    const auto read_indices = [&]<class Index>(Index) {
      with_places(*column_, column_->offset, first, [&](const auto& places) {
        for (std::size_t i = 0; i < count; ++i) {
          rows_[i] = static_cast<std::uint32_t>(value_at<Index>(column_->values, places(i)));
        }
      });
    };
    switch (column_->index_type) {
      case column_type::int8:
      case column_type::uint8:
        read_indices(std::uint8_t{});
        break;
      case column_type::int16:
      case column_type::uint16:
        read_indices(std::uint16_t{});
        break;
      case column_type::int32:
      case column_type::uint32:
        read_indices(std::uint32_t{});
        break;
      default:
        read_indices(std::uint64_t{});
    }
    // What stands where a null is need not be an index.
    if (valid != nullptr) {
      for (std::size_t i = 0; i < count; ++i) rows_[i] = bitmap_get(valid, i) ? rows_[i] : 0;
    }
    if (!has_hashes_) return look_up(count);
    std::uint64_t* words = room(count);
    for (std::size_t i = 0; i < count; ++i) words[i] = dictionary_hashes_[rows_[i]];
    return hashes(count);
  }

  /// Hashes the rows_ of the dictionary.
  key_batch look_up(std::size_t count) {
    key_column chosen = *column_->dictionary;
    if (chosen.selection != nullptr) {
      for (std::uint32_t& row : rows_) row = chosen.selection[row];
    }
    chosen.selection = rows_.data();
    chosen.rows = count;
    hash_rows(chosen, seed_, room(count), nullptr, *engine_, options_);
    return hashes(count);
  }

  static void hash_rows(const key_column& column, std::uint64_t seed, std::uint64_t* hashes,
                        std::uint8_t* valid, const engine& e, const bulk_options& options);

  const key_column* column_;
  std::uint64_t seed_;
  const engine* engine_;
  bulk_options options_;
  std::vector<std::uint8_t> valid_;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> offsets_;
  std::vector<char> bytes_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint64_t> dictionary_hashes_;
  bool has_hashes_ = false;
};

/// Calls `act(piece, first, count)` for the rows of `keys`, `rows` at a time.
template <class Act>
void for_each_piece(const key_columns& keys, key_reader& reader, std::size_t rows, null_rows nulls,
                    const Act& act) {
  for (std::size_t first = 0; first < keys.rows(); first += rows) {
    const std::size_t count = std::min(rows, keys.rows() - first);
    act(reader.read(first, count, nulls), first, count);
  }
}

std::uint64_t hash_rows_on(const engine& e, const key_columns& keys, std::uint64_t seed,
                           std::uint64_t* hashes, std::uint8_t* valid,
                           const bulk_options& options) {
  key_reader reader(keys, seed, e, options);
  std::uint64_t valid_rows = 0;
  for_each_piece(keys, reader, key_reader::piece_rows, null_rows::keep,
                 [&](const key_piece& piece, std::size_t first, std::size_t count) {
                   e.hash(piece.keys, seed, hashes + first, options);
                   valid_rows += piece.valid_rows;
                   if (valid != nullptr) write_valid(piece, count, valid + first / 8);
                 });
  return valid_rows;
}

void column_reader::hash_rows(const key_column& column, std::uint64_t seed, std::uint64_t* hashes,
                              std::uint8_t* valid, const engine& e, const bulk_options& options) {
  hash_rows_on(e, column, seed, hashes, valid, options);
}

}  // namespace

// ------------------------------------------------------------------ one column or several

key_family family_of(const key_columns& keys) noexcept {
  if (keys.is_composite() || keys.columns().empty()) return key_family::composites;
  const key_column* column = keys.columns().data();
  while (column->type == column_type::dictionary && column->dictionary != nullptr) {
    column = column->dictionary;
  }
  switch (column->type) {
    case column_type::float16:
    case column_type::float32:
    case column_type::float64:
      return key_family::floats;
    case column_type::binary:
    case column_type::large_binary:
    case column_type::binary_view:
    case column_type::fixed_binary:
      return key_family::strings;
    default:
      return key_family::integers;
  }
}

struct key_reader::state {
  std::uint64_t seed;
  const engine* used;
  bulk_options options;
  bool is_composite;
  key_family family;
  std::vector<column_reader> columns;
  std::vector<std::uint64_t> hashes;   // of one column
  std::vector<std::uint64_t> rows;     // of all columns, row by row
  std::vector<std::uint64_t> offsets;  // of the rows, in bytes

  key_piece read_one(std::size_t first, std::size_t count, null_rows nulls) {
    column_reader& column = columns.front();
    const std::uint8_t* valid = column.valid(first, count);
    const key_batch keys = column.keys(first, count, valid);
    if (valid == nullptr) return {keys, nullptr, count};
    const std::size_t valid_rows = count_bits(valid, count);
    if (nulls == null_rows::keep) return {keys, valid, valid_rows};
    if (keys.kind() == key_kind::strings) {
      if (hashes.size() < count) hashes.resize(count);
      used->hash(keys, seed, hashes.data(), options);
      compact(hashes.data(), valid, count, hashes.data());
      return {key_batch::hashes(std::span(hashes.data(), valid_rows)), valid, valid_rows};
    }
    std::uint64_t* words = column.room(count);
    compact(keys.values(), valid, count, words);
    const std::span<const std::uint64_t> left(words, valid_rows);
    return {keys.kind() == key_kind::hashes ? key_batch::hashes(left) : key_batch::integers(left),
            valid, valid_rows};
  }

  key_piece read_composite(std::size_t first, std::size_t count) {
    const std::size_t width = columns.size();
    if (hashes.size() < count) hashes.resize(count);
    if (rows.size() < count * width) rows.resize(count * width);
    for (std::size_t c = 0; c < width; ++c) {
      const std::uint8_t* valid = columns[c].valid(first, count);
      used->hash(columns[c].keys(first, count, valid), seed, hashes.data(), options);
      for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t hash = hashes[i];
        if (valid != nullptr) hash = bitmap_get(valid, i) ? hash : null_column_hash;
        if constexpr (std::endian::native == std::endian::big) hash = __builtin_bswap64(hash);
        rows[i * width + c] = hash;
      }
    }
    // XXH64 over the columns' hashes is that of a string of eight bytes a column.
    for (std::size_t i = offsets.size(); i <= count; ++i) offsets.push_back(i * width * 8);
    return {key_batch::strings({reinterpret_cast<const char*>(rows.data()), offsets.data(), count}),
            nullptr, count};
  }
};

key_reader::key_reader(const key_columns& keys, std::uint64_t seed, const engine& e,
                       const bulk_options& options)
    : state_(std::make_unique<state>()) {
  if (keys.columns().empty()) refuse("keys have at least one column, not none");
  state_->seed = seed;
  state_->used = &e;
  state_->options = options;
  state_->is_composite = keys.is_composite();
  state_->family = family_of(keys);
  for (const key_column& column : keys.columns()) {
    if (column.rows != keys.rows()) {
      refuse("the columns of a key have equally many rows, not " + std::to_string(keys.rows()) +
             " and " + std::to_string(column.rows));
    }
    state_->columns.emplace_back(column, seed, e, options);
  }
}

key_reader::key_reader(key_reader&&) noexcept = default;
key_reader& key_reader::operator=(key_reader&&) noexcept = default;
key_reader::~key_reader() = default;

std::size_t key_reader::rows_at_once(std::uint64_t bytes) const noexcept {
  if (!state_->is_composite && state_->columns.front().in_place()) {
    return std::numeric_limits<std::size_t>::max();
  }
  constexpr std::uint64_t caches = std::uint64_t{4} << 20;
  return bytes <= caches && state_->options.threads == 1 ? piece_rows : 64 * piece_rows;
}

key_piece key_reader::read(std::size_t first, std::size_t count, null_rows nulls) {
  key_piece piece = state_->is_composite ? state_->read_composite(first, count)
                                         : state_->read_one(first, count, nulls);
  piece.keys = piece.keys.of(state_->family);
  return piece;
}

std::uint64_t hash_rows(const key_columns& keys, std::uint64_t seed, std::uint64_t* hashes,
                        std::uint8_t* valid, const bulk_options& options) {
  return hash_rows_on(engine_of(options), keys, seed, hashes, valid, options);
}

namespace detail {

std::uint64_t answer_rows(const key_columns& keys, std::uint64_t seed, key_hashing hashing,
                          std::uint64_t bytes, null_rows nulls, const row_answers& out,
                          const bulk_options& options, const batch_call& ask) {
  if (hashing == key_hashing::caller) refuse_keys();
  return in_one_call(options, [&](const bulk_options& within) {
    key_reader reader(keys, seed, engine_of(options), options);
    std::vector<std::uint8_t> answers;  // of a piece that has nulls
    std::uint64_t sum = 0;
    for_each_piece(
        keys, reader, reader.rows_at_once(bytes), nulls,
        [&](const key_piece& piece, std::size_t first, std::size_t count) {
          if (out.valid != nullptr) write_valid(piece, count, out.valid + first / 8);
          std::uint8_t* bitmap = out.bitmap == nullptr ? nullptr : out.bitmap + first / 8;
          if (piece.valid_rows == 0) {
            if (bitmap != nullptr) std::fill_n(bitmap, bitmap_bytes(count), std::uint8_t{0});
            return;
          }
          if (piece.valid == nullptr || (nulls == null_rows::drop && bitmap == nullptr)) {
            sum += ask(piece.keys, bitmap, within);
            return;
          }
          const std::size_t needed = bitmap_bytes(piece.keys.size());
          if (answers.size() < needed + deposit_slack) answers.resize(needed + deposit_slack);
          const std::uint64_t found = ask(piece.keys, answers.data(), within);
          if (nulls == null_rows::drop) {
            deposit(answers.data(), piece.valid, count, bitmap);
            sum += found;
            return;
          }
          for (std::size_t i = 0; i < needed; ++i) answers[i] &= piece.valid[i];
          if (bitmap != nullptr) std::copy_n(answers.data(), needed, bitmap);
          sum += count_bits(answers.data(), count);
        });
    return sum;
  });
}

}  // namespace detail

// ------------------------------------------------------------------ columns of strangers

namespace {

/// Checks one column; `name` is what messages call it.
class column_check {
 public:
  column_check(const key_column& column, std::string name)
      : column_(column), name_(std::move(name)) {}

  void run() const {
    if (column_.type > column_type::dictionary) fail("is of an unknown type");
    if (column_.rows == 0) return;
    const std::size_t reach = selection_reach();
    constexpr std::size_t most = std::size_t{1} << 59;  // places times 16 bytes stay below 2^63
    if (column_.offset > most || reach > most || column_.validity_offset > most) {
      fail("begins beyond all memory");
    }
    switch (column_.type) {
      case column_type::binary:
        return check_offsets<std::int32_t>(reach);
      case column_type::large_binary:
        return check_offsets<std::int64_t>(reach);
      case column_type::binary_view:
        return check_views();
      case column_type::dictionary:
        return check_dictionary();
      case column_type::fixed_binary:
        if (column_.width == 0) return;
        break;
      default:
        break;
    }
    require_pointer(column_.values, "values");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { refuse(name_ + " " + what); }
  [[noreturn]] void fail_at(std::size_t row, const std::string& what) const {
    fail("has in row " + std::to_string(row) + " " + what);
  }
  void require_pointer(const void* pointer, const char* what) const {
    if (pointer == nullptr) fail(std::string("has rows, but a null pointer for its ") + what);
  }

  /// Rows that the buffers must have.
  [[nodiscard]] std::size_t selection_reach() const {
    if (column_.selection == nullptr) return column_.rows;
    const std::span<const std::uint32_t> rows(column_.selection, column_.rows);
    return std::size_t{*std::max_element(rows.begin(), rows.end())} + 1;
  }
  [[nodiscard]] std::size_t place(std::size_t row) const noexcept {
    return column_.offset + (column_.selection == nullptr ? row : column_.selection[row]);
  }
  [[nodiscard]] bool is_null(std::size_t row) const noexcept {
    if (column_.validity == nullptr) return false;
    if (column_.selection != nullptr) row = column_.selection[row];
    return !bit_at(column_.validity, column_.validity_offset + row);
  }

  template <class Offset>
  void check_offsets(std::size_t reach) const {
    require_pointer(column_.offsets, "offsets");
    // Without a branch a row: compilers make vectors of it.
    Offset below = 0;
    Offset before = value_at<Offset>(column_.offsets, column_.offset);
    below |= before;
    for (std::size_t i = 1; i <= reach; ++i) {
      const auto offset = value_at<Offset>(column_.offsets, column_.offset + i);
      below |= offset < before ? std::numeric_limits<Offset>::min() : 0;
      before = offset;
    }
    if (below < 0) fail("has offsets that are negative or go down");
    if (before != value_at<Offset>(column_.offsets, column_.offset)) {
      require_pointer(column_.values, "bytes");
    }
  }

  void check_views() const {
    require_pointer(column_.values, "values");
    for (std::size_t row = 0; row < column_.rows; ++row) {
      if (is_null(row)) continue;
      const auto view = value_at<binary_view_row>(column_.values, place(row));
      if (view.length < 0) fail_at(row, "a view of negative length");
      if (view.length <= 12) continue;
      require_pointer(column_.buffers, "buffers");
      if (view.buffer < 0 || view.buffer_offset < 0) fail_at(row, "a view of a negative place");
      if (column_.buffer_sizes != nullptr &&
          (static_cast<std::size_t>(view.buffer) >= column_.buffer_count ||
           std::int64_t{view.buffer_offset} + view.length > column_.buffer_sizes[view.buffer])) {
        fail_at(row, "a view beyond its buffers");
      }
      if (column_.buffers[view.buffer] == nullptr) fail_at(row, "a view of no buffer");
    }
  }

  void check_dictionary() const {
    if (!is_integer(column_.index_type)) fail("has indices that are no integers");
    if (column_.dictionary == nullptr) fail("has no dictionary");
    if (column_.dictionary->type == column_type::dictionary) {
      fail("has a dictionary that is a dictionary column itself");
    }
    column_check(*column_.dictionary, "the dictionary of " + name_).run();
    require_pointer(column_.values, "indices");
    const std::size_t values = column_.dictionary->rows;
    for (std::size_t row = 0; row < column_.rows; ++row) {
      if (is_null(row)) continue;
      if (const std::uint64_t index = index_of(column_.index_type, column_.values, place(row));
          index >= values) {
        fail_at(row, "an index outside its dictionary of " + std::to_string(values) + " values");
      }
    }
  }

  const key_column& column_;
  std::string name_;
};

}  // namespace

void require_valid(const key_columns& keys) {
  if (keys.columns().empty()) refuse("keys have at least one column, not none");
  for (std::size_t i = 0; i < keys.columns().size(); ++i) {
    const key_column& column = keys.columns()[i];
    const std::string name = keys.is_composite() ? "column " + std::to_string(i) : "the column";
    if (column.rows != keys.rows()) {
      refuse(name + " has " + std::to_string(column.rows) + " rows, column 0 has " +
             std::to_string(keys.rows()));
    }
    column_check(column, name).run();
  }
}

}  // namespace octobloom
