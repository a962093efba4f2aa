// Host memory that grows in place. Ranges of address space as large as the machine's memory are reserved, and a part
// from the beginning is accessible. Released memory occupies only addresses, until its whole range is free.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace nd::cpu {

class GrowingMemory {
 public:
  static constexpr std::size_t kUnit = 2 * 1024 * 1024;  // a huge page

  // most: length of a range, for which address space is reserved.
  explicit GrowingMemory(std::size_t most) : most_((most + kUnit - 1) / kUnit * kUnit) {}
  GrowingMemory(const GrowingMemory&) = delete;
  GrowingMemory& operator=(const GrowingMemory&) = delete;
  ~GrowingMemory();

  // Returns `bytes` zeros (a multiple of the unit) at `end`, which must be the end of a result of grow(), or in a new
  // range if `end` is null. Returns null if the memory at `end` is occupied, or if the system has no memory or
  // addresses.
  std::byte* grow(std::byte* end, std::size_t bytes) noexcept;
  // Returns a range of whole units to the system. Later accesses to it are faults.
  void shrink(std::byte* data, std::size_t bytes) noexcept;

 private:
  struct Range {
    void* mapping;
    std::size_t mapped;
    std::byte* begin;  // aligned to the unit
    std::byte* top;    // end of the accessible memory
    std::byte* end;
    std::size_t held;  // accessible bytes
  };
  Range* add_range(std::size_t bytes) noexcept;

  const std::size_t most_;
  std::mutex mutex_;
  std::vector<Range> ranges_;
};

}  // namespace nd::cpu
