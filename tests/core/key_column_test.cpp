#include <gmock/gmock.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <octobloom/hash.h>
#include <octobloom/key_column.h>

#include "column_builder.h"
#include "support.h"

namespace {

using namespace octobloom;
using octobloom_test::built_column;
using octobloom_test::column_layout;
using octobloom_test::column_value;
using octobloom_test::expect_error;
using octobloom_test::random_numbers;

const std::map<std::string, column_type> named_types{
    {"boolean", column_type::boolean},       {"int8", column_type::int8},
    {"int16", column_type::int16},           {"int32", column_type::int32},
    {"int64", column_type::int64},           {"uint8", column_type::uint8},
    {"uint16", column_type::uint16},         {"uint32", column_type::uint32},
    {"uint64", column_type::uint64},         {"float16", column_type::float16},
    {"float32", column_type::float32},       {"float64", column_type::float64},
    {"decimal32", column_type::decimal32},   {"decimal64", column_type::decimal64},
    {"decimal128", column_type::decimal128}, {"decimal256", column_type::decimal256}};

/// Values of one type with the hashes that the independent oracle gives them.
struct golden_values {
  std::vector<std::string> bytes;
  std::vector<std::uint64_t> hashes;
};

struct sample {
  column_type type;
  std::uint64_t seed;
  golden_values golden;
};

/// All types and seeds of the golden table; its strings in each of the ways to hold them.
std::vector<sample> samples() {
  std::map<std::pair<std::string, std::uint64_t>, golden_values> table;
  for (const auto& row : octobloom_test::golden_rows("columns.tsv")) {
    std::string bytes;
    for (std::size_t i = 0; i < row[1].size(); i += 2) {
      bytes += static_cast<char>(std::stoi(row[1].substr(i, 2), nullptr, 16));
    }
    golden_values& values = table[{row[0], std::stoull(row[2])}];
    values.bytes.push_back(bytes);
    values.hashes.push_back(std::stoull(row[3], nullptr, 16));
  }
  std::vector<sample> result;
  for (const auto& [name_and_seed, golden] : table) {
    const auto& [name, seed] = name_and_seed;
    if (name != "binary") {
      result.push_back({named_types.at(name), seed, golden});
      continue;
    }
    for (const auto type :
         {column_type::binary, column_type::large_binary, column_type::binary_view}) {
      result.push_back({type, seed, golden});
    }
    for (const std::size_t width : {0u, 1u, 7u, 16u, 33u, 200u}) {
      golden_values of_one_width;
      for (std::size_t i = 0; i < golden.bytes.size(); ++i) {
        if (golden.bytes[i].size() != width) continue;
        of_one_width.bytes.push_back(golden.bytes[i]);
        of_one_width.hashes.push_back(golden.hashes[i]);
      }
      result.push_back({column_type::fixed_binary, seed, of_one_width});
    }
  }
  return result;
}

/// What a column should hash to: nothing for nulls.
using expectation = std::vector<std::optional<std::uint64_t>>;

struct random_column {
  std::vector<column_value> values;
  expectation hashes;
};

random_column draw(const golden_values& golden, std::size_t rows, unsigned percent_null,
                   random_numbers& random) {
  random_column result;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t choice = random() % golden.bytes.size();
    const bool is_null = random() % 100 < percent_null;
    result.values.push_back(is_null ? column_value() : golden.bytes[choice]);
    result.hashes.push_back(is_null ? std::nullopt : std::optional(golden.hashes[choice]));
  }
  return result;
}

/// Reads a column in every way there is; returns the number of rows compared.
std::size_t expect_hashes(const key_column& column, std::uint64_t seed,
                          const expectation& expected) {
  EXPECT_EQ(column.rows, expected.size());
  EXPECT_NO_THROW(require_valid(column));
  std::vector<std::uint64_t> hashes(column.rows);
  std::vector<std::uint8_t> valid(bitmap_bytes(column.rows) + 1, 0xCC);
  const std::uint64_t valid_rows = hash_rows(column, seed, hashes.data(), valid.data());
  EXPECT_EQ(valid.back(), 0xCC) << "written past the bitmap's end";
  std::vector<std::uint64_t> not_null;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (bitmap_get(valid.data(), i) != expected[i].has_value()) ++wrong;
    if (!expected[i]) continue;
    if (hashes[i] != *expected[i]) ++wrong;
    not_null.push_back(*expected[i]);
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(valid_rows, not_null.size());
  for (std::size_t i = expected.size(); i < 8 * (valid.size() - 1); ++i) {
    EXPECT_FALSE(bitmap_get(valid.data(), i)) << "the bitmap's tail is not zero";
  }
  // The keys that inserts see: those of null rows left out. Odd pieces too.
  for (const std::size_t size : {std::size_t{96}, key_reader::piece_rows}) {
    key_reader reader(column, seed, reference_engine());
    std::vector<std::uint64_t> dense;
    for (std::size_t first = 0; first < column.rows; first += size) {
      const key_piece piece =
          reader.read(first, std::min(size, column.rows - first), null_rows::drop);
      EXPECT_EQ(piece.keys.size(), piece.valid_rows);
      for (std::size_t i = 0; i < piece.keys.size(); ++i) dense.push_back(piece.keys.hash(i, seed));
    }
    EXPECT_EQ(dense, not_null) << "pieces of " << size;
  }
  return expected.size();
}

TEST(KeyColumn, GoldenHashesInEveryLayout) {
  random_numbers random(1);
  std::size_t compared = 0;
  std::size_t types = 0;
  for (const sample& s : samples()) {
    SCOPED_TRACE(testing::Message() << "type " << static_cast<int>(s.type) << " seed " << s.seed
                                    << " width " << s.golden.bytes.front().size());
    ++types;
    expectation all(s.golden.hashes.begin(), s.golden.hashes.end());
    const std::vector<column_value> bytes(s.golden.bytes.begin(), s.golden.bytes.end());
    compared += expect_hashes(built_column(s.type, bytes).column(), s.seed, all);
    for (const unsigned percent_null : {0u, 10u, 100u}) {
      for (const std::size_t rows : {1u, 7u, 64u, 5000u}) {
        for (const column_layout& layout :
             {column_layout{}, column_layout{.offset = 3, .validity_offset = 5},
              column_layout{.offset = 64, .validity_offset = 64, .misaligned = true}}) {
          const random_column drawn = draw(s.golden, rows, percent_null, random);
          compared += expect_hashes(built_column(s.type, drawn.values, layout).column(), s.seed,
                                    drawn.hashes);
        }
      }
    }
  }
  EXPECT_EQ(types, 2 * (named_types.size() + 3 + 6));
  EXPECT_GT(compared, 1'000'000u);
}

TEST(KeyColumn, SelectionsAndDictionariesAreThePlainColumn) {
  random_numbers random(2);
  constexpr std::array index_types{column_type::int8,   column_type::uint8, column_type::int16,
                                   column_type::uint16, column_type::int32, column_type::uint32,
                                   column_type::int64,  column_type::uint64};
  std::size_t compared = 0;
  for (const sample& s : samples()) {
    SCOPED_TRACE(testing::Message() << "type " << static_cast<int>(s.type));
    for (const std::size_t values : {1u, 100u}) {
      for (const std::size_t rows : {20u, 5000u}) {
        const random_column base = draw(s.golden, values, 10, random);
        const built_column dictionary(s.type, base.values, {.offset = 2, .validity_offset = 9});
        std::vector<std::uint32_t> selection;
        std::vector<std::optional<std::uint32_t>> indices;
        expectation selected;
        expectation indexed;
        for (std::size_t i = 0; i < rows; ++i) {
          const auto row = static_cast<std::uint32_t>(random() % values);
          const bool is_null = random() % 10 == 0;
          selection.push_back(row);
          selected.push_back(base.hashes[row]);
          indices.push_back(is_null ? std::nullopt : std::optional(row));
          indexed.push_back(is_null ? std::nullopt : base.hashes[row]);
        }
        key_column chosen = dictionary.column();
        chosen.selection = selection.data();
        chosen.rows = rows;
        compared += expect_hashes(chosen, s.seed, selected);

        const column_type index_type = index_types[random() % index_types.size()];
        const built_column plain(index_type, indices, dictionary.column());
        compared += expect_hashes(plain.column(), s.seed, indexed);

        key_column reversed = plain.column();
        std::vector<std::uint32_t> backwards;
        for (std::size_t i = rows; i-- > 0;) backwards.push_back(static_cast<std::uint32_t>(i));
        reversed.selection = backwards.data();
        std::reverse(indexed.begin(), indexed.end());
        compared += expect_hashes(reversed, s.seed, indexed);
      }
    }
  }
  EXPECT_GT(compared, 500'000u);
}

TEST(KeyColumn, EveryIndexTypeReachesItsLastValue) {
  for (const auto& [type, last] :
       std::map<column_type, std::uint32_t>{{column_type::int8, 127},
                                            {column_type::uint8, 255},
                                            {column_type::int16, 32767},
                                            {column_type::uint16, 65535},
                                            {column_type::int32, 70000},
                                            {column_type::uint32, 70000},
                                            {column_type::int64, 70000},
                                            {column_type::uint64, 70000}}) {
    std::vector<std::uint64_t> values(last + 1);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = i * i;
    const key_column dictionary{
        .type = column_type::uint64, .rows = values.size(), .values = values.data()};
    const built_column column(type, {last, 0, last - 1, std::nullopt}, dictionary);
    expect_hashes(
        column.column(), 7,
        {key_hash(values[last], 7), key_hash(0, 7), key_hash(values[last - 1], 7), std::nullopt});
  }
}

TEST(KeyColumn, StringsOfAllLengthsLieTogetherOrApart) {
  random_numbers random(3);
  std::vector<column_value> values;
  expectation hashes;
  for (std::size_t size = 0; size < 70'000; size += 1 + size / 3) {
    for (int copies = 0; copies < 3; ++copies) {
      std::string value;
      while (value.size() < size) value += static_cast<char>(random());
      values.emplace_back(value);
      hashes.emplace_back(key_hash(std::string_view(value), 5));
    }
  }
  for (const auto type :
       {column_type::binary, column_type::large_binary, column_type::binary_view}) {
    EXPECT_GT(expect_hashes(built_column(type, values).column(), 5, hashes), 60u);
  }
}

TEST(KeyColumn, CompositeKeysAreThoseOfTheFormat) {
  random_numbers random(4);
  std::vector<column_value> first;
  std::vector<column_value> second;
  std::vector<column_value> third;
  std::vector<std::uint64_t> expected_one;
  std::vector<std::uint64_t> expected_three;
  constexpr std::uint64_t seed = 3;
  for (std::size_t i = 0; i < 9000; ++i) {
    const auto number = static_cast<std::int16_t>(random());
    const std::string text(random() % 40, static_cast<char>('a' + i % 26));
    const bool flag = random() % 2 == 0;
    const auto two = static_cast<std::uint16_t>(number);
    const std::optional<std::int16_t> a = random() % 5 == 0 ? std::nullopt : std::optional(number);
    const std::optional<std::string_view> b =
        random() % 5 == 0 ? std::nullopt : std::optional(std::string_view(text));
    const std::optional<bool> c = random() % 5 == 0 ? std::nullopt : std::optional(flag);
    first.push_back(a ? column_value({static_cast<char>(two & 0xFFu), static_cast<char>(two >> 8)})
                      : column_value());
    second.push_back(b ? column_value(text) : column_value());
    third.push_back(c ? column_value(std::string(1, flag ? '\1' : '\0')) : column_value());
    expected_one.push_back(composite_key_hash(seed, a));
    expected_three.push_back(composite_key_hash(seed, a, b, c));
  }
  const built_column a(column_type::int16, first, {.offset = 1, .validity_offset = 3});
  const built_column b(column_type::binary, second);
  const built_column c(column_type::boolean, third, {.offset = 5});
  const std::array columns{a.column(), b.column(), c.column()};
  std::vector<std::uint64_t> hashes(first.size());
  std::vector<std::uint8_t> valid(bitmap_bytes(first.size()));
  EXPECT_EQ(hash_rows(key_columns::composite(columns), seed, hashes.data(), valid.data()),
            first.size());
  EXPECT_EQ(hashes, expected_three);
  EXPECT_THAT(valid, testing::Each(0xFF));
  EXPECT_EQ(
      hash_rows(key_columns::composite(std::span(columns).first(1)), seed, hashes.data(), nullptr),
      first.size());
  EXPECT_EQ(hashes, expected_one);
}

TEST(KeyColumn, NoRowsNeedNoMemory) {
  for (int type = 0; type <= static_cast<int>(column_type::fixed_binary); ++type) {
    const key_column none{.type = static_cast<column_type>(type)};
    EXPECT_NO_THROW(require_valid(none)) << type;
    EXPECT_EQ(hash_rows(none, 0, nullptr, nullptr), 0u) << type;
  }
}

TEST(KeyColumn, ColumnsOfStrangersAreRefusedByName) {
  const std::array<std::int64_t, 3> numbers{1, 2, 3};
  const key_column good{.rows = 3, .values = numbers.data()};
  const std::array<std::int32_t, 4> down{0, 5, 4, 6};
  const std::array<std::int32_t, 4> negative{-1, 0, 4, 6};
  const std::array<std::int32_t, 4> last_down{0, 5, 5, 4};
  const std::array<std::int64_t, 4> large_down{0, 5, 4, 6};
  const std::array<std::int32_t, 4> fine{0, 1, 1, 2};
  const std::array<std::int32_t, 3> indices{0, 3, 1};
  const std::array<std::int32_t, 3> below{0, -1, 1};
  const std::array<binary_view_row, 1> short_of{{{-1, {}, 0, 0}}};
  const std::array<binary_view_row, 1> nowhere{{{13, {}, -1, 0}}};
  const std::array<binary_view_row, 1> before{{{13, {}, 0, -4}}};
  const std::array<const void*, 1> no_buffer{nullptr};
  const key_column nested{
      .type = column_type::dictionary, .rows = 3, .values = indices.data(), .dictionary = &good};
  const auto refused = [](const key_columns& keys) {
    return std::string(
        expect_error(error_code::invalid_argument, [&] { require_valid(keys); }).what());
  };
  using testing::HasSubstr;
  EXPECT_THAT(refused(key_column{.rows = 3}), HasSubstr("null pointer for its values"));
  EXPECT_THAT(refused(key_column{.type = static_cast<column_type>(99), .rows = 1}),
              HasSubstr("unknown type"));
  for (const auto& offsets : {down, negative, last_down}) {
    EXPECT_THAT(
        refused(key_column{
            .type = column_type::binary, .rows = 3, .values = "abcdef", .offsets = offsets.data()}),
        HasSubstr("offsets that are negative or go down"));
  }
  EXPECT_THAT(refused(key_column{.type = column_type::large_binary,
                                 .rows = 3,
                                 .values = "abcdef",
                                 .offsets = large_down.data()}),
              HasSubstr("go down"));
  EXPECT_THAT(refused(key_column{.type = column_type::binary, .rows = 3}),
              HasSubstr("null pointer for its offsets"));
  EXPECT_THAT(refused(key_column{.type = column_type::binary, .rows = 3, .offsets = fine.data()}),
              HasSubstr("null pointer for its bytes"));
  EXPECT_THAT(
      refused(key_column{.type = column_type::binary_view, .rows = 1, .values = short_of.data()}),
      HasSubstr("row 0 a view of negative length"));
  EXPECT_THAT(refused(key_column{.type = column_type::binary_view,
                                 .rows = 1,
                                 .values = nowhere.data(),
                                 .buffers = no_buffer.data()}),
              HasSubstr("negative place"));
  EXPECT_THAT(refused(key_column{.type = column_type::binary_view,
                                 .rows = 1,
                                 .values = before.data(),
                                 .buffers = no_buffer.data()}),
              HasSubstr("negative place"));
  EXPECT_THAT(refused(key_column{.type = column_type::dictionary,
                                 .rows = 3,
                                 .values = indices.data(),
                                 .dictionary = &good}),
              HasSubstr("row 1 an index outside its dictionary of 3 values"));
  EXPECT_THAT(
      refused(key_column{
          .type = column_type::dictionary, .rows = 3, .values = below.data(), .dictionary = &good}),
      HasSubstr("row 1 an index outside"));
  EXPECT_THAT(
      refused(key_column{.type = column_type::dictionary, .rows = 3, .values = indices.data()}),
      HasSubstr("no dictionary"));
  EXPECT_THAT(refused(key_column{.type = column_type::dictionary,
                                 .rows = 3,
                                 .values = indices.data(),
                                 .dictionary = &nested}),
              HasSubstr("a dictionary column itself"));
  EXPECT_THAT(refused(key_column{.type = column_type::dictionary,
                                 .rows = 3,
                                 .values = numbers.data(),
                                 .dictionary = &good,
                                 .index_type = column_type::float32}),
              HasSubstr("indices that are no integers"));
  EXPECT_THAT(
      refused(key_column{.rows = 3, .values = numbers.data(), .offset = std::size_t{1} << 62}),
      HasSubstr("beyond all memory"));
  EXPECT_THAT(refused(key_columns::composite({})), HasSubstr("at least one column"));
  const std::array uneven{good, key_column{.rows = 2, .values = numbers.data()}};
  EXPECT_THAT(refused(key_columns::composite(uneven)),
              HasSubstr("column 1 has 2 rows, column 0 has 3"));
  // Null rows are not looked at.
  const std::uint8_t none = 0;
  EXPECT_NO_THROW(require_valid(key_column{.type = column_type::dictionary,
                                           .rows = 3,
                                           .values = indices.data(),
                                           .validity = &none,
                                           .dictionary = &good}));
}

}  // namespace
