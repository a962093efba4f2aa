#include <catena/ndarray/memory/memory_pool.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/memory/arena.h>
#include <catena/ndarray/memory/async_block.h>
#include <catena/ndarray/memory/release_watch.h>

namespace nd {

MemoryHook::~MemoryHook() = default;

namespace internal {

// ---- threads ------------------------------------------------------------------------------------
namespace {

constexpr std::size_t kSlots = 4;

struct ThreadState {
  ThreadCache slot[kSlots];
  std::uint64_t attachments = 0;
  MemoryHookScope* hooks = nullptr;
};

// The state of this thread. Constant-initialised and trivially destructible, so that it is usable at any time, also by
// static destructors that free arrays after the thread's other variables are gone. Null before the first use and after
// the end of the thread; blocks then go directly to the arenas.
#if defined(__GNUC__) && defined(__linux__)
__attribute__((tls_model("initial-exec")))
#endif
constinit thread_local ThreadState* thread_state = nullptr;
constinit thread_local bool thread_ended = false;

[[gnu::noinline]] void flush_used(ThreadCache& c) {
  c.arena->counters.add_used(c.used.exchange(0, std::memory_order_relaxed));
}

void empty_cache(ThreadCache& c) {
  Block* list = nullptr;
  for (Block*& head : c.bin) {
    while (Block* b = head) {
      head = b->next;
      b->next = list;
      list = b;
    }
  }
  c.bytes.store(0, std::memory_order_relaxed);
  c.blocks.store(0, std::memory_order_relaxed);
  flush_used(c);
  if (list) c.arena->give_list(list);
}

void drop_cache(ThreadCache& c) {
  if (!c.arena) return;
  PoolState* pool = c.pool;
  empty_cache(c);
  pool->detach(c);
  c.arena = nullptr;
  c.pool = nullptr;
  pool->release();
}

struct ThreadEnd {
  ~ThreadEnd() {
    ThreadState* t = thread_state;
    thread_state = nullptr;
    thread_ended = true;
    for (ThreadCache& c : t->slot) drop_cache(c);
    delete t;
  }
};

[[gnu::noinline]] ThreadState* make_thread_state() {
  if (thread_ended) return nullptr;
  thread_state = new (std::nothrow) ThreadState;
  if (thread_state) {
    static thread_local ThreadEnd end;
    static_cast<void>(end);
  }
  return thread_state;
}

ThreadState* state_of_thread() { return thread_state ? thread_state : make_thread_state(); }

// Returns this thread's cache of an arena, emptied if the pool has been asked to empty the caches. If no slot is free,
// drops the cache that was attached longest ago. Null: the caller must use the arena itself.
ThreadCache* current_cache(Arena& arena) {
  ThreadState* t = state_of_thread();
  if (!t) return nullptr;
  PoolState& pool = arena.pool;
  ThreadCache* free_slot = nullptr;
  for (ThreadCache& c : t->slot) {
    if (c.arena == &arena) {
      const std::uint32_t epoch = pool.epoch.load(std::memory_order_acquire);
      if (c.epoch != epoch) {
        if (pool.closed.load(std::memory_order_acquire)) {
          pool.retain();  // the caller still uses the arena
          drop_cache(c);
          pool.release();
          return nullptr;
        }
        empty_cache(c);
        c.epoch = epoch;
      }
      return &c;
    }
    if (!c.arena && !free_slot) free_slot = &c;
  }
  if (pool.closed.load(std::memory_order_acquire)) return nullptr;
  if (!free_slot) {
    free_slot = std::min_element(std::begin(t->slot), std::end(t->slot),
                                 [](const ThreadCache& a, const ThreadCache& b) { return a.attached < b.attached; });
    drop_cache(*free_slot);
  }
  free_slot->arena = &arena;
  free_slot->attached = t->attachments++;
  free_slot->device = arena.device;
  free_slot->stream = arena.stream;
  free_slot->pool = &pool;
  free_slot->epoch = pool.epoch.load(std::memory_order_acquire);
  pool.retain();
  pool.attach(*free_slot);
  return free_slot;
}

void add(std::atomic<std::int64_t>& counter, std::int64_t delta) {  // only one thread writes the counter
  counter.store(counter.load(std::memory_order_relaxed) + delta, std::memory_order_relaxed);
}

inline void count_used(ThreadCache& c, std::int64_t delta) {
  const std::int64_t sum = c.used.load(std::memory_order_relaxed) + delta;
  c.used.store(sum, std::memory_order_relaxed);
  if (sum > kThreadDelta || sum < -kThreadDelta) [[unlikely]]
    flush_used(c);
}

// Calls f(hook) for the hooks of this thread, the outermost first. Allocations inside a hook are not reported.
template <class F> void call_hooks(F&& f);

}  // namespace
}  // namespace internal

struct HookChain {
  template <class F> static void call(MemoryHookScope* s, F& f) {
    if (!s) return;
    call(s->outer_, f);
    f(*s->hook_);
  }
};

namespace internal {
namespace {

template <class F> void call_hooks(F&& f) {
  ThreadState* t = thread_state;
  if (!t || !t->hooks) return;
  MemoryHookScope* hooks = t->hooks;
  t->hooks = nullptr;
  try {
    HookChain::call(hooks, f);
  } catch (...) {
    t->hooks = hooks;
    throw;
  }
  t->hooks = hooks;
}

bool has_hooks() { return thread_state && thread_state->hooks; }

void free_to_pool(Block* b) {
  Arena& arena = *b->arena;
  PoolState& pool = arena.pool;
  const auto capacity = static_cast<std::int64_t>(b->capacity);
  poison(*b);
  ThreadCache* c = b->small_class >= 0 && !b->streams ? current_cache(arena) : nullptr;
  if (!c) {
    pool.retain();
    arena.counters.add_used(-capacity);
    arena.give(b);
    pool.release();
    return;
  }
  if (c->bytes.load(std::memory_order_relaxed) + capacity > kThreadBytes) empty_cache(*c);
  Block*& head = c->bin[std::size_t(b->small_class)];
  b->next = head;
  head = b;
  add(c->bytes, capacity);
  add(c->blocks, 1);
  count_used(*c, -capacity);
}

[[gnu::noinline]] void free_slow(Block* b) {
  if (!has_hooks()) return free_to_pool(b);
  const MemoryEvent e{b->device, b->bytes, b->capacity, b->data};
  try {
    call_hooks([&](MemoryHook& h) { h.free_preprocess(e); });
    free_to_pool(b);
    b = nullptr;
    call_hooks([&](MemoryHook& h) { h.free_postprocess(e); });
  } catch (...) {
    // A free cannot fail, so the exception of a hook is dropped: this function is called by destructors.
    if (b) free_to_pool(b);
  }
}

void free_block(catena::Storage* s) {
  auto* b = static_cast<Block*>(s);
#if !defined(__SANITIZE_ADDRESS__)
  ThreadState* t = thread_state;
  if (t && b->small_class >= 0 && !t->hooks && !b->streams) [[likely]] {
    const auto capacity = static_cast<std::int64_t>(b->capacity);
    for (ThreadCache& c : t->slot) {
      if (c.arena != b->arena) continue;
      if (c.epoch != c.pool->epoch.load(std::memory_order_relaxed) ||
          c.bytes.load(std::memory_order_relaxed) + capacity > kThreadBytes) [[unlikely]]
        break;
      Block*& head = c.bin[std::size_t(b->small_class)];
      b->next = head;
      head = b;
      add(c.bytes, capacity);
      add(c.blocks, 1);
      count_used(c, -capacity);
      return;
    }
  }
#endif
  free_slow(b);
}

// ---- watched blocks -------------------------------------------------------------------------------
struct Watches {
  std::mutex mutex;
  std::unordered_map<catena::Storage*, std::vector<ReleaseWatch>> of;
  std::vector<CacheRelease> caches;
};
// Never destroyed, because arrays in static variables may be destroyed later.
Watches& watches() {
  static Watches& w = *new Watches;
  return w;
}

void free_watched_block(catena::Storage* s) {
  std::vector<ReleaseWatch> told;
  {
    const std::lock_guard lock(watches().mutex);
    told = std::move(watches().of.extract(s).mapped());
  }
  for (const ReleaseWatch watch : told) watch(*s);
  free_block(s);
}

// Atomic, because blocks become watched while other threads use them.
bool is_block(const catena::Storage& s) {
  const auto destroy = __atomic_load_n(&s.destroy, __ATOMIC_RELAXED);
  return destroy == &free_block || destroy == &free_watched_block;
}

void release_caches(Device::Kind kind, int device) {
  std::vector<CacheRelease> caches;
  {
    const std::lock_guard lock(watches().mutex);
    caches = watches().caches;
  }
  for (const CacheRelease release : caches) release(kind, device);
}

catena::Storage* hand_out(Block* b, std::size_t bytes) {
  b->refs.store(1, catena::MemoryOrder::relaxed);
  b->version.store(0, catena::MemoryOrder::relaxed);
  b->bytes = bytes;
  b->destroy = &free_block;
  unpoison(b->data, bytes);
  return b;
}

}  // namespace

// ---- memory of the device -------------------------------------------------------------------------
// Returns memory from take(), or null if there is none. If something throws, including a hook, the totals are unchanged
// and nothing is allocated.
template <class Take> std::byte* PoolState::take_memory(std::size_t bytes, Arena& arena, bool grown, Take&& take) {
  DeviceCounters& c = arena.counters;
  if (!c.reserve(bytes)) return nullptr;
  const auto cancel = [&] { c.total.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed); };
  MemoryEvent e{{backend.kind(), static_cast<std::int16_t>(arena.device)}, bytes, bytes, nullptr};
  try {
    call_hooks([&](MemoryHook& h) { h.alloc_preprocess(e); });
    e.data = take();
  } catch (...) {
    cancel();
    throw;
  }
  if (!e.data) {
    cancel();
    return nullptr;
  }
  retain(refs_of(bytes, grown));
  try {
    call_hooks([&](MemoryHook& h) { h.alloc_postprocess(e); });
  } catch (...) {
    deallocate(arena, e.data, bytes, grown);
    throw;
  }
  c.raise_peak_total();
  return e.data;
}

void PoolState::deallocate(Arena& arena, std::byte* data, std::size_t bytes, bool grown) {
  unpoison(data, bytes);
  if (grown) backend.shrink(arena.device, data, bytes);
  else backend.deallocate(arena.device, data, bytes);
  arena.counters.total.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  release(refs_of(bytes, grown));
}

// Allocates a block at the end of the growing memory, or in a new range if that cannot grow. Null: there is no more
// memory.
Block* PoolState::allocate_growing(Arena& arena, std::size_t capacity) {
  for (const bool anew : {false, true}) {
    Arena::Growth growth = arena.growth_for(capacity);
    if (anew) growth = {nullptr, (capacity + growth_unit - 1) / growth_unit * growth_unit};
    else if (growth.end == nullptr) continue;
    std::byte* const data =
        take_memory(growth.bytes, arena, true, [&] { return backend.grow(arena.device, growth.end, growth.bytes); });
    if (data == nullptr) continue;
    try {
      arena.add_growth(data, growth.bytes);
    } catch (...) {
      deallocate(arena, data, growth.bytes, true);
      throw;
    }
    if (Block* b = arena.take(capacity)) return b;
  }
  return nullptr;
}

Block* PoolState::allocate_segment(Arena& arena, std::size_t requested, std::size_t capacity) {
  const bool shared = capacity <= shared_limit;
  const std::size_t usual = (capacity + kSegment - 1) / kSegment * kSegment;
  for (int attempt = 0;; ++attempt) {
    if (growth_unit != 0 && !shared)
      if (Block* b = allocate_growing(arena, capacity)) return b;
    for (const std::size_t bytes : {usual, capacity}) {  // near the limit, allocates only the capacity that is needed
      std::byte* data = take_memory(bytes, arena, false, [&] { return backend.allocate(arena.device, bytes); });
      if (data == nullptr) continue;
      try {
        return arena.add_segment(data, bytes, shared, capacity);
      } catch (...) {
        deallocate(arena, data, bytes);
        throw;
      }
    }
    if (attempt == 1) fail_out_of_memory(requested, arena.device);
    free_all_blocks(arena.device);
  }
}

Block* PoolState::allocate(std::size_t bytes, int device, void* stream) {
  if (bytes > kLargest) fail_out_of_memory(bytes, device);
  Arena& a = arena(device, stream);
  ThreadCache* cache = bytes <= kSmallLimit ? current_cache(a) : nullptr;
  Block* b = nullptr;
  std::int16_t small = -1;
  std::size_t capacity = bytes;
  if (bytes <= kSmallLimit) {
    small = static_cast<std::int16_t>(class_of(bytes));
    capacity = class_bytes(small);
    if (cache) b = cache->bin[std::size_t(small)];
  }
  if (b) {
    cache->bin[std::size_t(small)] = b->next;
    add(cache->bytes, -static_cast<std::int64_t>(b->capacity));
    add(cache->blocks, -1);
  } else {
    capacity = (capacity + unit - 1) / unit * unit;
    b = a.take(capacity);
    if (!b) b = allocate_segment(a, bytes, capacity);
    b->small_class = small;
  }
  // allocate_segment may have emptied the cache, but it still belongs to this arena.
  if (cache && cache->arena == &a) count_used(*cache, static_cast<std::int64_t>(b->capacity));
  else a.counters.add_used(static_cast<std::int64_t>(b->capacity));
  return b;
}

// Empties the caches of this thread at once, of other threads at their next allocation.
void PoolState::empty_caches() {
  epoch.fetch_add(1, std::memory_order_acq_rel);
  if (ThreadState* t = thread_state)
    for (ThreadCache& c : t->slot)
      if (c.pool == this) empty_cache(c);
}

void PoolState::free_all_blocks(int device) {
  release_caches(backend.kind(), device);
  empty_caches();
  std::vector<Arena*> arenas;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& a : arenas_)
      if (device == kAllDevices || a->device == device) arenas.push_back(a.get());
  }
  retain();
  for (Arena* a : arenas) a->release_free_segments();
  release();
}

void PoolState::close() {
  closed.store(true, std::memory_order_release);
  retain();
  free_all_blocks(kAllDevices);
  if (ThreadState* t = thread_state)
    for (ThreadCache& c : t->slot)
      if (c.pool == this) drop_cache(c);
  release();
}

}  // namespace internal

// ---- MemoryPool ---------------------------------------------------------------------------------
MemoryPool::MemoryPool(Runtime& backend) : state_(new internal::PoolState(backend)) {}

MemoryPool::~MemoryPool() {
  state_->close();
  state_->release();
}

Runtime& MemoryPool::backend() const noexcept { return state_->backend; }

namespace {

[[gnu::noinline]] catena::Storage* allocate_slow(internal::PoolState& state, std::size_t bytes, int device,
                                                 void* stream) {
  using namespace internal;
  if (bytes == 0) return nullptr;
  if (!has_hooks()) return hand_out(state.allocate(bytes, device, stream), bytes);
  MemoryEvent e{{state.backend.kind(), static_cast<std::int16_t>(device)}, bytes, 0, nullptr};
  call_hooks([&](MemoryHook& h) { h.malloc_preprocess(e); });
  Block* b = state.allocate(bytes, device, stream);
  e.block_bytes = b->capacity;
  e.data = b->data;
  catena::Storage* s = hand_out(b, bytes);
  try {
    call_hooks([&](MemoryHook& h) { h.malloc_postprocess(e); });
  } catch (...) {
    catena::release(s);
    throw;
  }
  return s;
}

}  // namespace

catena::Storage* MemoryPool::allocate(std::size_t bytes, int device, void* stream) {
  using namespace internal;
  ThreadState* t = thread_state;
  if (t && !t->hooks && bytes - 1 < kSmallLimit) [[likely]] {
    for (ThreadCache& c : t->slot) {
      if (c.pool != state_ || c.device != device || (c.stream != stream && !state_->host)) continue;
      Block*& head = c.bin[std::size_t(class_of(bytes))];
      Block* const b = head;
      if (b == nullptr || c.epoch != state_->epoch.load(std::memory_order_relaxed)) [[unlikely]]
        break;
      head = b->next;
      const auto capacity = static_cast<std::int64_t>(b->capacity);
      add(c.bytes, -capacity);
      add(c.blocks, -1);
      count_used(c, capacity);
      return hand_out(b, bytes);
    }
  }
  return allocate_slow(*state_, bytes, device, stream);
}

void MemoryPool::free_all_blocks(int device) { state_->free_all_blocks(device); }

void MemoryPool::set_limit(std::size_t bytes, int device) {
  catena::check<catena::ValueError>(device >= 0, "set_limit", "device ", device, " is negative");
  state_->counters(device).limit.store(bytes);
}

void MemoryPool::set_limit_fraction(double fraction, int device) {
  catena::check<catena::ValueError>(fraction > 0 && fraction <= 1, "set_limit_fraction", "the fraction ", fraction,
                                    " is not above 0 and at most 1");
  const auto total = static_cast<double>(state_->backend.memory_info(device).total_bytes);
  set_limit(std::max<std::size_t>(1, static_cast<std::size_t>(total * fraction)), device);
}

std::size_t MemoryPool::limit(int device) const { return device < 0 ? 0 : state_->counters(device).limit.load(); }

PoolStatistics MemoryPool::statistics(int device) const { return state_->statistics(device); }

MemorySnapshot MemoryPool::snapshot() const { return state_->snapshot(); }

void MemoryPool::reset_peaks() { state_->reset_peaks(); }

namespace {
constinit thread_local StorageKeeper* keeper = nullptr;
}

StorageKeeper::~StorageKeeper() = default;

StorageKeeper* MemoryPool::set_keeper(StorageKeeper* k) noexcept { return std::exchange(keeper, k); }

void MemoryPool::record_stream(catena::Storage& storage, StreamRef stream) {
  const bool pooled = internal::is_block(storage) && storage.device == stream.device;
  auto& b = static_cast<internal::Block&>(storage);
  if (pooled && b.arena->stream == stream.handle) return;
  if (keeper != nullptr) [[unlikely]]
    keeper->keep(storage);
  else if (pooled) b.arena->record(b, stream.handle);
  else internal::record_async_use(storage, stream);
}

void MemoryPool::hold_stream(int device, void* stream) { state_->arena(device, stream).held.store(true); }

void MemoryPool::release_stream(int device, void* stream) {
  internal::Arena& arena = state_->arena(device, stream);
  arena.held.store(false);
  state_->empty_caches();
  state_->retain();
  arena.release_free_segments();
  state_->release();
}

// ---- caches -------------------------------------------------------------------------------------
bool watch_release(catena::Storage& storage, ReleaseWatch watch) {
  if (!internal::is_block(storage)) return false;
  internal::Watches& w = internal::watches();
  const std::lock_guard lock(w.mutex);
  std::vector<ReleaseWatch>& told = w.of[&storage];
  if (std::find(told.begin(), told.end(), watch) == told.end()) told.push_back(watch);
  __atomic_store_n(&storage.destroy, &internal::free_watched_block, __ATOMIC_RELAXED);
  return true;
}

void add_cache(CacheRelease release) {
  internal::Watches& w = internal::watches();
  const std::lock_guard lock(w.mutex);
  if (std::find(w.caches.begin(), w.caches.end(), release) == w.caches.end()) w.caches.push_back(release);
}

// ---- hooks --------------------------------------------------------------------------------------
MemoryHookScope::MemoryHookScope(MemoryHook& hook) : hook_(&hook), outer_(nullptr) {
  internal::ThreadState* t = internal::state_of_thread();
  catena::check<catena::RuntimeError>(t != nullptr, "MemoryHookScope", "the thread is ending");
  outer_ = t->hooks;
  t->hooks = this;
}

MemoryHookScope::~MemoryHookScope() {
  if (internal::thread_state) internal::thread_state->hooks = outer_;
}

}  // namespace nd
