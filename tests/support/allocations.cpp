#include <catena/tests/support/allocations.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace test {

std::atomic<long> allocations{0}, live_allocations{0};
std::atomic<std::size_t> largest_allocation{0};

namespace {
std::atomic<long> until_failure{0};  // 0: none is planned; below: it has failed
std::atomic<bool> all_fail{false};

bool fails() {
  if (until_failure.load(std::memory_order_relaxed) == 0) return false;
  const long left = until_failure.fetch_sub(1) - 1;
  if (left == 0) until_failure.fetch_sub(1);
  return left == 0 || (left < 0 && all_fail);
}

void* allocate(std::size_t n, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  std::size_t seen = largest_allocation.load(std::memory_order_relaxed);
  while (n > seen && !largest_allocation.compare_exchange_weak(seen, n)) {}
  if (fails()) return nullptr;
  const std::size_t whole = (std::max<std::size_t>(n, 1) + alignment - 1) / alignment * alignment;
  void* const p = alignment > alignof(std::max_align_t) ? std::aligned_alloc(alignment, whole) : std::malloc(whole);
  if (p) live_allocations.fetch_add(1, std::memory_order_relaxed);
  return p;
}
}  // namespace

FailingAllocation::FailingAllocation(long n, bool all_later) {
  all_fail = all_later;
  until_failure = n;
}
FailingAllocation::~FailingAllocation() { until_failure = 0; }
bool FailingAllocation::has_failed() const { return until_failure < 0; }

}  // namespace test

// noinline: a compiler that inlines free in operator delete, but not malloc in operator new, warns of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return test::allocate(n, 1); }
[[gnu::noinline]] void* operator new(std::size_t n) {
  if (void* p = operator new(n, std::nothrow)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t alignment) {
  if (void* p = test::allocate(n, std::size_t(alignment))) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
  if (p) test::live_allocations.fetch_sub(1, std::memory_order_relaxed);
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { operator delete(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { operator delete(p); }
