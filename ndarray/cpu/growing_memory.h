// Host memory that grows in place: ranges of address space as large as the machine's memory, of which a part from the
// beginning is accessible. What has been given back costs addresses only, until its whole range is free.
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

  // most: the length of a range, for which address space is reserved.
  explicit GrowingMemory(std::size_t most) : most_((most + kUnit - 1) / kUnit * kUnit) {}
  GrowingMemory(const GrowingMemory&) = delete;
  GrowingMemory& operator=(const GrowingMemory&) = delete;
  ~GrowingMemory();

  // `bytes` zeros, a multiple of the unit, at `end`, the end of what this function returned before, or in a new range
  // if that is null. Null if there is no room at `end`, or the system has no memory or addresses.
  std::byte* grow(std::byte* end, std::size_t bytes) noexcept;
  // Gives any multiple of the unit back to the system. Accesses to it are faults from then on.
  void shrink(std::byte* data, std::size_t bytes) noexcept;

 private:
  struct Range {
    void* mapping;
    std::size_t mapped;
    std::byte* begin;  // aligned to the unit
    std::byte* top;    // the end of what is accessible
    std::byte* end;
    std::size_t held;  // accessible bytes
  };
  Range* add_range(std::size_t bytes) noexcept;

  const std::size_t most_;
  std::mutex mutex_;
  std::vector<Range> ranges_;
};

}  // namespace nd::cpu
