// The state of a pool that needs no thread's cache: counters, the list of arenas, statistics.
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/memory/arena.h>

namespace nd::internal {

// ---- counters -----------------------------------------------------------------------------------
namespace {
void raise_to(std::atomic<std::int64_t>& peak, std::int64_t value) {
  std::int64_t old = peak.load(std::memory_order_relaxed);
  while (value > old && !peak.compare_exchange_weak(old, value, std::memory_order_relaxed)) {}
}
}  // namespace

void DeviceCounters::add_used(std::int64_t delta) {
  const std::int64_t now = used.fetch_add(delta, std::memory_order_relaxed) + delta;
  if (delta > 0) raise_to(peak_used, now);
}

void DeviceCounters::raise_peak_total() { raise_to(peak_total, total.load(std::memory_order_relaxed)); }

bool DeviceCounters::reserve(std::size_t bytes) {
  const std::size_t most = limit.load(std::memory_order_relaxed);
  const auto add_bytes = static_cast<std::int64_t>(bytes);
  std::int64_t old = total.load(std::memory_order_relaxed);
  do {
    if (most != 0 && (bytes > most || static_cast<std::size_t>(old) > most - bytes)) return false;
  } while (!total.compare_exchange_weak(old, old + add_bytes, std::memory_order_relaxed));
  return true;
}

// ---- arenas and counters of devices -----------------------------------------------------------------
PoolState::PoolState(Runtime& backend)
    : backend(backend),
      host(backend.kind() == Device::Kind::cpu),
      unit(host ? 64 : 512),
      growth_unit(backend.growth_unit()),
      shared_limit(growth_unit != 0 ? kSmallLimit : kSharedLimit) {}
PoolState::~PoolState() = default;

void PoolState::release(std::int64_t n) {
  if (refs_.fetch_sub(n, std::memory_order_acq_rel) == n) delete this;
}

DeviceCounters& PoolState::locked_counters(int device) {
  while (devices_.size() <= std::size_t(device)) devices_.push_back(std::make_unique<DeviceCounters>());
  return *devices_[std::size_t(device)];
}

DeviceCounters& PoolState::counters(int device) {
  const std::lock_guard lock(mutex_);
  return locked_counters(device);
}

Arena* PoolState::find_arena(int device, void* stream) const {
  for (Arena* a = newest_arena_.load(std::memory_order_acquire); a != nullptr; a = a->next)
    if (a->device == device && a->stream == stream) return a;
  return nullptr;
}

Arena& PoolState::arena(int device, void* stream) {
  if (host) stream = nullptr;  // work on the host is done when a call returns
  if (Arena* known = find_arena(device, stream)) [[likely]]
    return *known;
  const std::lock_guard lock(mutex_);
  if (Arena* known = find_arena(device, stream)) return *known;
  Arena* before = newest_arena_.load(std::memory_order_relaxed);
  arenas_.push_back(std::make_unique<Arena>(*this, locked_counters(device), device, stream, before));
  newest_arena_.store(arenas_.back().get(), std::memory_order_release);
  return *arenas_.back();
}

void PoolState::attach(ThreadCache& cache) {
  const std::lock_guard lock(mutex_);
  caches_.push_back(&cache);
}

void PoolState::detach(ThreadCache& cache) {
  const std::lock_guard lock(mutex_);
  std::erase(caches_, &cache);
}

// ---- statistics -------------------------------------------------------------------------------------
PoolStatistics PoolState::statistics(int device) const {
  const std::lock_guard lock(mutex_);
  std::int64_t used = 0, total = 0, peak_total = 0, peak_used = 0, blocks = 0;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (device != kAllDevices && std::size_t(device) != i) continue;
    used += devices_[i]->used.load();
    total += devices_[i]->total.load();
    peak_total += devices_[i]->peak_total.load();
    peak_used += devices_[i]->peak_used.load();
  }
  for (const ThreadCache* c : caches_) {
    if (device != kAllDevices && c->device != device) continue;
    used += c->used.load(std::memory_order_relaxed);
    blocks += c->blocks.load(std::memory_order_relaxed);
  }
  for (const auto& a : arenas_)
    if (device == kAllDevices || a->device == device) blocks += static_cast<std::int64_t>(a->free_blocks());
  PoolStatistics s;
  s.used_bytes = static_cast<std::size_t>(std::max<std::int64_t>(used, 0));
  s.total_bytes = static_cast<std::size_t>(total);
  s.free_bytes = s.total_bytes - std::min(s.used_bytes, s.total_bytes);
  s.n_free_blocks = static_cast<std::size_t>(blocks);
  s.peak_total_bytes = static_cast<std::size_t>(peak_total);
  s.peak_used_bytes = std::max(static_cast<std::size_t>(peak_used), s.used_bytes);
  return s;
}

MemorySnapshot PoolState::snapshot() const {
  const std::lock_guard lock(mutex_);
  MemorySnapshot s;
  for (const auto& a : arenas_) s.arenas.push_back(a->snapshot());
  return s;
}

void PoolState::reset_peaks() {
  const std::lock_guard lock(mutex_);
  for (const auto& d : devices_) {
    d->peak_total.store(d->total.load());
    d->peak_used.store(d->used.load());
  }
}

void PoolState::fail_out_of_memory(std::size_t requested, int device) const {
  const PoolStatistics s = statistics(device);
  std::size_t limit = 0;
  {
    const std::lock_guard lock(mutex_);
    if (std::size_t(device) < devices_.size()) limit = devices_[std::size_t(device)]->limit.load();
  }
  const Device d{backend.kind(), static_cast<std::int16_t>(device)};
  const std::size_t free = backend.memory_info(device).free_bytes;
  catena::fail<catena::OutOfMemoryError>("memory_pool", "out of memory on ", d, ": requested ", requested,
                                         " bytes, used ", s.used_bytes, ", pooled ", s.free_bytes, ", total ",
                                         s.total_bytes, ", limit ", limit ? std::to_string(limit) : std::string("none"),
                                         ", free on the device ", free);
}

}  // namespace nd::internal
