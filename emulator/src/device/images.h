#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <octobloom/emulator/interpreter.h>

#include "device/memory.h"

namespace octobloom::emulated_device {

/// The device code of one translation unit: the PTX in its fat binary, read when it is first used.
class image {
 public:
  /// `wrapper`: what nvcc's host code registers, an __fatBinC_Wrapper_t.
  explicit image(const void* wrapper);

  [[nodiscard]] ptx::module& module();
  [[nodiscard]] const ptx::kernel_entry& entry(const std::string& name);
  /// The compute capability that the PTX is for, times ten.
  [[nodiscard]] int capability() const;

 private:
  std::string_view ptx_;
  std::optional<ptx::module> module_;
  std::map<std::string, ptx::kernel_entry> entries_;
};

/// A kernel that the host can launch.
struct kernel {
  image* code;
  std::string name;
  std::size_t dynamic_shared_limit;
};

/// The parameters of a launch, copied when it is queued.
using parameters = std::vector<std::vector<std::byte>>;
[[nodiscard]] parameters copy_parameters(const kernel& launched, void** arguments);

/// A by-value parameter as the interpreter takes it: every word of it that is an address in live
/// memory of the device or of the host is passed as a pointer into that allocation, so that what
/// the kernel does with it is checked against the allocation's bounds.
[[nodiscard]] ptx::argument argument(const std::vector<std::byte>& bytes, std::size_t alignment,
                                     const memory& known, int device);

}  // namespace octobloom::emulated_device
