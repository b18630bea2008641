// One type for all kinds: it does what the kind does, and says which kinds can where its own
// cannot.
#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <octobloom/any_filter.h>

#include "helpers.h"

namespace {

using namespace octobloom;
using octobloom_test::expect_error;
using testing::HasSubstr;

constexpr std::uint64_t planned = 2000;
constexpr double target = 0.01;

filter_request request_of(filter_kind kind) {
  filter_request request{.kind = kind, .expected_keys = planned, .target_fpr = target, .seed = 7};
  if (kind == filter_kind::windowed) {
    request.expected_keys = 0;
    request.window_events = planned;
  }
  return request;
}

/// The same, made by the kind's own constructor.
any_filter twin_of(filter_kind kind) {
  switch (kind) {
    case filter_kind::plain:
      return filter(plan_for(planned, target), {.seed = 7});
    case filter_kind::growing:
      return growing_filter(planned, target, {.seed = 7});
    case filter_kind::counting:
      return counting_filter(plan_for(planned, target), {.seed = 7});
    case filter_kind::cuckoo:
      return cuckoo_filter::with_fpr(planned, target, {.seed = 7});
    case filter_kind::windowed:
      return windowed_filter::last_events(planned, target, {.seed = 7});
  }
  throw std::logic_error("a kind without a twin");
}

key_column column_of(const std::vector<std::uint64_t>& keys) {
  return {.type = column_type::uint64, .rows = keys.size(), .values = keys.data()};
}

class AnyFilter : public testing::TestWithParam<filter_kind> {
 protected:
  [[nodiscard]] static const kind_row& row() { return row_of(GetParam()); }
  const std::vector<std::uint64_t> keys_ = family::numbers(1000, 500);
  const key_batch batch_ = key_batch::integers(keys_);
  const key_column column_ = column_of(keys_);
};

TEST(AnyFilterTable, HasTheKindsOfFilesInTheirOrder) {
  std::vector<std::string> names;
  for (const kind_row& row : all_kinds()) {
    EXPECT_EQ(static_cast<std::size_t>(row.kind), names.size());
    EXPECT_EQ(&row_of(row.kind), &row);
    names.emplace_back(to_string(row.kind));
  }
  EXPECT_THAT(names, testing::ElementsAre("plain", "growing", "counting", "cuckoo", "windowed"));
  const error problem =
      expect_error(error_code::invalid_argument, [] { (void)row_of(static_cast<filter_kind>(5)); });
  EXPECT_THAT(problem.what(), HasSubstr("0 to 4, not 5"));
}

TEST_P(AnyFilter, IsWhatItsConstructorMakes) {
  any_filter f = any_filter::make(request_of(GetParam()));
  any_filter twin = twin_of(GetParam());
  EXPECT_EQ(f.kind(), GetParam());
  EXPECT_EQ(&f.row(), &row());
  EXPECT_EQ(f.seed(), 7u);
  EXPECT_EQ(f.to_bytes(), twin.to_bytes());
  f.insert(batch_);
  twin.insert(batch_);
  EXPECT_EQ(f.to_bytes(), twin.to_bytes());
  EXPECT_EQ(f.inserted_keys(), keys_.size());
  EXPECT_EQ(f.families(), static_cast<key_families>(key_family::integers));
}

TEST_P(AnyFilter, AnswersForKeysAndColumns) {
  any_filter f = any_filter::make(request_of(GetParam()));
  f.insert(batch_);
  std::vector<std::uint8_t> marks(bitmap_bytes(keys_.size()));
  EXPECT_EQ(f.may_contain(batch_, marks.data()), keys_.size());
  EXPECT_EQ(f.may_contain(column_, {.bitmap = marks.data()}), keys_.size());
  const std::vector<std::uint64_t> others = family::numbers(1'000'000, 5000);
  EXPECT_LT(f.may_contain(key_batch::integers(others), nullptr), others.size() / 25);

  any_filter by_column = any_filter::make(request_of(GetParam()));
  EXPECT_EQ(by_column.insert(column_), keys_.size());
  EXPECT_EQ(by_column.to_bytes(), f.to_bytes());
}

TEST_P(AnyFilter, TellsNewKeysOnce) {
  any_filter f = any_filter::make(request_of(GetParam()));
  any_filter by_column = any_filter::make(request_of(GetParam()));
  std::vector<std::uint8_t> marks(bitmap_bytes(keys_.size()));
  const std::uint64_t fresh = f.insert_new(batch_, marks.data());
  EXPECT_GE(fresh, keys_.size() - 10);
  EXPECT_LE(fresh, keys_.size());
  EXPECT_EQ(by_column.insert_new(column_, {}), fresh);
  EXPECT_EQ(by_column.to_bytes(), f.to_bytes());
  EXPECT_EQ(f.insert_new(batch_, marks.data()), 0u);
  EXPECT_THAT(marks, testing::Each(0));
}

TEST_P(AnyFilter, TakesSingleHashes) {
  any_filter f = any_filter::make(request_of(GetParam()));
  any_filter by_keys = any_filter::make(request_of(GetParam()));
  by_keys.insert(batch_.slice(0, 10));
  for (std::size_t i = 0; i < 10; ++i) {
    const std::uint64_t hash = key_hash(keys_[i], 7);
    EXPECT_FALSE(f.may_contain_hash(hash, key_family::integers));
    if (i % 2 == 0) {
      f.insert_hash(hash, key_family::integers);
    } else {
      EXPECT_TRUE(f.insert_new_hash(hash, key_family::integers));
    }
    EXPECT_TRUE(f.may_contain_hash(hash, key_family::integers));
    EXPECT_FALSE(f.insert_new_hash(hash, key_family::integers));
  }
  // Windows by events count each call of insert_new, also for what is there.
  if (GetParam() != filter_kind::windowed) {
    EXPECT_EQ(f.to_bytes(), by_keys.to_bytes());
  }
  expect_error(error_code::wrong_key,
               [&] { (void)f.may_contain_hash(key_hash("5", 7), key_family::strings); });
  const std::uint64_t first = key_hash(keys_[0], 7);
  if (row().removes) {
    EXPECT_TRUE(f.remove_hash(first, key_family::integers));
    EXPECT_FALSE(f.may_contain_hash(first, key_family::integers));
    EXPECT_FALSE(f.remove_hash(first, key_family::integers));
  } else {
    expect_error(error_code::invalid_argument, [&] { (void)f.remove_hash(first); });
  }
}

TEST(AnyFilterOfHashes, SaysWhenThereIsNoRoom) {
  any_filter f =
      any_filter::make({.kind = filter_kind::cuckoo, .expected_keys = 100, .target_fpr = 0.01});
  for (int i = 0; i < 8; ++i) f.insert_hash(99);
  const std::vector<std::byte> before = f.to_bytes();
  const error e = expect_error(error_code::full, [&] { f.insert_hash(99); });
  EXPECT_THAT(e.what(), HasSubstr("eight times"));
  EXPECT_EQ(f.to_bytes(), before);
}

TEST_P(AnyFilter, RemovesWhereItsRowSaysSo) {
  any_filter f = any_filter::make(request_of(GetParam()));
  f.insert(batch_);
  const auto before = f.to_bytes();
  const std::function<void()> calls[] = {[&] { (void)f.remove(batch_, nullptr); },
                                         [&] { (void)f.remove(column_, {}); }};
  for (const auto& call : calls) {
    if (row().removes) {
      call();
      EXPECT_EQ(f.inserted_keys(), 0u);
      EXPECT_EQ(f.may_contain(batch_, nullptr), 0u);
      f.insert(batch_);
    } else {
      const error problem = expect_error(error_code::invalid_argument, call);
      EXPECT_EQ(std::string(problem.what()),
                "a " + std::string(to_string(GetParam())) +
                    " filter cannot take keys back; counting and cuckoo ones can");
      EXPECT_EQ(f.to_bytes(), before);
    }
  }
}

TEST_P(AnyFilter, MergesWhereItsRowSaysSo) {
  // Windows merge by time only.
  filter_request request = request_of(GetParam());
  if (GetParam() == filter_kind::windowed) {
    request.window_events = 0;
    request.expected_keys = planned;
    request.window_duration = 3'600'000'000'000;
  }
  any_filter f = any_filter::make(request);
  any_filter other = any_filter::make(request);
  other.insert(batch_);
  if (row().merges) {
    f.merge(other);
    EXPECT_EQ(f.may_contain(batch_, nullptr), keys_.size());
    request.seed = 8;
    const any_filter stranger = any_filter::make(request);
    expect_error(error_code::mismatch, [&] { f.merge(stranger); });
  } else {
    const error problem = expect_error(error_code::invalid_argument, [&] { f.merge(other); });
    EXPECT_THAT(problem.what(), HasSubstr("plain, counting and windowed ones can"));
  }
  for (const kind_row& of_other : all_kinds()) {
    if (of_other.kind == GetParam()) continue;
    const auto bytes = f.to_bytes();
    expect_error(row().merges ? error_code::mismatch : error_code::invalid_argument,
                 [&] { f.merge(any_filter::make(request_of(of_other.kind))); });
    EXPECT_EQ(f.to_bytes(), bytes);
  }
}

TEST_P(AnyFilter, ComesBackAsItsKind) {
  any_filter f = any_filter::make(request_of(GetParam()));
  f.insert(batch_);
  const auto bytes = f.to_bytes();
  const any_filter back = any_filter::from_bytes(bytes);
  EXPECT_EQ(back.kind(), GetParam());
  EXPECT_EQ(back.to_bytes(), bytes);
  const family::scratch_file file;
  f.save(file.path());
  EXPECT_EQ(any_filter::load(file.path()).to_bytes(), bytes);
  for (const std::size_t at : {std::size_t{3}, std::size_t{10}, bytes.size() - 1}) {
    auto damaged = bytes;
    damaged[at] ^= std::byte{0xff};
    expect_error(error_code::bad_file, [&] { (void)any_filter::from_bytes(damaged); });
  }
}

TEST_P(AnyFilter, ForgetsEverythingOnRequest) {
  any_filter f = any_filter::make(request_of(GetParam()));
  const auto empty = f.to_bytes();
  f.insert(batch_);
  f.clear();
  EXPECT_EQ(f.to_bytes(), empty);
}

TEST_P(AnyFilter, TellsTheFactsOfItsKind) {
  any_filter f = any_filter::make(request_of(GetParam()));
  f.insert(batch_);
  const filter_facts facts = facts_of(f);
  EXPECT_EQ(facts.kind, GetParam());
  EXPECT_EQ(facts.planned_keys, planned);
  EXPECT_EQ(facts.target_fpr, target);
  EXPECT_EQ(facts.inserted_keys, keys_.size());
  EXPECT_EQ(facts.bytes, f.bytes());
  EXPECT_EQ(facts.verdict, saturation::fine);
  EXPECT_EQ(!facts.levels.empty(), row().grows);
  EXPECT_EQ(facts.window.has_value(), row().forgets);
}

TEST_P(AnyFilter, KnowsFamilies) {
  any_filter f = any_filter::make(request_of(GetParam()));
  f.insert(batch_);
  const std::uint64_t offsets[] = {0, 1, 2};
  const key_batch strings = key_batch::strings({"56", offsets, 2});
  expect_error(error_code::wrong_key, [&] { (void)f.may_contain(strings, nullptr); });
  f.accept_any_family(true);
  EXPECT_LE(f.may_contain(strings, nullptr), 2u);
}

TEST_P(AnyFilter, RefusesWhatDoesNotConcernTheKind) {
  const auto refused = [&](auto set) {
    filter_request request = request_of(GetParam());
    set(request);
    return std::string(expect_error(error_code::invalid_argument, [&] {
                         (void)any_filter::make(request);
                       }).what());
  };
  const std::string beginning = "a " + std::string(to_string(GetParam())) + " filter takes no ";
  if (!row().grows) {
    EXPECT_THAT(refused([](auto& r) { r.growth = 2; }), HasSubstr(beginning + "growth"));
    EXPECT_THAT(refused([](auto& r) { r.grow_at = 1; }), HasSubstr(beginning + "grow_at"));
  }
  if (!row().forgets) {
    EXPECT_THAT(refused([](auto& r) { r.window_events = 9; }), HasSubstr("window_events"));
    EXPECT_THAT(refused([](auto& r) { r.window_duration = 9; }), HasSubstr("window_duration"));
    EXPECT_THAT(refused([](auto& r) { r.parts = 4; }), HasSubstr(beginning + "parts"));
  } else {
    EXPECT_THAT(refused([](auto& r) { r.window_duration = 9; }), HasSubstr("give one of them"));
    EXPECT_THAT(refused([](auto& r) { r.expected_keys = 9; }), HasSubstr("leave expected_keys 0"));
    EXPECT_THAT(refused([](auto& r) {
                  r.window_events = 0;
                  r.window_duration = UINT64_MAX;
                }),
                HasSubstr("100 years"));
  }
  const bool of_blocks = GetParam() == filter_kind::plain || GetParam() == filter_kind::counting;
  EXPECT_THAT(refused([](auto& r) { r.blocks = 4; }),
              HasSubstr(of_blocks ? "k is from 1 to 24" : beginning + "blocks"));
  EXPECT_THAT(refused([](auto& r) { r.k = 4; }), HasSubstr(of_blocks ? "block" : beginning + "k"));
  refused([](auto& r) { r.target_fpr = 2; });
  filter_request by_blocks{.kind = GetParam(), .blocks = 9, .k = 5};
  if (of_blocks) {
    EXPECT_EQ(any_filter::make(by_blocks).bytes(), 9u * 64);
    by_blocks.expected_keys = 77;  // what it was planned for is kept
    by_blocks.target_fpr = 0.25;
    const filter_facts facts = facts_of(any_filter::make(by_blocks));
    EXPECT_EQ(facts.planned_keys, 77u);
    EXPECT_EQ(facts.target_fpr, 0.25);
    EXPECT_EQ(facts.bytes, 9u * 64);
  } else {
    expect_error(error_code::invalid_argument, [&] { (void)any_filter::make(by_blocks); });
  }
}

TEST(AnyFilterOf, CuckooSaysWhenItIsFull) {
  any_filter f =
      any_filter::make({.kind = filter_kind::cuckoo, .expected_keys = 100, .target_fpr = 0.01});
  const std::vector<std::uint64_t> nine(9, 5);
  EXPECT_THAT(expect_error(error_code::full, [&] { f.insert(key_batch::integers(nine)); }).what(),
              HasSubstr("8 keys"));
  EXPECT_EQ(f.inserted_keys(), 8u);
  EXPECT_THAT(expect_error(error_code::full, [&] { (void)f.insert(column_of(nine)); }).what(),
              HasSubstr("8 keys"));
  EXPECT_EQ(f.insert_new(key_batch::integers(nine), nullptr), 0u);
  EXPECT_EQ(f.get_if<filter>(), nullptr);
  ASSERT_NE(f.get_if<cuckoo_filter>(), nullptr);
  EXPECT_EQ(f.get_if<cuckoo_filter>()->taken_slots(), 8u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, AnyFilter,
                         testing::Values(filter_kind::plain, filter_kind::growing,
                                         filter_kind::counting, filter_kind::cuckoo,
                                         filter_kind::windowed),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

}  // namespace
