#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <octobloom/error.h>
#include <octobloom/file.h>
#include <octobloom/hash.h>

#include "support.h"

namespace family {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Sanitizers are ten times slower: they get smaller numbers, never other questions.
inline constexpr std::uint64_t slowdown = octobloom_test::trials(1, 10);

using octobloom_test::read_file;
using octobloom_test::write_file;

/// first, first + 1, ...
inline std::vector<std::uint64_t> numbers(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> keys(count);
  std::iota(keys.begin(), keys.end(), first);
  return keys;
}

inline std::string golden(const std::string& name) {
  return octobloom_test::golden_path(name + ".octobloom");
}

/// A file that goes with its test.
class scratch_file {
 public:
  [[nodiscard]] const std::string& path() const { return path_; }
  void write(const std::string& bytes) const { write_file(path_, bytes); }

 private:
  octobloom_test::temporary_folder folder_;
  std::string path_ = folder_.file("test.octobloom");
};

/// The code of the error that `action` throws, and its sentence.
template <class Action>
std::pair<octobloom::error_code, std::string> error_of(Action action) {
  try {
    action();
  } catch (const octobloom::error& e) {
    return {e.code(), e.what()};
  }
  return {octobloom::error_code{}, "no error"};
}

template <class Action>
void expect_error(octobloom::error_code code, const std::string& part, Action action) {
  const std::string text = octobloom_test::expect_error(code, action).what();
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

/// Writes the file again with the right checksums after `change`: what a checksum cannot find.
template <class Change>
std::string forged(std::string bytes, Change change) {
  change(bytes);
  const auto put = [&bytes](std::size_t at, std::uint64_t value) {
    for (std::size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
  };
  put(64, octobloom::xxh64(bytes.data() + 128, bytes.size() - 128));
  put(120, octobloom::xxh64(bytes.data(), 120));
  return bytes;
}

/// Every byte changed and every length cut: a clear error that names the file, each time. `load`
/// takes a path.
template <class Load>
void expect_every_damage_refused(const std::string& bytes, Load load) {
  const scratch_file file;
  file.write(bytes);
  EXPECT_NO_THROW(load(file.path()));
  const auto refused = [&](const std::string& damaged, std::size_t at) {
    file.write(damaged);
    const auto [code, text] = error_of([&] { load(file.path()); });
    EXPECT_EQ(code, octobloom::error_code::bad_file) << "at " << at << ": " << text;
    EXPECT_EQ(text.rfind(file.path() + ": ", 0), 0u) << "at " << at << ": " << text;
  };
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    refused(damaged, at);
    refused(bytes.substr(0, at), at);
    // A forger fits the header's checksum, so that the fields themselves are judged.
    if (at < 72) {
      damaged[at] = static_cast<char>(bytes[at] ^ 0x80);
      const std::uint64_t sum = octobloom::xxh64(damaged.data(), 120);
      for (std::size_t i = 0; i < 8; ++i) damaged[120 + i] = static_cast<char>(sum >> (8 * i));
      file.write(damaged);
      const auto [code, text] = error_of([&] { load(file.path()); });
      EXPECT_TRUE(code == octobloom::error_code::bad_file || text == "no error") << text;
    }
  }
  refused(bytes + '\0', bytes.size());
}

}  // namespace family
