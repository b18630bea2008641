#include <octobloom/key_column.h>

#include <functional>
#include <memory>

#include <octobloom/counting_filter.h>
#include <octobloom/cuckoo_filter.h>
#include <octobloom/growing_filter.h>
#include <octobloom/mapped_filter.h>
#include <octobloom/set_operations.h>
#include <octobloom/shared_filter.h>
#include <octobloom/windowed_filter.h>

#include "helpers.h"

namespace {

using namespace octobloom;
using family::expect_error;
using family::scratch_file;
using octobloom_test::mapped_filter;

// The numbers of the format's page, said once more.
constexpr unsigned integer_bit = 1;
constexpr unsigned float_bit = 2;
constexpr unsigned string_bit = 4;
constexpr unsigned composite_bit = 8;
constexpr unsigned hash_bit = 16;

constexpr auto composites = key_family::composites;

template <class Filter>
Filter make() {
  if constexpr (std::is_same_v<Filter, growing_filter>) {
    return growing_filter(1000, 0.001);
  } else if constexpr (std::is_same_v<Filter, windowed_filter>) {
    return windowed_filter::last_events(1000, 0.001);
  } else if constexpr (std::is_same_v<Filter, cuckoo_filter>) {
    return cuckoo_filter::with_fpr(1000, 0.001);
  } else {
    return Filter(plan_for(1000, 0.001));
  }
}

template <class Filter>
constexpr bool can_save = requires(const Filter& f) { f.save(std::string()); };

template <class Filter>
Filter saved_and_loaded(const Filter& f, const scratch_file& file) {
  f.save(file.path());
  return Filter::load(file.path());
}

/// A door by which keys come in, and the family that it has to state.
template <class Filter>
struct door {
  const char* name;
  unsigned bit;
  std::function<void(Filter&)> insert;
};

/// A door by which keys are asked for, or taken out.
template <class Filter>
struct question {
  const char* name;
  unsigned bit;
  bool has_options;
  std::function<void(Filter&, const bulk_options&)> ask;
};

const std::vector<std::uint64_t> words{7, 8, 9};
const std::vector<std::int16_t> shorts{7, 8, 9};
const std::vector<float> reals{7.5F, 8.5F};
const std::vector<std::string> texts{"7", "8"};

template <class Filter>
std::vector<door<Filter>> doors() {
  std::vector<door<Filter>> all{
      {"one integer", integer_bit, [](Filter& f) { (void)f.insert(std::int8_t{7}); }},
      {"one boolean", integer_bit, [](Filter& f) { (void)f.insert(true); }},
      {"one float", float_bit, [](Filter& f) { (void)f.insert(7.5F); }},
      {"one double", float_bit, [](Filter& f) { (void)f.insert(7.5); }},
      {"one string", string_bit, [](Filter& f) { (void)f.insert("7"); }},
      {"one new integer", integer_bit, [](Filter& f) { (void)f.insert_new(7); }},
      {"one new double", float_bit, [](Filter& f) { (void)f.insert_new(7.5); }},
      {"one new string", string_bit, [](Filter& f) { (void)f.insert_new("7"); }},
      {"one hash", hash_bit, [](Filter& f) { (void)f.insert_hash(7); }},
      {"one hash of a composite", composite_bit,
       [](Filter& f) { (void)f.insert_hash(composite_key_hash(0, 7, "a"), composites); }},
      {"one new hash", hash_bit, [](Filter& f) { (void)f.insert_new_hash(7); }},
      {"one new hash of a string", string_bit,
       [](Filter& f) { (void)f.insert_new_hash(7, key_family::strings); }},
      {"range of words", integer_bit, [](Filter& f) { (void)f.insert(words); }},
      {"range of shorts", integer_bit, [](Filter& f) { (void)f.insert(shorts); }},
      {"range of floats", float_bit, [](Filter& f) { (void)f.insert(reals); }},
      {"range of strings", string_bit, [](Filter& f) { (void)f.insert(texts); }},
      {"batch of integers", integer_bit,
       [](Filter& f) { (void)f.insert(key_batch::integers(std::span(words))); }},
      {"batch of floats", float_bit,
       [](Filter& f) { (void)f.insert(key_batch::floats(std::span(words))); }},
      {"batch of hashes", hash_bit,
       [](Filter& f) { (void)f.insert(key_batch::hashes(std::span(words))); }},
      {"batch of hashes of composites", composite_bit,
       [](Filter& f) { (void)f.insert(key_batch::hashes(std::span(words), composites)); }},
  };
  if constexpr (requires(Filter& f, std::vector<std::uint8_t>& b) { f.insert_new(words, b); }) {
    const auto add = [&all](const char* name, unsigned bit, auto insert) {
      all.push_back({name, bit, [insert](Filter& f) {
                       std::vector<std::uint8_t> bits(1);
                       insert(f, bits);
                     }});
    };
    using bitmap = std::vector<std::uint8_t>;
    add("new range of words", integer_bit, [](Filter& f, bitmap& b) { f.insert_new(words, b); });
    add("new range of floats", float_bit, [](Filter& f, bitmap& b) { f.insert_new(reals, b); });
    add("new range of strings", string_bit, [](Filter& f, bitmap& b) { f.insert_new(texts, b); });
    add("new batch of hashes", hash_bit,
        [](Filter& f, bitmap& b) { f.insert_new(key_batch::hashes(std::span(words)), b.data()); });
  }
  return all;
}

template <class Filter>
std::vector<question<Filter>> questions() {
  using options = bulk_options;
  using bitmap = std::vector<std::uint8_t>;
  std::vector<question<Filter>> all{
      {"one integer", integer_bit, false,
       [](Filter& f, const options&) { (void)f.may_contain(7); }},
      {"one double", float_bit, false, [](Filter& f, const options&) { (void)f.may_contain(7.5); }},
      {"one string", string_bit, false,
       [](Filter& f, const options&) { (void)f.may_contain("7"); }},
      {"one hash", hash_bit, false, [](Filter& f, const options&) { (void)f.may_contain_hash(7); }},
      {"one hash of a composite", composite_bit, false,
       [](Filter& f, const options&) { (void)f.may_contain_hash(7, composites); }},
      {"range of words", integer_bit, true,
       [](Filter& f, const options& o) {
         bitmap b(1);
         (void)f.may_contain(words, b, o);
       }},
      {"range of floats", float_bit, true,
       [](Filter& f, const options& o) {
         bitmap b(1);
         (void)f.may_contain(reals, b, o);
       }},
      {"range of strings", string_bit, true,
       [](Filter& f, const options& o) {
         bitmap b(1);
         (void)f.may_contain(texts, b, o);
       }},
      {"counted words", integer_bit, true,
       [](Filter& f, const options& o) { (void)f.count_contained(words, o); }},
      {"counted strings", string_bit, true,
       [](Filter& f, const options& o) { (void)f.count_contained(texts, o); }},
      {"batch of hashes", hash_bit, true,
       [](Filter& f, const options& o) {
         (void)f.may_contain(key_batch::hashes(std::span(words)), nullptr, o);
       }},
      {"batch of hashes of composites", composite_bit, true,
       [](Filter& f, const options& o) {
         (void)f.may_contain(key_batch::hashes(std::span(words), composites), nullptr, o);
       }},
  };
  if constexpr (requires(Filter& f) { f.remove(1); }) {
    all.push_back({"removal of one integer", integer_bit, false,
                   [](Filter& f, const options&) { (void)f.remove(70); }});
    all.push_back({"removal of one double", float_bit, false,
                   [](Filter& f, const options&) { (void)f.remove(70.5); }});
    all.push_back({"removal of one string", string_bit, false,
                   [](Filter& f, const options&) { (void)f.remove("70"); }});
    all.push_back({"removal of one hash", hash_bit, false,
                   [](Filter& f, const options&) { (void)f.remove_hash(70); }});
    all.push_back({"removal of a batch", composite_bit, true, [](Filter& f, const options& o) {
                     const std::vector<std::uint64_t> others{70, 71};
                     f.remove(key_batch::hashes(std::span(others), composites), nullptr, o);
                   }});
  }
  return all;
}

/// Every question, of the family that is in and of those that are not.
template <class Filter>
std::size_t expect_questions(Filter& f, unsigned in, const std::string& what) {
  std::size_t cells = 0;
  for (const auto& q : questions<Filter>()) {
    const std::string cell = what + ", asked: " + q.name;
    ++cells;
    if (in == 0 || (q.bit & in) != 0) {
      EXPECT_NO_THROW(q.ask(f, {})) << cell;
      continue;
    }
    const std::string text =
        octobloom_test::expect_error(error_code::wrong_key, [&] { q.ask(f, {}); }).what();
    EXPECT_NE(text.find(describe_families(static_cast<key_families>(in))), std::string::npos)
        << cell << ": " << text;
    EXPECT_NE(text.find("any family"), std::string::npos) << cell << ": " << text;
    if (q.has_options) {
      EXPECT_NO_THROW(q.ask(f, {.any_family = true})) << cell;
    }
    f.accept_any_family(true);
    EXPECT_NO_THROW(q.ask(f, {})) << cell;
    f.accept_any_family(false);
    EXPECT_THROW(q.ask(f, {}), error) << cell;
  }
  return cells;
}

template <class Filter>
class families : public testing::Test {};

using kinds = testing::Types<filter, counting_filter, cuckoo_filter, growing_filter,
                             windowed_filter, shared_filter>;
TYPED_TEST_SUITE(families, kinds);

TYPED_TEST(families, every_door_states_its_own_and_every_question_is_judged) {
  const scratch_file file;
  std::size_t cells = 0;
  for (const auto& d : doors<TypeParam>()) {
    TypeParam f = make<TypeParam>();
    EXPECT_EQ(f.families(), 0);
    d.insert(f);
    EXPECT_EQ(f.families(), d.bit) << d.name;
    cells += expect_questions(f, d.bit, d.name);
    if constexpr (can_save<TypeParam>) {
      TypeParam loaded = saved_and_loaded(f, file);
      EXPECT_EQ(loaded.families(), d.bit) << d.name;
      EXPECT_EQ(static_cast<unsigned char>(family::read_file(file.path())[72]), d.bit) << d.name;
      cells += expect_questions(loaded, d.bit, std::string(d.name) + ", loaded");
    }
  }
  EXPECT_GE(cells, 20u * 12u);
}

TYPED_TEST(families, add_up_until_the_filter_is_cleared) {
  TypeParam f = make<TypeParam>();
  unsigned in = 0;
  EXPECT_GT(expect_questions(f, in, "empty"), 0u);
  for (const auto& d : doors<TypeParam>()) {
    d.insert(f);
    in |= d.bit;
    EXPECT_EQ(f.families(), in) << d.name;
  }
  EXPECT_EQ(in, 31u);
  EXPECT_GT(expect_questions(f, in, "all"), 0u);
  f.clear();
  EXPECT_EQ(f.families(), 0);
  EXPECT_GT(expect_questions(f, 0, "cleared"), 0u);
  (void)f.insert("text");
  EXPECT_EQ(f.families(), string_bit);
}

TYPED_TEST(families, of_no_keys_are_not_stated_and_no_keys_are_no_mistake) {
  TypeParam f = make<TypeParam>();
  (void)f.insert(std::vector<std::uint64_t>{});
  (void)f.insert(key_batch::hashes({}));
  EXPECT_EQ(f.families(), 0);
  (void)f.insert(1);
  (void)f.insert(std::vector<std::string>{});
  EXPECT_EQ(f.families(), integer_bit);
  EXPECT_EQ(f.may_contain(key_batch::hashes({}), nullptr), 0u);
}

/// What a file does not say stays unsaid: no key may be reported that was in it.
TYPED_TEST(families, not_known_absorbs_what_comes_later) {
  if constexpr (!can_save<TypeParam>) {
    filter start = filter::with_fpr(1000, 0.001);
    start.insert("text");
    start.set_families(0);
    TypeParam f(std::move(start));
    (void)f.insert(1);
    EXPECT_EQ(f.families(), 0);
    EXPECT_TRUE(f.may_contain("text"));
    EXPECT_EQ(std::move(f).take_filter().families(), 0);
  } else {
    const scratch_file file;
    TypeParam f = make<TypeParam>();
    (void)f.insert("text");
    f.save(file.path());
    file.write(family::forged(family::read_file(file.path()), [](std::string& b) { b[72] = 0; }));
    TypeParam unknown = TypeParam::load(file.path());
    EXPECT_GT(expect_questions(unknown, 0, "not known"), 0u);
    (void)unknown.insert(1);
    (void)unknown.insert(key_batch::hashes(std::span(words)));
    EXPECT_EQ(unknown.families(), 0);
    EXPECT_TRUE(unknown.may_contain("text"));
    EXPECT_EQ(saved_and_loaded(unknown, file).families(), 0);
    unknown.clear();
    (void)unknown.insert(1);
    EXPECT_EQ(unknown.families(), integer_bit);
  }
}

template <class Filter>
class merged_families : public testing::Test {};
using merging_kinds = testing::Types<filter, counting_filter>;
TYPED_TEST_SUITE(merged_families, merging_kinds);

TYPED_TEST(merged_families, are_united_and_not_known_absorbs) {
  const scratch_file file;
  const auto with = [&](unsigned families) {
    TypeParam f = make<TypeParam>();
    if ((families & 1) != 0) f.insert(7);
    if ((families & 4) != 0) f.insert("7");
    return f;
  };
  const auto unknown = [&](bool counted) {
    with(1).save(file.path());
    file.write(family::forged(family::read_file(file.path()), [&](std::string& b) {
      b[72] = 0;
      if (!counted) b[32] = 0;
    }));
    return TypeParam::load(file.path());
  };
  const auto sum = [](TypeParam a, const TypeParam& b) {
    a.merge(b);
    return unsigned{a.families()};
  };
  EXPECT_EQ(sum(with(0), with(0)), 0u);
  EXPECT_EQ(sum(with(1), with(0)), 1u);
  EXPECT_EQ(sum(with(0), with(4)), 4u);
  EXPECT_EQ(sum(with(1), with(4)), 5u);
  for (const bool counted : {true, false}) {
    EXPECT_EQ(sum(with(1), unknown(counted)), 0u);
    EXPECT_EQ(sum(unknown(counted), with(4)), 0u);
    EXPECT_EQ(sum(with(0), unknown(counted)), 0u);
    EXPECT_EQ(sum(unknown(counted), with(0)), 0u);
  }
  TypeParam after = with(1);
  after.merge(unknown(true));
  after.insert("text");
  EXPECT_EQ(after.families(), 0);
  EXPECT_NO_THROW((void)after.may_contain(1.5));
}

TEST(families_of_removals, stay) {
  auto counting = make<counting_filter>();
  auto cuckoo = make<cuckoo_filter>();
  counting.insert(7);
  ASSERT_TRUE(cuckoo.insert(7));
  EXPECT_TRUE(counting.remove(7));
  EXPECT_TRUE(cuckoo.remove(7));
  EXPECT_EQ(counting.families(), integer_bit);
  EXPECT_EQ(cuckoo.families(), integer_bit);
}

TEST(families_of_a_full_cuckoo_filter, are_of_the_keys_that_are_in) {
  cuckoo_filter full(cuckoo_plan_with_lines(1, 32));
  std::uint64_t key = 0;
  while (full.insert(key)) ++key;
  EXPECT_FALSE(full.insert("text"));
  EXPECT_EQ(full.insert(key_batch::hashes(std::span(words))), 0u);
  EXPECT_EQ(full.families(), integer_bit);
}

TEST(families_of_views, are_not_known) {
  const key_batch texts_batch = key_batch::hashes(std::span(words), key_family::strings);
  for (const bool counted : {true, false}) {
    filter f = make<filter>();
    reference_engine().insert(f.view(), texts_batch, {});
    if (counted) f.count_inserted(words.size());
    EXPECT_EQ(f.families(), 0);
    f.insert(1);
    EXPECT_EQ(f.families(), 0) << counted;
    EXPECT_NO_THROW((void)f.may_contain("text"));
  }
  filter named = make<filter>();
  reference_engine().insert(named.view(), texts_batch, {});
  named.count_inserted(words.size(), key_family::strings);
  named.insert(1);
  EXPECT_EQ(named.families(), string_bit | integer_bit);
  named.count_inserted(1);
  EXPECT_EQ(named.families(), 0);
  named.set_families(string_bit);
  EXPECT_EQ(named.families(), string_bit);

  filter merged = make<filter>();
  merged.merge(std::as_const(named).view(), 3);
  EXPECT_EQ(merged.families(), 0);
  filter said = make<filter>();
  said.merge(std::as_const(named).view(), 3, string_bit);
  EXPECT_EQ(said.families(), string_bit);
}

TEST(families_of_copies, are_those_of_what_was_copied) {
  const scratch_file file;
  filter f = make<filter>();
  f.insert(1);
  f.insert("1");
  EXPECT_EQ(f.copy().families(), 5);
  EXPECT_EQ(fold(f, 1).families(), 5);
  filter g = make<filter>();
  g.insert(1.5);
  EXPECT_EQ(union_of(f, g).families(), 7);
  EXPECT_EQ(common_bits(f, g).families(), 7);
  EXPECT_EQ(common_bits(f, make<filter>()).families(), 0);

  auto counting = make<counting_filter>();
  counting.insert(1.5);
  EXPECT_EQ(counting.snapshot().families(), 2);
  shared_filter shared(f.copy());
  (void)shared.insert_new(1.5);
  EXPECT_EQ(shared.snapshot().families(), 7);
  EXPECT_EQ(std::move(shared).take_filter().families(), 7);

  f.save(file.path());
  mapped_filter mapped(file.path());
  EXPECT_EQ(mapped.families(), 5);
  EXPECT_TRUE(mapped.may_contain("1"));
  expect_error(error_code::wrong_key, "integers and strings",
               [&] { (void)mapped.may_contain(1.0); });
  mapped_filter moved = std::move(mapped);
  expect_error(error_code::wrong_key, "floating point", [&] { (void)moved.may_contain(1.0); });
  const std::vector<double> doubles{1, 2};
  expect_error(error_code::wrong_key, "floating point",
               [&] { (void)moved.count_contained(doubles); });
  EXPECT_NO_THROW((void)moved.count_contained(doubles, {.any_family = true}));
  moved.accept_any_family(true);
  EXPECT_NO_THROW((void)moved.may_contain(1.0));
  filter target = make<filter>();
  target.merge(moved);
  EXPECT_EQ(target.families(), 5);
}

TEST(families_of_columns, are_those_of_their_types) {
  const std::vector<std::int64_t> values{1, 2, 3};
  const auto family_read = [&](const key_columns& keys) {
    key_reader reader(keys, 0, reference_engine());
    return reader.read(0, 3, null_rows::drop).keys.family();
  };
  key_column column{.type = column_type::int64, .rows = 3, .values = values.data()};
  EXPECT_EQ(family_read(column), key_family::integers);
  const std::uint8_t some = 5;
  column.validity = &some;
  EXPECT_EQ(family_read(column), key_family::integers);
  column.type = column_type::float64;
  EXPECT_EQ(family_read(column), key_family::floats);
  column.type = column_type::fixed_binary;
  column.width = 8;
  EXPECT_EQ(family_read(column), key_family::strings);
  column.validity = nullptr;
  EXPECT_EQ(family_read(column), key_family::strings);
  EXPECT_EQ(family_read(key_columns::composite({&column, 1})), key_family::composites);
  const std::vector<std::int32_t> indices{0, 1, 0};
  const key_column dictionary{
      .type = column_type::dictionary, .rows = 3, .values = indices.data(), .dictionary = &column};
  EXPECT_EQ(family_read(dictionary), key_family::strings);
}

}  // namespace
