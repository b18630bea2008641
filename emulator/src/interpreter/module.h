#pragma once

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <octobloom/emulator/interpreter.h>

#include "interpreter/memory.h"
#include "interpreter/program.h"

namespace octobloom::ptx {

struct module::implementation {
  program prog;
  std::vector<memory_region>
      regions;  // the reserved ones, then module variables; a launch adds its buffers
  std::vector<u32> entries;

  void load(std::string text, const std::string& name);
  u64 symbol_address(const std::string& n) const;
  // `entry` first, then every function it may call, directly or not.
  std::vector<u32> reachable(u32 entry) const;
  bool calls_itself(u32 f) const;
  std::vector<std::string> unsupported(const std::vector<u32>& functions) const;
  u32 find_entry(const std::string& name) const;
  // Places the shared variables that a kernel uses; returns the static size.
  u64 shared_layout(const std::vector<u32>& functions,
                    std::unordered_map<std::string, u64>* at) const;
  u64 buffer_address(const argument& a, std::map<std::tuple<void*, std::size_t, bool>, u64>& known,
                     std::size_t index);
  void put(const argument& a, std::vector<u8>& out,
           std::map<std::tuple<void*, std::size_t, bool>, u64>& known, std::size_t index);
  launch_statistics launch(const std::string& name, extent grid, extent block,
                           std::size_t dynamic_shared, const std::vector<argument>& args,
                           const launch_options& opt);
};

}  // namespace octobloom::ptx
