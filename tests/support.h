#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <octobloom/error.h>
#include <octobloom/mapped_filter.h>

/// What the tests of every room share.
namespace octobloom_test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG) || \
    defined(OCTOBLOOM_TEST_EMULATED)
#define OCTOBLOOM_TEST_SLOW_BUILD 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef OCTOBLOOM_TEST_SLOW_BUILD
#define OCTOBLOOM_TEST_SLOW_BUILD 1
#endif
#endif

/// `full` trials in an optimised build, `reduced` where sanitizers, assertions or an emulator slow
/// them down.
constexpr std::uint64_t trials(std::uint64_t full, std::uint64_t reduced) {
#ifdef OCTOBLOOM_TEST_SLOW_BUILD
  (void)full;
  return reduced;
#else
  (void)reduced;
  return full;
#endif
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
using octobloom::mapped_filter;
#else
/// Always a copy: a file's words cannot be used in place here.
struct mapped_filter : octobloom::mapped_filter {
  explicit mapped_filter(const std::string& path, octobloom::mapping_options options = {})
      : octobloom::mapped_filter(path, {.verify_body = options.verify_body, .copy = true}) {}
};
#endif

/// A file of tests/golden. Throws when it is not there, so that no test passes on an empty table.
inline std::string golden_path(const std::string& name) {
  return std::string(OCTOBLOOM_TEST_DATA) + "/golden/" + name;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

inline void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

/// The rows of a golden table, split at tabs, without its line of titles.
inline std::vector<std::vector<std::string>> golden_rows(const std::string& name) {
  std::istringstream text(read_file(golden_path(name)));
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(text, line);
  while (std::getline(text, line)) {
    std::vector<std::string> row;
    std::size_t begin = 0;
    for (std::size_t end; (end = line.find('\t', begin)) != std::string::npos; begin = end + 1) {
      row.push_back(line.substr(begin, end - begin));
    }
    row.push_back(line.substr(begin));
    rows.push_back(row);
  }
  if (rows.empty()) throw std::runtime_error(name + " has no rows");
  return rows;
}

/// A folder of its own for one test, removed at the end.
class temporary_folder {
 public:
  temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "octobloom-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

/// splitmix64 (Steele, Lea, Flood): independent of the hash under test, the same everywhere.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

/// Runs `action` and hands on the octobloom::error that it must throw.
template <class Action>
octobloom::error expect_error(octobloom::error_code code, Action action) {
  try {
    action();
  } catch (const octobloom::error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e;
  }
  ADD_FAILURE() << "no error{" << octobloom::to_string(code) << "}";
  return {code, ""};
}

/// `found` of `probes` absent keys against an expected rate: within five standard deviations of the
/// draw, and `slack` (relative) for the filter's own deviation from the expectation. Two-sided.
inline void expect_rate(std::uint64_t found, std::uint64_t probes, double expected, double slack) {
  const double mean = expected * static_cast<double>(probes);
  const double bound = 5 * std::sqrt(mean * (1 - expected)) + slack * mean;
  EXPECT_GT(mean, 100) << "too few trials for a bound";
  EXPECT_NEAR(static_cast<double>(found), mean, bound) << probes << " probes, rate " << expected;
}

}  // namespace octobloom_test
