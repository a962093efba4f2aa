#include <catena/tests/support/cuda_device/memory.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <sstream>

#include <catena/tests/support/cuda_device/check.h>
#include <catena/tests/support/cuda_device/report.h>
#include <catena/tests/support/cuda_device/trap.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace cuda_device {
namespace {

constexpr std::size_t kSpan = std::size_t(1) << 38;  // reserved addresses of a range; only allocations use memory
constexpr std::size_t kStep = std::size_t(2) << 20;  // a huge page, so that protecting gigabytes is fast
constexpr std::size_t kAlignment = 512, kGap = 256;  // the gap follows every allocation
constexpr std::size_t kDefaultTotal = std::size_t(3) << 30;
// Freed memory keeps its filling up to this total size; older memory is returned to the system.
constexpr std::size_t kFilledAfterFree = std::size_t(64) << 20;
constexpr int kFreed = 0xDD;
constexpr std::size_t kPage = 4096;

std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }

// Ends the program: a failure of the system is not an error of the tested program.
void must(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::abort();
}

struct Range {
  std::byte* base = nullptr;
  std::size_t taken = 0;  // bytes from the base that have ever been allocated

  Range() {
    void* p = mmap(nullptr, kSpan + kStep, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    must(p != MAP_FAILED, "software cuda: mmap");
    base = reinterpret_cast<std::byte*>(round_up(reinterpret_cast<std::uintptr_t>(p), kStep));
    must(madvise(base, kSpan, MADV_DONTDUMP) == 0, "software cuda: madvise");
    madvise(base, kSpan, MADV_HUGEPAGE);  // only an optimisation
  }
  bool holds(const void* p) const { return p >= base && p < base + kSpan; }
  // Includes one step after the allocations, so that a kernel that reads slightly too far is reported instead of
  // killed.
  void protect(int how) const {
    must(mprotect(base, round_up(taken, kStep) + kStep, how) == 0, "software cuda: mprotect");
  }
};

struct Guard {
  std::uint64_t number;
  std::byte *first, *last;  // whole pages
  const void* stream;
  void protect(int how) const {
    if (first < last)
      must(mprotect(first, static_cast<std::size_t>(last - first), how) == 0, "software cuda: mprotect");
  }
};

struct Memory {
  std::array<Range, kDevices> device;
  Range pinned;
  std::array<MemoryUse, kDevices> use;
  std::map<const std::byte*, Allocation> allocations;  // including freed ones, by address
  std::deque<const Allocation*> freed;                 // freed allocations that still have their filling
  std::size_t freed_bytes = 0;
  unsigned open = 0;         // devices, a bit mask
  bool pinned_open = false;  // pinned memory is accessible despite guards
  std::deque<Guard> guards;
  std::uint64_t guard_numbers = 0;

  Memory() {
    for (MemoryUse& u : use) u.total = kDefaultTotal;
    install_trap();
  }
};
Memory& memory() {
  static Memory& m = *new Memory;
  return m;
}

// Returns the last allocation that begins at or before the address; null if there is none.
Allocation* allocation_before(const void* address) {
  auto& all = memory().allocations;
  const auto after = all.upper_bound(static_cast<const std::byte*>(address));
  return after == all.begin() ? nullptr : &std::prev(after)->second;
}

// Code compiled with the address sanitizer, including kernels, then also detects accesses beyond an allocation itself.
void set_accessible(const void* data, std::size_t bytes, bool accessible) {
#if defined(__SANITIZE_ADDRESS__)
  if (accessible || report_mode() == ReportMode::error) __asan_unpoison_memory_region(data, bytes);
  else __asan_poison_memory_region(data, bytes);
#else
  (void)data, (void)bytes, (void)accessible;
#endif
}

std::byte* take(Range& range, std::size_t bytes, std::size_t alignment, Allocation::Kind kind, int device) {
  const std::size_t next = round_up(range.taken + bytes + kGap, alignment);
  if (bytes > kSpan || next > kSpan) return nullptr;
  std::byte* data = range.base + range.taken;
  range.taken = next;
  memory().allocations[data] = {data, bytes, kind, device, true};
  return data;
}

// Returns the oldest freed memory to the system.
void forget_fillings() {
  Memory& m = memory();
  for (; m.freed_bytes > kFilledAfterFree; m.freed.pop_front()) {
    const Allocation& a = *m.freed.front();
    const auto first = round_up(reinterpret_cast<std::uintptr_t>(a.data), kPage);
    const auto last = reinterpret_cast<std::uintptr_t>(a.data + a.bytes) / kPage * kPage;
    if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
    m.freed_bytes -= a.bytes;
  }
}

}  // namespace

std::byte* allocate_device(int device, std::size_t bytes) {
  Memory& m = memory();
  MemoryUse& use = m.use[static_cast<std::size_t>(device)];
  Range& range = m.device[static_cast<std::size_t>(device)];
  if (bytes > use.total || use.used > use.total - bytes) return nullptr;
  std::byte* data = take(range, bytes, kAlignment, Allocation::Kind::device, device);
  if (data == nullptr) return nullptr;
  use.used += bytes;
  open_memory(1u << device);
  range.protect(PROT_READ | PROT_WRITE);  // the range has grown
  set_accessible(data, bytes, true);
  std::memset(data, kFresh, bytes);
  set_accessible(data + bytes, static_cast<std::size_t>(range.base + range.taken - (data + bytes)), false);
  close_memory();
  return data;
}

std::byte* allocate_pinned(int device, std::size_t bytes, Allocation::Kind kind) {
  Range& range = memory().pinned;
  std::byte* data = take(range, bytes, kPage, kind, device);
  if (data == nullptr) return nullptr;
  if (mprotect(data, round_up(bytes, kPage), PROT_READ | PROT_WRITE) != 0) {
    memory().allocations.erase(data);
    return nullptr;
  }
  std::memset(data, kFresh, bytes);
  return data;
}

void add_global(int device, void* data, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(data);
  memory().allocations[at] = {at, bytes, Allocation::Kind::global, device, true};
}

bool free_memory(void* data, Allocation::Kind kind) {
  Memory& m = memory();
  const auto found = m.allocations.find(static_cast<const std::byte*>(data));
  if (found == m.allocations.end() || !found->second.live || found->second.kind != kind) return false;
  Allocation& a = found->second;
  a.live = false;
  forget_accesses(a.data, a.bytes);
  if (kind == Allocation::Kind::device) {
    m.use[static_cast<std::size_t>(a.device)].used -= a.bytes;
    open_memory(1u << a.device);
    std::memset(a.data, kFreed, a.bytes);
    close_memory();
    set_accessible(a.data, a.bytes, false);
    m.freed.push_back(&a);
    m.freed_bytes += a.bytes;
    forget_fillings();
  } else if (kind != Allocation::Kind::global) {
    must(mprotect(a.data, round_up(a.bytes, kPage), PROT_NONE) == 0, "software cuda: mprotect");
    madvise(a.data, round_up(a.bytes, kPage), MADV_DONTNEED);
  } else {
    m.allocations.erase(found);  // the next module may reuse the address
  }
  return true;
}

const Allocation* find_allocation(const void* data, std::size_t bytes) {
  const Allocation* a = allocation_before(data);
  return a != nullptr && a->live && a->contains(data, bytes) ? a : nullptr;
}

bool is_pinned(const void* address) { return memory().pinned.holds(address); }

bool is_reserved(const void* address) {
  const Memory& m = memory();
  return is_pinned(address) ||
         std::any_of(m.device.begin(), m.device.end(), [&](const Range& r) { return r.holds(address); });
}

std::string describe_address(const void* address) {
  const Allocation* a = allocation_before(address);
  std::ostringstream out;
  if (a == nullptr || (a->kind == Allocation::Kind::global && !a->contains(address, 0)) || !is_reserved(address)) {
    out << "outside any allocation";
    return out.str();
  }
  const auto into = static_cast<std::size_t>(static_cast<const std::byte*>(address) - a->data);
  const bool pinned = a->kind == Allocation::Kind::pinned;
  out << (into < a->bytes ? into : into - a->bytes) << " bytes " << (into < a->bytes ? "into " : "PAST the end of ")
      << (a->live ? (pinned ? "a " : "an ") : "a freed ") << (pinned ? "pinned " : "") << "allocation of " << a->bytes
      << " bytes";
  return out.str();
}

MemoryUse memory_use(int device) { return memory().use[static_cast<std::size_t>(device)]; }
void set_total_memory(int device, std::size_t bytes) { memory().use[static_cast<std::size_t>(device)].total = bytes; }

void open_memory(unsigned devices) {
  Memory& m = memory();
  for (int d = 0; d < kDevices; ++d)
    if ((devices & ~m.open & 1u << d) != 0) m.device[static_cast<std::size_t>(d)].protect(PROT_READ | PROT_WRITE);
  m.open |= devices;
  if (!m.pinned_open)
    for (const Guard& g : m.guards) g.protect(PROT_READ | PROT_WRITE);
  m.pinned_open = true;
}

void close_memory() {
  Memory& m = memory();
  for (int d = 0; d < kDevices; ++d)
    if ((m.open & 1u << d) != 0) m.device[static_cast<std::size_t>(d)].protect(PROT_NONE);
  m.open = 0;
  if (m.pinned_open)
    for (const Guard& g : m.guards) g.protect(PROT_NONE);
  m.pinned_open = false;
}

const void* guarding_stream(const void* address) {
  const auto& guards = memory().guards;
  const auto found = std::find_if(guards.begin(), guards.end(),
                                  [&](const Guard& g) { return address >= g.first && address < g.last; });
  return found == guards.end() ? nullptr : found->stream;
}

std::uint64_t guard_pinned(std::byte* to, std::size_t bytes, const void* stream) {
  Memory& m = memory();
  const Allocation& a = *find_allocation(to, bytes);
  const auto first = round_up(reinterpret_cast<std::uintptr_t>(to), kPage);
  // The rest of the last page after the allocation is unused.
  const std::size_t end = to + bytes == a.data + a.bytes ? kPage - 1 : 0;
  const auto last = (reinterpret_cast<std::uintptr_t>(to + bytes) + end) / kPage * kPage;
  m.guards.push_back(
      {++m.guard_numbers, reinterpret_cast<std::byte*>(first), reinterpret_cast<std::byte*>(last), stream});
  if (!m.pinned_open) m.guards.back().protect(PROT_NONE);
  return m.guard_numbers;
}

void unguard_pinned(std::uint64_t guard) {
  Memory& m = memory();
  const auto found = std::find_if(m.guards.begin(), m.guards.end(), [&](const Guard& g) { return g.number == guard; });
  found->protect(PROT_READ | PROT_WRITE);
  m.guards.erase(found);
  if (!m.pinned_open)
    for (const Guard& g : m.guards) g.protect(PROT_NONE);
}

}  // namespace cuda_device
