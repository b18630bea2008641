#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace octobloom::emulated_device {

/// An allocation. What the program gets is `address`; on a device's memory that is a number that
/// the host cannot read through, and the bytes are elsewhere.
struct allocation {
  std::byte* address;
  std::byte* bytes;
  std::size_t size;
  int device;   ///< -1: the host's
  bool mapped;  ///< by us
  bool live;    ///< between its allocation and its release, in the order of the streams

  [[nodiscard]] bool on_device() const { return device >= 0; }
  /// The byte behind an address of this allocation.
  [[nodiscard]] std::byte* at(const void* inside) const {
    return bytes + (static_cast<const std::byte*>(inside) - address);
  }
};

/// The devices' memory, of one size for all of them, and the page-locked memory of the host.
/// Nothing is mapped beside an allocation, so that no address belongs to two.
class memory {
 public:
  explicit memory(std::uint64_t device_bytes) : device_bytes_(device_bytes) {}
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;

  /// Null when there is no room. Not live yet.
  void* reserve_on_device(std::size_t size, int device);
  void* take_page_locked(std::size_t size);
  /// Of the program's own memory.
  void lock_pages(void* start, std::size_t size);
  void unlock_pages(void* start);
  void make_live(void* address);
  void release(void* address);

  /// The live allocation that an address lies in, or just behind; null when there is none.
  [[nodiscard]] const allocation* find(const void* address) const;
  /// Likewise, when all `size` bytes lie in it.
  [[nodiscard]] const allocation* find(const void* address, std::size_t size) const;

  [[nodiscard]] std::uint64_t device_bytes() const { return device_bytes_; }
  [[nodiscard]] std::uint64_t free_bytes() const { return device_bytes_ - device_bytes_in_use_; }
  [[nodiscard]] std::uint64_t bytes_in_use() const { return bytes_in_use_; }

 private:
  allocation& add(const allocation& added);
  allocation take(void* address);

  std::map<const std::byte*, allocation> allocations_;
  std::uint64_t device_bytes_;
  std::uint64_t device_bytes_in_use_ = 0;
  std::uint64_t bytes_in_use_ = 0;
};

}  // namespace octobloom::emulated_device
