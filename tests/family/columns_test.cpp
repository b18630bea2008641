#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <octobloom/counting_filter.h>
#include <octobloom/cuckoo_filter.h>
#include <octobloom/engines.h>
#include <octobloom/filter.h>
#include <octobloom/growing_filter.h>
#include <octobloom/mapped_filter.h>
#include <octobloom/shared_filter.h>
#include <octobloom/windowed_filter.h>

#include "core/column_builder.h"
#include "helpers.h"

namespace {

using namespace octobloom;
using octobloom_test::built_column;
using octobloom_test::column_value;
using octobloom_test::mapped_filter;
using octobloom_test::random_numbers;

/// Columns with nulls, and what single calls take for their rows: the hash under a seed, or
/// nothing.
struct sample {
  std::string name;
  std::vector<std::function<std::optional<std::uint64_t>(std::uint64_t seed)>> rows{};
  std::vector<key_column> columns{};
  bool is_composite = false;
  key_family family = key_family::integers;
  std::vector<std::shared_ptr<built_column>> memory{};

  [[nodiscard]] key_columns keys() const {
    return is_composite ? key_columns::composite(columns) : key_columns(columns.front());
  }
};

std::vector<sample> samples() {
  constexpr std::size_t rows = 10'000;
  random_numbers random(17);
  std::vector<column_value> integers;
  std::vector<column_value> texts;
  sample of_integers{.name = "int32", .family = key_family::integers};
  sample of_texts{.name = "binary", .family = key_family::strings};
  sample of_both{.name = "composite", .is_composite = true, .family = key_family::composites};
  sample plain{.name = "int64", .family = key_family::integers};
  std::vector<column_value> words;
  for (std::size_t i = 0; i < rows; ++i) {
    // Half of them repeats; a piece begins with nulls, another is all nulls.
    const auto number = static_cast<std::int32_t>(random() % (rows / 2)) - 1000;
    const bool no_number = random() % 10 == 0 || i < 5 || (i >= 4096 && i < 8192);
    const std::string text(static_cast<std::size_t>(number + 1000) % 30, 'x');
    const std::string key = text + std::to_string(number);
    const bool no_text = random() % 10 == 0 && !no_number;  // equal keys: eight fit a cuckoo filter
    std::string bytes(4, '\0');
    std::string wide(8, number < 0 ? '\xFF' : '\0');
    for (std::size_t b = 0; b < 4; ++b) {
      bytes[b] = static_cast<char>(static_cast<std::uint32_t>(number) >> (8 * b));
      wide[b] = bytes[b];
    }
    integers.push_back(no_number ? column_value() : bytes);
    texts.push_back(no_text ? column_value() : key);
    words.emplace_back(wide);
    const std::optional<std::int32_t> a = no_number ? std::nullopt : std::optional(number);
    const std::optional<std::string> b = no_text ? std::nullopt : std::optional(key);
    of_integers.rows.emplace_back([a](std::uint64_t seed) -> std::optional<std::uint64_t> {
      if (!a) return std::nullopt;
      return key_hash(*a, seed);
    });
    of_texts.rows.emplace_back([b](std::uint64_t seed) -> std::optional<std::uint64_t> {
      if (!b) return std::nullopt;
      return key_hash(std::string_view(*b), seed);
    });
    of_both.rows.emplace_back([a, b](std::uint64_t seed) -> std::optional<std::uint64_t> {
      const std::optional<std::string_view> text_of =
          b ? std::optional<std::string_view>(*b) : std::nullopt;
      return composite_key_hash(seed, a, text_of);
    });
    plain.rows.emplace_back([number](std::uint64_t seed) -> std::optional<std::uint64_t> {
      return key_hash(number, seed);
    });
  }
  const auto keep = [](sample& s, std::shared_ptr<built_column> column) {
    s.columns.push_back(column->column());
    s.memory.push_back(std::move(column));
  };
  keep(of_integers, std::make_shared<built_column>(
                        column_type::int32, integers,
                        octobloom_test::column_layout{.offset = 3, .validity_offset = 6}));
  keep(of_texts, std::make_shared<built_column>(column_type::binary, texts));
  keep(of_both, std::make_shared<built_column>(column_type::int32, integers));
  keep(of_both, std::make_shared<built_column>(column_type::binary_view, texts));
  keep(plain, std::make_shared<built_column>(column_type::int64, words));
  return {of_integers, of_texts, of_both, plain};
}

template <class Filter>
std::string bytes_of(const Filter& filter) {
  const family::scratch_file file;
  if constexpr (requires { filter.save(file.path()); }) {
    filter.save(file.path());
  } else {
    filter.snapshot().save(file.path());
  }
  return octobloom_test::read_file(file.path());
}

std::vector<std::uint8_t> bitmap_of(const std::vector<bool>& bits) {
  std::vector<std::uint8_t> bitmap(bitmap_bytes(bits.size()));
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) bitmap[i / 8] = static_cast<std::uint8_t>(bitmap[i / 8] | 1u << (i % 8));
  }
  return bitmap;
}

const plan roomy = plan_for(20'000, 0.001);
const window_clock stopped_clock = [] {
  return std::chrono::nanoseconds(1'700'000'000'000'000'000);
};

filter new_plain() {
  return filter(roomy, {.seed = 7});
}
growing_filter new_growing() {
  return {300, 0.001, {.seed = 7}};
}
counting_filter new_counting() {
  return counting_filter(roomy, {.seed = 7});
}
cuckoo_filter new_cuckoo() {
  return cuckoo_filter::with_fpr(20'000, 0.001, {.seed = 7});
}
shared_filter new_shared() {
  return shared_filter(roomy, {.seed = 7});
}
windowed_filter new_by_events() {
  return windowed_filter::last_events(3000, 0.001, {.seed = 7});
}
windowed_filter new_by_time() {
  return windowed_filter::last_duration(std::chrono::hours(1), 20'000, 0.001, {.seed = 7},
                                        stopped_clock);
}

/// What the checks below work on.
const engine* chosen = nullptr;

/// Every door for columns against single calls for each row that is no null, in order: the same
/// answers and the same bytes.
template <class Make>
void expect_rows_as_single_keys(const sample& s, Make make) {
  const std::size_t rows = s.rows.size();
  const bulk_options options{.engine = chosen};
  auto by_row = make();
  auto by_column = make();
  std::vector<bool> is_valid(rows);
  std::vector<bool> is_new(rows);
  std::uint64_t valid_rows = 0;
  std::uint64_t new_rows = 0;
  // The first half by insert, then everything by insert_new.
  for (const bool half : {true, false}) {
    for (std::size_t i = 0; i < (half ? rows / 2 : rows); ++i) {
      const auto hash = s.rows[i](7);
      if (!hash) continue;
      if (half) {
        (void)by_row.insert_hash(*hash, s.family);
        ++valid_rows;
        continue;
      }
      is_valid[i] = true;
      is_new[i] = by_row.insert_new_hash(*hash, s.family);
      new_rows += is_new[i] ? 1u : 0u;
    }
  }
  std::vector<key_column> first_half = s.columns;
  for (key_column& column : first_half) column.rows = rows / 2;
  EXPECT_EQ(by_column.insert(s.is_composite ? key_columns::composite(first_half)
                                            : key_columns(first_half.front()),
                             options),
            valid_rows);
  std::vector<std::uint8_t> bitmap(bitmap_bytes(rows), 0xAA);
  std::vector<std::uint8_t> valid(bitmap_bytes(rows), 0xAA);
  if constexpr (requires { by_column.insert_new(s.keys(), row_answers{}); }) {
    EXPECT_EQ(by_column.insert_new(s.keys(), {bitmap.data(), valid.data()}, options), new_rows);
    EXPECT_EQ(bitmap, bitmap_of(is_new));
    EXPECT_EQ(valid, bitmap_of(is_valid));
    EXPECT_EQ(bytes_of(by_column), bytes_of(by_row));
    EXPECT_EQ(by_column.inserted_keys(), by_row.inserted_keys());
  }

  std::vector<key_column> shifted = s.columns;  // other rows, half of them never inserted
  std::vector<bool> contained(rows);
  auto half_full = make();
  EXPECT_EQ(half_full.insert(s.is_composite ? key_columns::composite(first_half)
                                            : key_columns(first_half.front()),
                             options),
            valid_rows);
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto hash = s.rows[i](7);
    contained[i] = hash && half_full.may_contain_hash(*hash, s.family);
    found += contained[i] ? 1u : 0u;
  }
  EXPECT_GT(found, 0u);
  EXPECT_EQ(half_full.may_contain(s.keys(), {bitmap.data(), valid.data()}, options), found);
  EXPECT_EQ(bitmap, bitmap_of(contained));
  EXPECT_EQ(valid, bitmap_of(is_valid));
  EXPECT_EQ(half_full.may_contain(s.keys(), {}, options), found);

  if constexpr (requires { by_column.remove(s.keys(), row_answers{}); }) {
    std::vector<bool> removed(rows);
    std::uint64_t taken = 0;
    auto twin = make();
    (void)twin.insert(
        s.is_composite ? key_columns::composite(first_half) : key_columns(first_half.front()),
        options);
    for (std::size_t i = 0; i < rows; ++i) {
      const auto hash = s.rows[i](7);
      removed[i] = hash && twin.remove_hash(*hash, s.family);
      taken += removed[i] ? 1u : 0u;
    }
    EXPECT_EQ(half_full.remove(s.keys(), {bitmap.data(), valid.data()}, options), taken);
    EXPECT_EQ(bitmap, bitmap_of(removed));
    EXPECT_EQ(bytes_of(half_full), bytes_of(twin));
  }
}

/// Runs `check` on every engine that runs here.
void on_every_engine(const std::function<void()>& check) {
  std::size_t engines = 0;
  for (const engine* e : all_engines()) {
    if (!e->why_unavailable().empty()) continue;
    SCOPED_TRACE(e->name);
    chosen = e;
    check();
    ++engines;
  }
  chosen = nullptr;
  EXPECT_GE(engines, 1u);
}

TEST(Columns, RowsAreSingleKeysInEveryKind) {
  on_every_engine([] {
    for (const sample& s : samples()) {
      SCOPED_TRACE(s.name);
      for (const auto& [name, check] : std::vector<std::pair<std::string, std::function<void()>>>{
               {"plain", [&] { expect_rows_as_single_keys(s, new_plain); }},
               {"growing", [&] { expect_rows_as_single_keys(s, new_growing); }},
               {"counting", [&] { expect_rows_as_single_keys(s, new_counting); }},
               {"cuckoo", [&] { expect_rows_as_single_keys(s, new_cuckoo); }},
               {"shared", [&] { expect_rows_as_single_keys(s, new_shared); }},
               {"by events", [&] { expect_rows_as_single_keys(s, new_by_events); }},
               {"by time", [&] { expect_rows_as_single_keys(s, new_by_time); }}}) {
        SCOPED_TRACE(name);
        check();
      }
    }
  });
}

TEST(Columns, LargeFiltersReadManyRowsAtOnce) {
  on_every_engine([] {
    const plan large = plan_with_blocks(200'000, 8);  // 12 MiB
    constexpr std::size_t rows = 600'000;
    std::vector<std::int32_t> values(rows);
    std::vector<std::uint8_t> validity(bitmap_bytes(rows));
    random_numbers random(5);
    filter by_row(large);
    std::uint64_t valid_rows = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      values[i] = static_cast<std::int32_t>(random());
      if (random() % 4 == 0) continue;
      validity[i / 8] = static_cast<std::uint8_t>(validity[i / 8] | 1u << (i % 8));
      by_row.insert(values[i]);
      ++valid_rows;
    }
    const key_column column{.type = column_type::int32,
                            .rows = rows,
                            .values = values.data(),
                            .validity = validity.data()};
    filter by_column(large);
    EXPECT_EQ(by_column.insert(column), valid_rows);
    EXPECT_EQ(bytes_of(by_column), bytes_of(by_row));
    std::vector<std::uint8_t> bitmap(bitmap_bytes(rows));
    EXPECT_EQ(by_column.may_contain(column, {bitmap.data(), nullptr}, {.threads = 2}), valid_rows);
    EXPECT_EQ(bitmap, validity);
  });
}

TEST(Columns, WhatIsNoKeyIsTold) {
  const std::array<std::int64_t, 2> numbers{1, 2};
  const std::array<double, 2> floats{1, 2};
  const key_column integers{.rows = 2, .values = numbers.data()};
  const key_column of_floats{.type = column_type::float64, .rows = 2, .values = floats.data()};
  filter ready(roomy, {.hashing = key_hashing::caller});
  family::expect_error(error_code::wrong_key, "64-bit hashes", [&] { ready.insert(integers); });
  EXPECT_EQ(ready.families(), 0);
  filter f(roomy);
  f.insert(integers);
  family::expect_error(error_code::wrong_key, "float", [&] { (void)f.may_contain(of_floats, {}); });
  EXPECT_EQ(f.may_contain(of_floats, {}, {.any_family = true}), 0u);
  const std::array uneven{integers, key_column{.rows = 1, .values = numbers.data()}};
  family::expect_error(error_code::invalid_argument, "equally many rows",
                       [&] { f.insert(key_columns::composite(uneven)); });
  EXPECT_EQ(f.inserted_keys(), 2u);
}

TEST(Columns, MappedFiltersAnswerRows) {
  const family::scratch_file file;
  const std::array<std::int16_t, 4> values{1, 2, -3, 4};
  const std::uint8_t validity = 0b1011;
  const key_column column{
      .type = column_type::int16, .rows = 4, .values = values.data(), .validity = &validity};
  filter f(roomy);
  f.insert(1);
  f.insert(-3);
  f.save(file.path());
  std::uint8_t bitmap = 0xFF;
  std::uint8_t valid = 0xFF;
  EXPECT_EQ(mapped_filter(file.path()).may_contain(column, {&bitmap, &valid}), 1u);
  EXPECT_EQ(bitmap, 0b0001);
  EXPECT_EQ(valid, 0b1011);
}

}  // namespace
