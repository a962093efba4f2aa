// Counters of the allocations of a program, updated by the global operator new of allocations.cpp. For programs that
// link to it: those named *_allocations in tests/CMakeLists.txt.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdio>

namespace test {

extern std::atomic<long> allocations;                // calls of operator new
extern std::atomic<long> live_allocations;           // allocations not yet deleted
extern std::atomic<std::size_t> largest_allocation;  // the largest since it was last set to 0

// False under the address sanitizer, where every object is a separate allocation, so that a use after free is detected.
// Tests of the free lists then have nothing to measure and print a message.
inline bool free_lists_in_use() {
#if defined(__SANITIZE_ADDRESS__)
  std::puts("skipped: under the address sanitizer there are no free lists");
  return false;
#else
  return true;
#endif
}

}  // namespace test
