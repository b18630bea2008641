#include "device/memory.h"

#include <sys/mman.h>

#include <cstring>

#include "device/misuse.h"

namespace octobloom::emulated_device {

namespace {

constexpr std::size_t page = 4096;
/// New memory holds anything but what one might hope for.
constexpr int garbage = 0xA5;

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + page - 1) / page * page;
}

/// Address space with a page on each side that nothing may touch.
std::byte* map(std::size_t bytes, int protection) {
  const std::size_t inside = whole_pages(bytes);
  void* mapping = ::mmap(nullptr, inside + 2 * page, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) misuse("this machine has no room for " + std::to_string(bytes));
  std::byte* const start = static_cast<std::byte*>(mapping) + page;
  if (protection != PROT_NONE && ::mprotect(start, inside, protection) != 0) {
    misuse("this machine has no room for " + std::to_string(bytes));
  }
  return start;
}

void unmap(std::byte* start, std::size_t bytes) {
  ::munmap(start - page, whole_pages(bytes) + 2 * page);
}

}  // namespace

void* memory::reserve_on_device(std::size_t size, int device) {
  if (size > free_bytes()) return nullptr;
  device_bytes_in_use_ += size;
  return add({.address = map(size, PROT_NONE),
              .bytes = map(size, PROT_READ | PROT_WRITE),
              .size = size,
              .device = device,
              .mapped = true,
              .live = false})
      .address;
}

void* memory::take_page_locked(std::size_t size) {
  std::byte* const bytes = map(size, PROT_READ | PROT_WRITE);
  add({.address = bytes,
       .bytes = bytes,
       .size = size,
       .device = -1,
       .mapped = true,
       .live = false});
  make_live(bytes);
  return bytes;
}

void memory::lock_pages(void* start, std::size_t size) {
  auto* const bytes = static_cast<std::byte*>(start);
  add({.address = bytes,
       .bytes = bytes,
       .size = size,
       .device = -1,
       .mapped = false,
       .live = true});
}

allocation& memory::add(const allocation& added) {
  bytes_in_use_ += added.size;
  return allocations_.emplace(added.address, added).first->second;
}

void memory::make_live(void* address) {
  allocation& one = allocations_.at(static_cast<std::byte*>(address));
  one.live = true;
  // Large memory stays unwritten, which is to say zero: filling it would cost real memory.
  if (one.size <= std::size_t{64} << 20) std::memset(one.bytes, garbage, one.size);
}

allocation memory::take(void* address) {
  const auto found = allocations_.find(static_cast<std::byte*>(address));
  if (found == allocations_.end() || !found->second.live) {
    misuse("memory is freed that is not allocated, or not yet in the order of its stream");
  }
  const allocation one = found->second;
  allocations_.erase(found);
  bytes_in_use_ -= one.size;
  return one;
}

void memory::release(void* address) {
  const allocation one = take(address);
  if (!one.mapped) misuse("memory is freed that was only locked");
  if (one.on_device()) {
    device_bytes_in_use_ -= one.size;
    unmap(one.address, one.size);
  }
  unmap(one.bytes, one.size);
}

void memory::unlock_pages(void* start) {
  if (take(start).mapped) misuse("memory is unlocked that was not locked");
}

const allocation* memory::find(const void* address) const {
  return find(address, 0);
}

const allocation* memory::find(const void* address, std::size_t size) const {
  const auto* const from = static_cast<const std::byte*>(address);
  auto after = allocations_.upper_bound(from);
  if (after == allocations_.begin()) return nullptr;
  const allocation& one = std::prev(after)->second;
  const auto offset = static_cast<std::size_t>(from - one.address);
  return one.live && offset <= one.size && size <= one.size - offset ? &one : nullptr;
}

}  // namespace octobloom::emulated_device
