#include <catena/tests/support/allocations.h>

#include <cstdlib>
#include <new>

namespace test {

std::atomic<long> allocations{0}, live_allocations{0};
std::atomic<std::size_t> largest_allocation{0};

}  // namespace test

// noinline: a compiler that inlines free in operator delete, but not malloc in operator new, warns of a mismatch.
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
