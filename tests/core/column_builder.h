#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <octobloom/key_column.h>

namespace octobloom_test {

/// A value as little-endian bytes, or a null.
using column_value = std::optional<std::string>;

struct column_layout {
  std::size_t offset = 0;           ///< rows of rubbish before row 0
  std::size_t validity_offset = 0;  ///< bits of rubbish before that of row 0
  bool misaligned = false;
};

/// Owns the memory of a column that is laid out by hand, and apart from the code under test.
class built_column {
 public:
  built_column(octobloom::column_type type, const std::vector<column_value>& rows,
               const column_layout& layout = {}) {
    using octobloom::column_type;
    column_.type = type;
    column_.rows = rows.size();
    column_.offset = layout.offset;
    std::vector<column_value> all(layout.offset, std::string(width_of(type, rows), '\x5A'));
    all.insert(all.end(), rows.begin(), rows.end());
    std::string& values = memory();
    std::string& offsets = memory();
    if (layout.misaligned) values += '!';
    if (layout.misaligned) offsets += '!';
    switch (type) {
      case column_type::boolean:
        values.append(all.size() / 8 + 1, '\0');
        for (std::size_t i = 0; i < all.size(); ++i) {
          if (all[i] && all[i]->front() == '\1') {
            values[i / 8 + (layout.misaligned ? 1 : 0)] |= static_cast<char>(1u << (i % 8));
          }
        }
        break;
      case column_type::binary:
      case column_type::large_binary:
        for (std::size_t i = 0; i <= all.size(); ++i) {
          const std::uint64_t at = values.size() - (layout.misaligned ? 1 : 0);
          offsets += native(at, type == column_type::binary ? 4 : 8);
          if (i < all.size()) values += all[i].value_or("");
        }
        break;
      case column_type::binary_view:
        for (const column_value& value : all) values += view(value);
        break;
      default: {
        const std::size_t width = width_of(type, rows);
        column_.width = static_cast<std::uint32_t>(width);
        for (const column_value& value : all) {
          std::string bytes = value.value_or(std::string(width, '\x77'));
          if (std::endian::native == std::endian::big && type != column_type::fixed_binary) {
            std::reverse(bytes.begin(), bytes.end());
          }
          values += bytes;
        }
      }
    }
    for (const std::string* buffer : buffers_) pointers_.push_back(buffer->data());
    column_.buffers = pointers_.data();
    column_.values = values.data() + (layout.misaligned ? 1 : 0);
    column_.offsets = offsets.data() + (layout.misaligned ? 1 : 0);
    set_validity(rows, layout.validity_offset);
  }

  /// A dictionary column: indices into `dictionary`.
  built_column(octobloom::column_type index_type,
               const std::vector<std::optional<std::uint32_t>>& indices,
               const octobloom::key_column& dictionary)
      : built_column(index_type, index_values(index_type, indices)) {
    column_.type = octobloom::column_type::dictionary;
    column_.index_type = index_type;
    column_.dictionary = &dictionary;
  }

  built_column(const built_column&) = delete;
  built_column& operator=(const built_column&) = delete;

  [[nodiscard]] const octobloom::key_column& column() const noexcept { return column_; }

  [[nodiscard]] static std::size_t width_of(octobloom::column_type type,
                                            const std::vector<column_value>& rows) {
    using octobloom::column_type;
    switch (type) {
      case column_type::int8:
      case column_type::uint8:
      case column_type::boolean:
        return 1;
      case column_type::int16:
      case column_type::uint16:
      case column_type::float16:
        return 2;
      case column_type::int32:
      case column_type::uint32:
      case column_type::float32:
      case column_type::decimal32:
        return 4;
      case column_type::decimal128:
        return 16;
      case column_type::decimal256:
        return 32;
      case column_type::fixed_binary:
        for (const column_value& value : rows) {
          if (value) return value->size();
        }
        return 1;
      default:
        return 8;
    }
  }

 private:
  std::string& memory() { return memory_.emplace_back(); }

  static std::string native(std::uint64_t value, std::size_t size) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t at = std::endian::native == std::endian::little ? i : size - 1 - i;
      bytes[at] = static_cast<char>(value >> (8 * i));
    }
    return bytes;
  }

  std::string view(const column_value& value) {
    if (!value) return std::string(16, '\xEE');  // a length and a place that crash who reads them
    std::string bytes = native(value->size(), 4);
    if (value->size() <= 12) {
      bytes += *value;
      return bytes + std::string(16 - bytes.size(), '\0');
    }
    if (buffers_.empty() || buffers_.back()->size() > 1000) buffers_.push_back(&memory());
    bytes +=
        value->substr(0, 4) + native(buffers_.size() - 1, 4) + native(buffers_.back()->size(), 4);
    *buffers_.back() += *value;
    return bytes;
  }

  static std::vector<column_value> index_values(
      octobloom::column_type type, const std::vector<std::optional<std::uint32_t>>& indices) {
    std::vector<column_value> values;
    for (const auto& index : indices) {
      if (!index) {
        values.emplace_back();
        continue;
      }
      std::string bytes;
      for (std::size_t i = 0; i < width_of(type, {}); ++i) {
        bytes += static_cast<char>(i < 4 ? *index >> (8 * i) : 0);
      }
      values.emplace_back(bytes);
    }
    return values;
  }

  void set_validity(const std::vector<column_value>& rows, std::size_t offset) {
    if (std::none_of(rows.begin(), rows.end(), [](const auto& value) { return !value; })) return;
    validity_.assign((offset + rows.size() + 7) / 8, 0xA5);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::uint8_t& byte = validity_[(offset + i) / 8];
      const auto bit = static_cast<std::uint8_t>(1u << ((offset + i) % 8));
      byte = static_cast<std::uint8_t>(rows[i] ? byte | bit : byte & ~bit);
    }
    column_.validity = validity_.data();
    column_.validity_offset = offset;
  }

  std::deque<std::string> memory_;
  std::vector<std::string*> buffers_;
  std::vector<const void*> pointers_;
  std::vector<std::uint8_t> validity_;
  octobloom::key_column column_;
};

}  // namespace octobloom_test
