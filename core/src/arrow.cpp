#include <octobloom/arrow.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <octobloom/error.h>

namespace octobloom {

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw error(error_code::invalid_argument, what);
}

/// A layout of buffers, and what key_column calls its values.
struct array_format {
  column_type type;
  std::int64_t buffers;     // of the layout; views have as many more as they like
  std::uint32_t width = 0;  // of fixed_binary
};

struct fixed_format {
  std::string_view format;
  column_type type;
  std::int64_t buffers;
};

constexpr auto fixed_formats = std::to_array<fixed_format>({
    {"b", column_type::boolean, 2},      {"c", column_type::int8, 2},
    {"C", column_type::uint8, 2},        {"s", column_type::int16, 2},
    {"S", column_type::uint16, 2},       {"i", column_type::int32, 2},
    {"I", column_type::uint32, 2},       {"l", column_type::int64, 2},
    {"L", column_type::uint64, 2},       {"e", column_type::float16, 2},
    {"f", column_type::float32, 2},      {"g", column_type::float64, 2},
    {"z", column_type::binary, 3},       {"u", column_type::binary, 3},
    {"Z", column_type::large_binary, 3}, {"U", column_type::large_binary, 3},
    {"vz", column_type::binary_view, 3}, {"vu", column_type::binary_view, 3},
    {"tdD", column_type::int32, 2},      {"tdm", column_type::int64, 2},
    {"tts", column_type::int32, 2},      {"ttm", column_type::int32, 2},
    {"ttu", column_type::int64, 2},      {"ttn", column_type::int64, 2},
    {"tDs", column_type::int64, 2},      {"tDm", column_type::int64, 2},
    {"tDu", column_type::int64, 2},      {"tDn", column_type::int64, 2},
});

bool begins_with_any(std::string_view format, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view one) { return format.starts_with(one); });
}

/// Numbers between commas; empty when something else is there.
std::optional<std::vector<std::int64_t>> numbers_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    std::int64_t number = 0;
    const auto [behind, problem] = std::from_chars(at, end, number);
    if (problem != std::errc{}) return std::nullopt;
    numbers.push_back(number);
    if (behind == end) return numbers;
    if (*behind != ',') return std::nullopt;
    at = behind + 1;
  }
}

std::optional<array_format> decimal_format(std::string_view parameters) {
  const auto numbers = numbers_in(parameters);
  if (!numbers || numbers->size() < 2 || numbers->size() > 3) return std::nullopt;
  switch (numbers->size() == 3 ? (*numbers)[2] : 128) {
    case 32:
      return array_format{column_type::decimal32, 2};
    case 64:
      return array_format{column_type::decimal64, 2};
    case 128:
      return array_format{column_type::decimal128, 2};
    case 256:
      return array_format{column_type::decimal256, 2};
    default:
      return std::nullopt;
  }
}

std::optional<array_format> fixed_size_format(std::string_view width) {
  const auto numbers = numbers_in(width);
  if (!numbers || numbers->size() != 1 || numbers->front() < 0 ||
      numbers->front() > std::numeric_limits<std::int32_t>::max()) {
    return std::nullopt;
  }
  return array_format{column_type::fixed_binary, 2, static_cast<std::uint32_t>(numbers->front())};
}

std::optional<array_format> format_of(std::string_view format) {
  for (const fixed_format& one : fixed_formats) {
    if (one.format == format) return array_format{one.type, one.buffers};
  }
  // A timestamp's zone comes behind a colon that is always there.
  if (begins_with_any(format, {"tss:", "tsm:", "tsu:", "tsn:"})) {
    return array_format{column_type::int64, 2};
  }
  if (format.starts_with("d:")) return decimal_format(format.substr(2));
  if (format.starts_with("w:")) return fixed_size_format(format.substr(2));
  return std::nullopt;
}

std::string why_no_key(std::string_view format) {
  if (format.starts_with("ti")) return ", an interval, which is no key";
  if (format.starts_with("+r")) return ", run ends, which are no keys: decode them first";
  if (format.starts_with("+s")) return ", a struct within another type, which is no key";
  if (format.starts_with("+")) return ", a nested type, which is no key";
  return ", which is no type of keys";
}

bool has_null(const void* validity, std::size_t offset, std::size_t rows) {
  const auto* bits = static_cast<const std::uint8_t*>(validity);
  for (std::size_t i = offset; i < offset + rows; ++i) {
    if (!bitmap_get(bits, i)) return true;
  }
  return false;
}

}  // namespace

struct arrow_keys::state {
  std::vector<key_column> columns;
  std::vector<std::unique_ptr<key_column>> dictionaries;
  std::vector<std::vector<std::uint8_t>> no_values;  // bits of nulls
  bool is_composite = false;
  bool is_untyped = false;
  std::size_t rows = 0;

  /// `name` is what messages call it.
  static void require_alive(const ArrowSchema& schema, const ArrowArray& array,
                            const std::string& name) {
    if (schema.release == nullptr || schema.format == nullptr) {
      refuse(name + " has a schema that was released, or never made");
    }
    if (array.release == nullptr) refuse(name + " was released, or never made");
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (array.length < 0 || array.offset < 0 || array.length > most - array.offset) {
      refuse(name + " has a length of " + std::to_string(array.length) + " and an offset of " +
             std::to_string(array.offset));
    }
  }

  static void require_buffers(const ArrowArray& array, std::int64_t least, bool or_more,
                              const std::string& name) {
    if (array.n_buffers < least || (!or_more && array.n_buffers != least)) {
      refuse(name + " has " + std::to_string(array.n_buffers) + " buffers, not " +
             std::to_string(least) + (or_more ? " or more" : ""));
    }
    if (least > 0 && array.buffers == nullptr) refuse(name + " has no buffers");
  }

  /// Rows `skipped` to skipped + rows of an array, whatever a struct around it says.
  key_column read(const ArrowSchema& schema, const ArrowArray& array, std::size_t skipped,
                  std::size_t count, const std::string& name) {
    require_alive(schema, array, name);
    const std::string_view format = schema.format;
    if (skipped > static_cast<std::size_t>(array.length) ||
        count > static_cast<std::size_t>(array.length) - skipped) {
      refuse(name + " has " + std::to_string(array.length) + " rows where " +
             std::to_string(skipped + count) + " are needed");
    }
    key_column column;
    column.rows = count;
    column.offset = static_cast<std::size_t>(array.offset) + skipped;
    if (format == "n") {
      const auto& bits = no_values.emplace_back(bitmap_bytes(count) + 1);
      column.type = column_type::boolean;
      column.offset = 0;
      column.values = bits.data();
      column.validity = bits.data();
      return column;
    }
    const std::optional<array_format> layout = format_of(format);
    if (!layout) {
      refuse(name + " is of the Arrow format \"" + std::string(format) + "\"" + why_no_key(format));
    }
    column.type = layout->type;
    column.width = layout->width;
    require_buffers(array, layout->buffers, layout->type == column_type::binary_view, name);
    column.validity = static_cast<const std::uint8_t*>(array.buffers[0]);
    column.validity_offset = column.offset;
    if (column.validity == nullptr && array.null_count > 0) {
      refuse(name + " tells of nulls, and has no validity bitmap");
    }
    column.values = array.buffers[1];
    switch (column.type) {
      case column_type::binary:
      case column_type::large_binary:
        column.offsets = array.buffers[1];
        column.values = array.buffers[2];
        break;
      case column_type::binary_view:
        column.buffers = array.buffers + 2;
        column.buffer_count = static_cast<std::size_t>(array.n_buffers - 3);
        column.buffer_sizes = static_cast<const std::int64_t*>(array.buffers[array.n_buffers - 1]);
        if (column.buffer_count > 0 && column.buffer_sizes == nullptr) {
          refuse(name + " has no sizes of its buffers");
        }
        break;
      default:
        break;
    }
    if (schema.dictionary != nullptr) read_dictionary(schema, array, name, column);
    return column;
  }

  void read_dictionary(const ArrowSchema& schema, const ArrowArray& array, const std::string& name,
                       key_column& column) {
    if (array.dictionary == nullptr) refuse(name + " has no dictionary, and its type has one");
    column.index_type = column.type;
    column.type = column_type::dictionary;
    const std::string its_name = "the dictionary of " + name;
    require_alive(*schema.dictionary, *array.dictionary, its_name);
    const auto values = static_cast<std::size_t>(array.dictionary->length);
    key_column dictionary = read(*schema.dictionary, *array.dictionary, 0, values, its_name);
    column.dictionary = dictionaries.emplace_back(std::make_unique<key_column>(dictionary)).get();
  }

  void read_struct(const ArrowSchema& schema, const ArrowArray& array) {
    const std::string name = "the struct of keys";
    require_buffers(array, 1, false, name);
    const auto offset = static_cast<std::size_t>(array.offset);
    rows = static_cast<std::size_t>(array.length);
    if (array.buffers[0] != nullptr && array.null_count != 0 &&
        has_null(array.buffers[0], offset, rows)) {
      refuse(name +
             " has null structs: a composite key has null columns, but is never null itself");
    }
    if (schema.n_children < 1 || schema.n_children != array.n_children) {
      refuse(name + " has " + std::to_string(schema.n_children) + " fields in its schema and " +
             std::to_string(array.n_children) + " in the array; keys have at least one column");
    }
    is_composite = true;
    for (std::int64_t i = 0; i < schema.n_children; ++i) {
      const std::string child = "column " + std::to_string(i);
      if (schema.children == nullptr || schema.children[i] == nullptr ||
          array.children == nullptr || array.children[i] == nullptr) {
        refuse(child + " is not there");
      }
      columns.push_back(read(*schema.children[i], *array.children[i], offset, rows, child));
    }
  }
};

arrow_keys::arrow_keys(const ArrowSchema& schema, const ArrowArray& array)
    : state_(std::make_unique<state>()) {
  const std::string name = "the array";
  state::require_alive(schema, array, name);
  if (std::string_view(schema.format) == "+s") {
    state_->read_struct(schema, array);
  } else {
    state_->rows = static_cast<std::size_t>(array.length);
    state_->is_untyped = std::string_view(schema.format) == "n";
    state_->columns.push_back(state_->read(schema, array, 0, state_->rows, name));
  }
  require_valid(columns());
}

arrow_keys::~arrow_keys() = default;

key_columns arrow_keys::columns() const noexcept {
  return state_->is_composite ? key_columns::composite(state_->columns)
                              : key_columns(state_->columns.front());
}
std::size_t arrow_keys::rows() const noexcept {
  return state_->rows;
}
bool arrow_keys::is_untyped() const noexcept {
  return state_->is_untyped;
}

// ------------------------------------------------------------------ answers

struct arrow_answers::memory {
  std::size_t rows;
  std::vector<std::uint8_t> bitmap;
  std::vector<std::uint8_t> valid;
  std::array<const void*, 2> buffers{};
};

arrow_answers::arrow_answers(std::size_t rows)
    : memory_(std::make_unique<memory>(memory{rows,
                                              std::vector<std::uint8_t>(bitmap_bytes(rows)),
                                              std::vector<std::uint8_t>(bitmap_bytes(rows)),
                                              {}})) {}
arrow_answers::arrow_answers(arrow_answers&&) noexcept = default;
arrow_answers& arrow_answers::operator=(arrow_answers&&) noexcept = default;
arrow_answers::~arrow_answers() = default;

row_answers arrow_answers::places() noexcept {
  return {memory_->bitmap.data(), memory_->valid.data()};
}

void arrow_answers::export_to(ArrowArray& array, ArrowSchema* schema) && {
  std::size_t answered = 0;
  for (const std::uint8_t bits : memory_->valid) {
    answered += static_cast<std::size_t>(std::popcount(bits));
  }
  const bool has_nulls = answered < memory_->rows;
  memory_->buffers = {has_nulls ? memory_->valid.data() : nullptr, memory_->bitmap.data()};
  array = {};
  array.length = static_cast<std::int64_t>(memory_->rows);
  array.null_count = static_cast<std::int64_t>(memory_->rows - answered);
  array.n_buffers = 2;
  array.buffers = memory_->buffers.data();
  array.release = [](ArrowArray* released) {
    delete static_cast<memory*>(released->private_data);
    released->release = nullptr;
  };
  array.private_data = memory_.release();
  if (schema == nullptr) return;
  *schema = {};
  schema->format = "b";
  schema->name = "";
  schema->flags = ARROW_FLAG_NULLABLE;
  schema->release = [](ArrowSchema* released) { released->release = nullptr; };
}

}  // namespace octobloom
