#include <catena/ndarray/cpu/growing_memory.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace nd::cpu {
namespace {

constexpr int kReserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// The first access to new memory is much cheaper with huge pages; programs that need little memory keep small pages.
constexpr std::size_t kSmallPagesTo = 2 * GrowingMemory::kUnit;

}  // namespace

GrowingMemory::~GrowingMemory() {
  for (const Range& r : ranges_) munmap(r.mapping, r.mapped);
}

GrowingMemory::Range* GrowingMemory::add_range(std::size_t bytes) noexcept {
  const std::size_t mapped = std::max(most_, bytes) + kUnit;
  if (mapped < bytes) return nullptr;
  try {
    ranges_.reserve(ranges_.size() + 1);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  void* const mapping = mmap(nullptr, mapped, PROT_NONE, kReserved, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto* const first = static_cast<std::byte*>(mapping);
  std::byte* const begin = first + (kUnit - reinterpret_cast<std::uintptr_t>(first) % kUnit) % kUnit;
  ranges_.push_back({mapping, mapped, begin, begin, begin + (mapped - kUnit), 0});
  return &ranges_.back();
}

std::byte* GrowingMemory::grow(std::byte* end, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  Range* range = nullptr;
  if (end == nullptr) range = add_range(bytes);
  for (Range& r : ranges_)
    if (end != nullptr && r.top == end) range = &r;
  if (range == nullptr || bytes > std::size_t(range->end - range->top)) return nullptr;
  std::byte* const data = range->top;
  if (mprotect(data, bytes, PROT_READ | PROT_WRITE) != 0) {
    if (range->held == 0) {
      munmap(range->mapping, range->mapped);
      ranges_.erase(ranges_.begin() + (range - ranges_.data()));
    }
    return nullptr;
  }
  range->top += bytes;
  range->held += bytes;
#ifdef MADV_HUGEPAGE
  std::byte* const from = std::max(data, range->begin + kSmallPagesTo);
  if (from < range->top)  // a hint; failure does not matter
    static_cast<void>(madvise(from, std::size_t(range->top - from), MADV_HUGEPAGE));
#endif
  return data;
}

void GrowingMemory::shrink(std::byte* data, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  const auto range =
      std::find_if(ranges_.begin(), ranges_.end(), [data](const Range& r) { return r.begin <= data && data < r.end; });
  if (range == ranges_.end()) return;
  range->held -= bytes;
  if (range->held == 0) {
    munmap(range->mapping, range->mapped);
    ranges_.erase(range);
    return;
  }
  // Maps new pages: unlike changing the protection of the old ones, this also releases the committed memory.
  static_cast<void>(mmap(data, bytes, PROT_NONE, kReserved | MAP_FIXED, -1, 0));
  if (data + bytes == range->top) range->top = data;
}

}  // namespace nd::cpu
