// What the layout of a column costs: every row is hashed and goes into, or is asked of, a filter of
// 1 MiB on one thread; beside it the same keys as a span of 64-bit integers.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <octobloom/key_column.h>
#include <octobloom/octobloom.h>

namespace {

using namespace octobloom;

constexpr std::size_t rows = 1'000'000;
constexpr std::size_t dictionary_rows = 1000;
constexpr std::size_t string_bytes = 24;

/// The same rows in every layout; strings are 24 bytes long, one row in ten is null where there are
/// nulls.
struct table {
  std::vector<std::int64_t> wide;
  std::vector<std::int32_t> narrow;
  std::vector<std::uint8_t> validity;
  std::string bytes;
  std::vector<std::uint64_t> large_offsets;
  std::vector<std::uint32_t> offsets;
  std::vector<std::int32_t> indices;
  std::string unfolded;  // what the indices stand for
  key_column dictionary;

  table() : validity(bitmap_bytes(rows)) {
    std::uint64_t state = 12;
    const auto random = [&state] { return hash_integer(++state); };
    for (std::size_t i = 0; i < rows; ++i) {
      narrow.push_back(static_cast<std::int32_t>(random()));
      wide.push_back(narrow.back());
      if (random() % 10 != 0) {
        validity[i / 8] = static_cast<std::uint8_t>(validity[i / 8] | 1u << (i % 8));
      }
      large_offsets.push_back(bytes.size());
      offsets.push_back(static_cast<std::uint32_t>(bytes.size()));
      std::string text = std::to_string(random());
      text.resize(string_bytes, 'z');
      bytes += text;
      indices.push_back(static_cast<std::int32_t>(random() % dictionary_rows));
    }
    large_offsets.push_back(bytes.size());
    offsets.push_back(static_cast<std::uint32_t>(bytes.size()));
    for (const std::int32_t index : indices) {
      unfolded.append(bytes, static_cast<std::size_t>(index) * string_bytes, string_bytes);
    }
    dictionary = {.type = column_type::binary,
                  .rows = dictionary_rows,
                  .values = bytes.data(),
                  .offsets = offsets.data()};
  }
};

const table& the_table() {
  static const table t;
  return t;
}

key_column with_nulls(key_column column) {
  column.validity = the_table().validity.data();
  return column;
}
key_column int64_column() {
  return {.type = column_type::int64, .rows = rows, .values = the_table().wide.data()};
}
key_column int32_column() {
  return {.type = column_type::int32, .rows = rows, .values = the_table().narrow.data()};
}
key_column strings() {
  return {.type = column_type::binary,
          .rows = rows,
          .values = the_table().bytes.data(),
          .offsets = the_table().offsets.data()};
}
key_column large_strings() {
  return {.type = column_type::large_binary,
          .rows = rows,
          .values = the_table().bytes.data(),
          .offsets = the_table().large_offsets.data()};
}
key_column unfolded() {
  key_column column = strings();
  column.values = the_table().unfolded.data();
  return column;
}
key_column dictionary() {
  return {.type = column_type::dictionary,
          .rows = rows,
          .values = the_table().indices.data(),
          .dictionary = &the_table().dictionary,
          .index_type = column_type::int32};
}

filter new_filter() {
  return filter(plan_with_blocks(16'384, 6));
}

void count_rows(benchmark::State& state) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(rows));
}

void insert(benchmark::State& state, const key_columns& keys) {
  filter f = new_filter();
  for (auto _ : state) benchmark::DoNotOptimize(f.insert(keys));
  count_rows(state);
}

void may_contain(benchmark::State& state, const key_columns& keys) {
  filter f = new_filter();
  f.insert(keys);
  std::vector<std::uint8_t> answers(bitmap_bytes(rows));
  std::vector<std::uint8_t> valid(bitmap_bytes(rows));
  for (auto _ : state) {
    benchmark::DoNotOptimize(f.may_contain(keys, {answers.data(), valid.data()}));
  }
  count_rows(state);
}

void insert_new(benchmark::State& state, const key_columns& keys) {
  filter f = new_filter();
  std::vector<std::uint8_t> answers(bitmap_bytes(rows));
  std::vector<std::uint8_t> valid(bitmap_bytes(rows));
  for (auto _ : state) {
    benchmark::DoNotOptimize(f.insert_new(keys, {answers.data(), valid.data()}));
  }
  count_rows(state);
}

void span_insert(benchmark::State& state) {
  filter f = new_filter();
  for (auto _ : state) f.insert(the_table().wide);
  count_rows(state);
}
BENCHMARK(span_insert)->Name("span of int64/insert");

void span_may_contain(benchmark::State& state) {
  filter f = new_filter();
  f.insert(the_table().wide);
  std::vector<std::uint8_t> answers(bitmap_bytes(rows));
  for (auto _ : state) benchmark::DoNotOptimize(f.may_contain(the_table().wide, answers));
  count_rows(state);
}
BENCHMARK(span_may_contain)->Name("span of int64/may_contain");

[[maybe_unused]] const bool registered = [] {
  struct layout {
    const char* name;
    key_column column;
  };
  static const std::array layouts{
      layout{"int64", int64_column()},
      layout{"int32", int32_column()},
      layout{"int64, nulls", with_nulls(int64_column())},
      layout{"int32, nulls", with_nulls(int32_column())},
      layout{"strings, 64-bit offsets", large_strings()},
      layout{"strings, 32-bit offsets", strings()},
      layout{"strings, 32-bit offsets, nulls", with_nulls(strings())},
      layout{"1,000 strings, dictionary", dictionary()},
      layout{"1,000 strings, plain", unfolded()},
  };
  static const std::array two{int32_column(), strings()};
  const auto add = [](const std::string& name, const key_columns& keys) {
    benchmark::RegisterBenchmark((name + "/insert").c_str(), insert, keys);
    benchmark::RegisterBenchmark((name + "/may_contain").c_str(), may_contain, keys);
    benchmark::RegisterBenchmark((name + "/insert_new").c_str(), insert_new, keys);
  };
  for (const layout& one : layouts) add(one.name, one.column);
  add("int32 and strings, composite", key_columns::composite(two));
  return true;
}();

}  // namespace
