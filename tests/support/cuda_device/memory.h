// Memory of the software device: a reserved range of addresses for each device and one for pinned host memory.
// Addresses are never used twice, so what is wrong about an access can be said by its address alone.
//
// Device memory can be touched only between open_memory() and close_memory(), while queued work is executed: elsewhere
// the host's access faults and is reported. Pages of pinned memory that a queued copy will write cannot be touched by
// the host until it has.
//
// Thread safety: all functions are called under the runtime's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace cuda_device {

inline constexpr int kDevices = 2;

struct Allocation {
  enum class Kind { device, pinned, global };  // global: a variable of a module, in the module's own memory
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

// 512-byte aligned and filled with 0xCD; null: more than the device's total would be in use.
std::byte* allocate_device(int device, std::size_t bytes);
// Whole pages, filled with 0xCD; null: the system has none.
std::byte* allocate_pinned(int device, std::size_t bytes);
// Makes a module's variable known.
void add_global(int device, void* data, std::size_t bytes);
// False: nothing of that kind that is in use begins there. Device memory is filled with 0xDD; nothing queued may need
// it.
bool free_memory(void* data, Allocation::Kind kind);

// The allocation in use that holds all the bytes (of a device, pinned, or global); null: none.
const Allocation* find_allocation(const void* data, std::size_t bytes);
// True for every address that a device or pinned allocation could have.
bool is_reserved(const void* address);
bool is_pinned(const void* address);
// "12 bytes into an allocation of 64 bytes", "8 bytes past the end of an allocation of 64 bytes", "4 bytes into a freed
// allocation of 64 bytes", "outside any allocation".
std::string describe_address(const void* address);

struct MemoryUse {
  std::size_t used = 0, total = 0;
};
MemoryUse memory_use(int device);
void set_total_memory(int device, std::size_t bytes);

// Opens the memory of the devices of a bit mask, and all pinned memory, until close_memory(). What is open already
// stays open.
void open_memory(unsigned devices);
void close_memory();

// What queued copies will write in the pinned memory at an address: the stream; null: nothing.
const void* guarding_stream(const void* address);
// A copy of a stream that will write `bytes` at `to`, in pinned memory: its whole pages are closed to the host. Until
// the same number is given to unguard_pinned().
std::uint64_t guard_pinned(std::byte* to, std::size_t bytes, const void* stream);
void unguard_pinned(std::uint64_t guard);

}  // namespace cuda_device
