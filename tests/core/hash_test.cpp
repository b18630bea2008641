#include <gmock/gmock.h>
#include <xxhash.h>

#include <cstring>
#include <limits>
#include <optional>

#include <octobloom/hash.h>

#include "support.h"

namespace {

using namespace octobloom;
using octobloom_test::golden_rows;

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

std::uint64_t golden_integer(const std::string& text, std::uint64_t seed) {
  return text.front() == '-' ? key_hash(std::stoll(text), seed) : key_hash(std::stoull(text), seed);
}

std::uint64_t golden_float(const std::string& text, std::uint64_t seed) {
  const double value =
      text == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::strtod(text.c_str(), nullptr);
  return key_hash(value, seed);
}

std::uint64_t golden_tuple(const std::string& text, std::uint64_t seed) {
  using namespace std::string_view_literals;
  if (text == "(1, 2)") return composite_key_hash(seed, 1, 2);
  if (text == "('a', 'bc')") return composite_key_hash(seed, "a"sv, "bc"sv);
  if (text == "('ab', 'c')") return composite_key_hash(seed, "ab"sv, "c"sv);
  if (text == "(None, 1)") return composite_key_hash(seed, std::nullopt, 1);
  if (text == "('null', 1)") return composite_key_hash(seed, "null"sv, 1);
  if (text == "('', None)") return composite_key_hash(seed, ""sv, std::optional<int>{});
  throw std::runtime_error("a tuple that the test does not know: " + text);
}

TEST(Hash, GoldenAnswers) {
  std::size_t compared = 0;
  for (const auto& row : golden_rows("hashes.tsv")) {
    const std::string& kind = row[0];
    const std::uint64_t seed = std::stoull(row[2]);
    std::uint64_t hash = 0;
    if (kind == "bytes") {
      hash = key_hash(from_hex(row[1]), seed);
    } else if (kind == "int") {
      hash = golden_integer(row[1], seed);
    } else if (kind == "float") {
      hash = golden_float(row[1], seed);
    } else {
      hash = golden_tuple(row[1], seed);
    }
    EXPECT_EQ(hash, std::stoull(row[3], nullptr, 16)) << kind << ' ' << row[1] << " seed " << seed;
    ++compared;
  }
  EXPECT_EQ(compared, 530u);
}

TEST(Hash, AgreesWithTheXxhashLibraryAtEveryLengthAndAlignment) {
  octobloom_test::random_numbers random(1);
  std::string data(1200, '\0');
  for (char& c : data) c = static_cast<char>(random());
  for (std::size_t length = 0; length <= 1000; ++length) {
    const char* start = data.data() + length % 17;
    const std::uint64_t seed = random();
    ASSERT_EQ(xxh64(start, length, seed), XXH64(start, length, seed)) << length;
  }
}

TEST(Hash, IntegersOfEveryWidthAreOneKey) {
  EXPECT_EQ(key_hash(std::int8_t{5}), key_hash(std::uint64_t{5}));
  EXPECT_EQ(key_hash(std::uint16_t{5}), key_hash(std::int32_t{5}));
  EXPECT_EQ(key_hash(true), key_hash(1));
  EXPECT_EQ(key_hash(std::int8_t{-1}), key_hash(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_NE(key_hash(-1), key_hash(-2));
  EXPECT_NE(key_hash(1), key_hash(std::uint64_t{1} << 61));
  EXPECT_NE(key_hash(std::uint32_t{0xFFFFFFFF}), key_hash(-1));
}

TEST(Hash, FloatsHaveOneZeroAndOneNan) {
  const double negative_nan = -std::numeric_limits<double>::quiet_NaN();
  std::uint64_t payload = 0x7FF0000000000001u;
  double signalling = 0;
  std::memcpy(&signalling, &payload, sizeof signalling);
  EXPECT_EQ(key_hash(0.0), key_hash(-0.0));
  EXPECT_EQ(key_hash(negative_nan), key_hash(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_EQ(key_hash(signalling), key_hash(negative_nan));
  EXPECT_EQ(key_hash(1.5f), key_hash(1.5));
  EXPECT_NE(key_hash(1.0), key_hash(1));
}

TEST(Hash, CompositeKeysKeepTheirColumnsApart) {
  EXPECT_NE(composite_key_hash(0, "a", "bc"), composite_key_hash(0, "ab", "c"));
  EXPECT_NE(composite_key_hash(0, 1, 2), composite_key_hash(0, 2, 1));
  EXPECT_NE(composite_key_hash(0, std::nullopt), composite_key_hash(0, ""));
  EXPECT_EQ(composite_key_hash(3, std::optional<int>{7}), composite_key_hash(3, 7));
}

/// The bytes of `words` as the format defines them, little-endian, whatever the machine's are.
std::string bytes_of(std::span<const std::uint64_t> words) {
  std::string bytes;
  for (const std::uint64_t word : words) {
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(word >> (8 * i)));
  }
  return bytes;
}

TEST(Hash, CombiningHashesIsXxh64OverTheirBytes) {
  octobloom_test::random_numbers random(2);
  std::vector<std::uint64_t> hashes;
  for (int columns = 0; columns < 20; ++columns) {
    EXPECT_EQ(combine_hashes(hashes, 9), XXH64(bytes_of(hashes).data(), 8 * hashes.size(), 9));
    hashes.push_back(random());
  }
}

TEST(Hash, DecimalsFollowTheIntegerRuleWhileTheyFit) {
  EXPECT_EQ(key_hash_decimal128(5, 0, 1), key_hash(5, 1));
  EXPECT_EQ(key_hash_decimal128(static_cast<std::uint64_t>(-5), -1, 1), key_hash(-5, 1));
  const std::uint64_t above = std::uint64_t{1} << 63;  // 2^63 does not fit a signed 64-bit integer
  const std::array<std::uint64_t, 2> halves{above, 0};
  EXPECT_EQ(key_hash_decimal128(above, 0, 1), XXH64(bytes_of(halves).data(), 16, 1));
  EXPECT_NE(key_hash_decimal128(above, 0, 1), key_hash(above, 1));
}

TEST(Hash, IsAConstantExpression) {
  static_assert(key_hash(std::string_view("abc")) == 0x44BC2CF5AD770999u);
  static_assert(hash_integer(5) == key_hash(std::int16_t{5}));
  static_assert(!integer_key<char> && !float_key<long double>);
  EXPECT_EQ(key_hash(std::string_view("a")), 0xD24EC4F1A98C6E5Bu);
}

}  // namespace
