// What the tests of the interpreter share: the compiled kernels, and the ways to run them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <octobloom/emulator/interpreter.h>

#include "emulator/kernels_common.h"

namespace octobloom::test {

using ptx::argument;
using ptx::fault_kind;
using ptx::kernel_fault;
using ptx::launch_options;
using ptx::launch_statistics;

/// What nvcc made of the kernels: for each architecture, without and with -lineinfo.
inline std::vector<std::string> variants() {
  std::vector<std::string> all;
  for (const char* const architecture : {"80", "90", "100"}) {
    for (const char* const option : {"plain", "lineinfo"}) {
      all.push_back(std::string("sm_") + architecture + "_" + option);
    }
  }
  return all;
}

inline std::string variant_name(const ::testing::TestParamInfo<std::string>& variant) {
  return variant.param;
}

class interpreter_test : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] ptx::module& right() const { return compiled("kernels"); }
  [[nodiscard]] ptx::module& wrong() const { return compiled("wrong"); }
  [[nodiscard]] ptx::module& libraries() const { return compiled("libraries"); }

 private:
  [[nodiscard]] ptx::module& compiled(const std::string& stem) const {
    static std::map<std::string, ptx::module> modules;
    const std::string path =
        std::string(OCTOBLOOM_KERNELS) + "/" + stem + "." + GetParam() + ".ptx";
    auto found = modules.find(path);
    if (found == modules.end()) {
      found = modules.emplace(path, ptx::module::from_file(path)).first;
    }
    return found->second;
  }
};

inline std::vector<std::uint64_t> random_words(std::size_t n, std::uint64_t seed) {
  std::vector<std::uint64_t> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = mix(seed * 1000003 + i + 1);
  return v;
}

inline std::vector<std::uint32_t> random_u32(std::size_t n, std::uint64_t seed,
                                             std::uint32_t below) {
  std::vector<std::uint32_t> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = std::uint32_t(mix(seed * 77 + i) % below);
  return v;
}

/// Every right kernel has to give its answer under any schedule, without races or uninitialised
/// reads.
inline void schedules(const std::function<void(const launch_options&)>& f) {
  launch_options o;
  o.max_instructions = 200'000'000;
  o.serial = true;
  f(o);
  o.serial = false;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    o.seed = seed;
    o.switch_probability = seed == 1 ? 0.1 : seed == 2 ? 0.5 : 1.0;
    o.check_init = seed == 2;
    f(o);
  }
}

inline std::string joined(const launch_statistics& s) {
  std::string out;
  for (const std::string& r : s.races) out += r + "\n";
  return out;
}

inline launch_options checked() {
  launch_options o;
  o.racecheck = o.check_init = true;
  o.max_instructions = 200'000'000;
  return o;
}

inline void no_races(const launch_statistics& s) {
  if (!s.races.empty()) throw std::runtime_error("unexpected races:\n" + joined(s));
}

template <class F>
std::string fault_of(fault_kind kind, F f) {
  try {
    f();
  } catch (const kernel_fault& e) {
    if (e.kind != kind)
      throw std::runtime_error(std::string("expected ") + ptx::name_of(kind) +
                               ", got: " + e.what());
    return e.what();
  }
  throw std::runtime_error(std::string("expected a fault: ") + ptx::name_of(kind));
}

inline bool contains(const std::string& s, const char* part) {
  return s.find(part) != std::string::npos;
}

}  // namespace octobloom::test
