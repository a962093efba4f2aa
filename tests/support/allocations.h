// Counts what the program allocates. Replaces the global operator new, so it is included by one file of a test program only.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace test {

inline std::atomic<long> allocations{0};                // calls of operator new
inline std::atomic<long> live_allocations{0};           // those not yet deleted
inline std::atomic<std::size_t> largest_allocation{0};  // the largest since it was last set to 0

}  // namespace test

// noinline: a compiler that sees free behind operator delete, but not malloc behind operator new, warns of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t n) {
  test::allocations.fetch_add(1, std::memory_order_relaxed);
  std::size_t seen = test::largest_allocation.load(std::memory_order_relaxed);
  while (n > seen && !test::largest_allocation.compare_exchange_weak(seen, n)) {}
  if (void* p = std::malloc(n ? n : 1)) {
    test::live_allocations.fetch_add(1, std::memory_order_relaxed);
    return p;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
  if (p) test::live_allocations.fetch_sub(1, std::memory_order_relaxed);
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
