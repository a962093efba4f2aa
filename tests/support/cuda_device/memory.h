// Memory of the software device: a reserved range of addresses for each device and one for pinned host memory.
// Addresses are never reused, so the address alone is sufficient to describe an invalid access.
//
// Device memory is accessible only between open_memory() and close_memory(), while queued work is executed; at other
// times an access by the host faults and is reported. Pages of pinned memory to which a queued copy will write are not
// accessible to the host until the copy has written.
//
// Thread safety: all functions are called under the runtime's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace cuda_device {

inline constexpr int kDevices = 2;
inline constexpr unsigned char kFresh = 0xCD;  // fills new memory

struct Allocation {
  // managed: accessible to the host and to all devices; global: a variable of a module, in the module's memory
  enum class Kind { device, pinned, managed, global };
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  Kind kind = Kind::device;
  int device = 0;
  bool live = true;

  bool contains(const void* p, std::size_t n) const {
    const auto* at = static_cast<const std::byte*>(p);
    return at >= data && n <= bytes && at <= data + (bytes - n);
  }
};

// Allocates memory aligned to 512 bytes and filled with 0xCD; null if the device's total would be exceeded.
std::byte* allocate_device(int device, std::size_t bytes);
// Allocates whole pages filled with 0xCD, pinned or managed, in the range of pinned memory; null if the system has
// none.
std::byte* allocate_pinned(int device, std::size_t bytes, Allocation::Kind kind = Allocation::Kind::pinned);
// Registers a variable of a module.
void add_global(int device, void* data, std::size_t bytes);
// Returns false if no allocation of that kind in use begins there. Device memory is filled with 0xDD; no queued work
// may use it.
bool free_memory(void* data, Allocation::Kind kind);

// Returns the allocation in use, of any kind, that contains all bytes; null if there is none.
const Allocation* find_allocation(const void* data, std::size_t bytes);
// True if the address is in a range of device memory, or of pinned and managed memory.
bool is_reserved(const void* address);
bool is_pinned(const void* address);
// Returns "12 bytes into an allocation of 64 bytes", "8 bytes past the end of an allocation of 64 bytes", "4 bytes into
// a freed allocation of 64 bytes", or "outside any allocation".
std::string describe_address(const void* address);

struct MemoryUse {
  std::size_t used = 0, total = 0;
};
MemoryUse memory_use(int device);
void set_total_memory(int device, std::size_t bytes);

// Makes the memory of the devices of a bit mask, and all pinned memory, accessible until close_memory(). Memory that is
// already accessible stays accessible.
void open_memory(unsigned devices);
void close_memory();

// Returns the stream of the queued copy that will write to the pinned memory at an address; null if there is none.
const void* guarding_stream(const void* address);
// Registers a copy of a stream that will write `bytes` to pinned memory at `to`: its whole pages are not accessible to
// the host until unguard_pinned() is called with the returned number.
std::uint64_t guard_pinned(std::byte* to, std::size_t bytes, const void* stream);
void unguard_pinned(std::uint64_t guard);

}  // namespace cuda_device
