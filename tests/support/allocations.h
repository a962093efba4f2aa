// Counts what the program allocates. Replaces the global operator new, so it is included by one file of a test program
// only.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace test {

inline std::atomic<long> allocations{0};                // calls of operator new
inline std::atomic<long> live_allocations{0};           // those not yet deleted
inline std::atomic<std::size_t> largest_allocation{0};  // the largest since it was last set to 0

// False under the address sanitizer, where every object is an allocation of its own so that no use of a dead one goes
// unseen. Tests of what the free lists save then have nothing to look at, and say so.
inline bool free_lists_in_use() {
#if defined(__SANITIZE_ADDRESS__)
  std::puts("skipped: under the address sanitizer there are no free lists");
  return false;
#else
  return true;
#endif
}

}  // namespace test

// noinline: a compiler that sees free behind operator delete, but not malloc behind operator new, warns of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  test::allocations.fetch_add(1, std::memory_order_relaxed);
  std::size_t seen = test::largest_allocation.load(std::memory_order_relaxed);
  while (n > seen && !test::largest_allocation.compare_exchange_weak(seen, n)) {}
  void* p = std::malloc(n ? n : 1);
  if (p) test::live_allocations.fetch_add(1, std::memory_order_relaxed);
  return p;
}
[[gnu::noinline]] void* operator new(std::size_t n) {
  if (void* p = operator new(n, std::nothrow)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
  if (p) test::live_allocations.fetch_sub(1, std::memory_order_relaxed);
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
