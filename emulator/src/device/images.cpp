#include "device/images.h"

#include <fatbinary_section.h>

#include <cstring>
#include <utility>

#include "device/misuse.h"

namespace octobloom::emulated_device {

namespace {

/// The layout of a fat binary, as cuobjdump and others read it: a header, then pieces of code.
struct fat_binary {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t pieces_bytes;
};
constexpr std::uint32_t fat_binary_magic = 0xBA55ED50;

struct fat_piece {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_bytes;
  std::uint64_t payload_bytes;
};
constexpr std::uint16_t ptx_piece = 1;

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::string_view find_ptx(const void* wrapper) {
  const auto wrapped = read<__fatBinC_Wrapper_t>(static_cast<const std::byte*>(wrapper));
  const auto* const start = reinterpret_cast<const std::byte*>(wrapped.data);
  const auto header = read<fat_binary>(start);
  if (wrapped.magic != FATBINC_MAGIC || header.magic != fat_binary_magic) {
    misuse("a fat binary in a form that is not known here");
  }
  const std::byte* piece = start + header.header_bytes;
  const std::byte* const end = piece + header.pieces_bytes;
  std::string_view newest;
  while (piece < end) {
    const auto about = read<fat_piece>(piece);
    if (about.kind == ptx_piece) {
      const auto* const text = reinterpret_cast<const char*>(piece + about.header_bytes);
      newest = {text, ::strnlen(text, about.payload_bytes)};
    }
    piece += about.header_bytes + about.payload_bytes;
  }
  if (newest.find(".version") == std::string_view::npos) {
    misuse(
        "a fat binary without plain PTX: compile with -no-compress and with a virtual "
        "architecture");
  }
  return newest;
}

}  // namespace

image::image(const void* wrapper) : ptx_(find_ptx(wrapper)) {}

ptx::module& image::module() {
  if (!module_) {
    module_ = ptx::module::from_text(std::string(ptx_));
    for (ptx::kernel_entry& one : module_->entries()) {
      std::string name = one.name;
      entries_.emplace(std::move(name), std::move(one));
    }
  }
  return *module_;
}

const ptx::kernel_entry& image::entry(const std::string& name) {
  (void)module();
  const auto found = entries_.find(name);
  if (found == entries_.end()) misuse("there is no kernel " + name + " in its image");
  return found->second;
}

int image::capability() const {
  constexpr std::string_view target = ".target sm_";
  const std::size_t found = ptx_.find(target);
  if (found == std::string_view::npos) misuse("PTX without a target");
  int capability = 0;
  for (std::size_t i = found + target.size(); ptx_[i] >= '0' && ptx_[i] <= '9'; ++i) {
    capability = 10 * capability + (ptx_[i] - '0');
  }
  return capability;
}

parameters copy_parameters(const kernel& launched, void** arguments) {
  parameters copied;
  for (const ptx::parameter& one : launched.code->entry(launched.name).params) {
    const auto* const from = static_cast<const std::byte*>(*arguments++);
    copied.emplace_back(from, from + one.size);
  }
  return copied;
}

ptx::argument argument(const std::vector<std::byte>& bytes, std::size_t alignment,
                       const memory& known, int device) {
  constexpr std::size_t word = sizeof(void*);
  ptx::argument plain = ptx::argument::raw(bytes.data(), bytes.size(), alignment);
  if (bytes.size() % word != 0 || alignment % word != 0) return plain;
  std::vector<ptx::argument> fields;
  bool has_pointers = false;
  for (std::size_t at = 0; at < bytes.size(); at += word) {
    const void* const value = read<const void*>(&bytes[at]);
    const allocation* const target = known.find(value);
    if (target == nullptr || (target->on_device() && target->device != device)) {
      fields.push_back(ptx::argument::raw(&bytes[at], word, word));
    } else {
      has_pointers = true;
      fields.push_back(ptx::argument::inout(
          target->bytes, target->size, static_cast<const std::byte*>(value) - target->address));
    }
  }
  return has_pointers ? ptx::argument::record(std::move(fields)) : plain;
}

}  // namespace octobloom::emulated_device
