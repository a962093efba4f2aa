#include <catena/ndarray/memory/arena.h>

#include <algorithm>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/device/runtime.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace nd::internal {

#if defined(__SANITIZE_ADDRESS__)
void poison(const Block& b) {
  if (b.arena->pool.host) ASAN_POISON_MEMORY_REGION(b.data, b.capacity);
}
void unpoison(const std::byte* data, std::size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(data, bytes); }
#endif

// ---- FreeLists ----------------------------------------------------------------------------------
int FreeLists::bin_of(std::size_t bytes) {
  if (bytes < 8) return static_cast<int>(bytes);
  const int log = std::bit_width(bytes) - 1;
  return log * 8 + static_cast<int>((bytes >> (log - 3)) & 7);
}

void FreeLists::insert(Block* b) {
  const int i = bin_of(b->capacity);
  Block*& head = bin_[std::size_t(i)];
  b->previous = nullptr;
  b->next = head;
  if (head) head->previous = b;
  head = b;
  used_[std::size_t(i) / 64] |= std::uint64_t(1) << (i % 64);
  b->free = true;
  ++count_;
}

void FreeLists::remove(Block* b) {
  const int i = bin_of(b->capacity);
  Block*& head = bin_[std::size_t(i)];
  (b->previous ? b->previous->next : head) = b->next;
  if (b->next) b->next->previous = b->previous;
  if (!head) used_[std::size_t(i) / 64] &= ~(std::uint64_t(1) << (i % 64));
  b->free = false;
  --count_;
}

Block* FreeLists::best_fit(std::size_t bytes) {
  // The search in a long list is limited, because the sizes of the blocks of one bin differ by an eighth at most.
  constexpr int kSearch = 64;
  const auto smallest = [bytes](Block* head) {
    Block* best = nullptr;
    int seen = 0;
    for (Block* b = head; b != nullptr && seen < kSearch; b = b->next, ++seen)
      if (b->capacity >= bytes && (!best || b->capacity < best->capacity)) {
        best = b;
        if (b->capacity == bytes) break;
      }
    return best;
  };
  const int first = bin_of(bytes);
  Block* best = smallest(bin_[std::size_t(first)]);
  if (!best) {
    std::size_t word = std::size_t(first + 1) / 64;
    std::uint64_t bits = word < used_.size() ? used_[word] & (~std::uint64_t(0) << ((first + 1) % 64)) : 0;
    while (bits == 0 && ++word < used_.size()) bits = used_[word];
    if (bits == 0) return nullptr;
    best = smallest(bin_[word * 64 + std::size_t(std::countr_zero(bits))]);
  }
  remove(best);
  return best;
}

// ---- Arena --------------------------------------------------------------------------------------
namespace {
constexpr std::size_t kManyBlocks = 64;  // Block objects that are allocated at once
}

void Arena::reserve_blocks(std::size_t n) {
  while (unused_ < n) [[unlikely]] {
      object_store_.push_back(std::make_unique<Block[]>(kManyBlocks));
      for (std::size_t i = 0; i < kManyBlocks; ++i) delete_block(&object_store_.back()[i]);
    }
}

Block* Arena::new_block() {
  reserve_blocks(1);
  Block* b = objects_;
  objects_ = b->next;
  --unused_;
  b->next = b->previous = b->before = b->after = nullptr;
  b->arena = this;
  b->refs.store(0, catena::MemoryOrder::relaxed);  // no owner until it is handed out
  b->small_class = -1;
  b->free = false;
  b->grown = false;
  b->device = {pool.backend.kind(), static_cast<std::int16_t>(device)};
  return b;
}

// Makes the tail of a used block free if it is large enough for a block of its own.
void Arena::split(Block* b, std::size_t capacity) {
  const std::size_t rest = b->capacity - capacity;
  if (rest < (b->shared ? pool.unit : b->grown ? kLeastRest : kSmallLimit)) return;
  Block* tail = new_block();
  tail->data = b->data + capacity;
  tail->capacity = rest;
  tail->shared = b->shared;
  tail->grown = b->grown;
  if (end_ == b) end_ = tail;
  tail->before = b;
  tail->after = b->after;
  if (b->after) b->after->before = tail;
  b->after = tail;
  b->capacity = capacity;
  lists(*tail).insert(tail);
}

void Arena::merge_and_insert(Block* b) {
  b->small_class = -1;
  if (Block* a = b->after; a && a->free) {
    lists(*a).remove(a);
    b->capacity += a->capacity;
    b->after = a->after;
    if (b->after) b->after->before = b;
    if (end_ == a) end_ = b;
    delete_block(a);
  }
  if (Block* a = b->before; a && a->free) {
    lists(*a).remove(a);
    a->capacity += b->capacity;
    a->after = b->after;
    if (a->after) a->after->before = a;
    if (end_ == b) end_ = a;
    delete_block(b);
    b = a;
  }
  lists(*b).insert(b);
}

Block* Arena::take(std::size_t capacity) {
  const std::lock_guard lock(mutex_);
  if (!pending_.empty()) collect_pending(false);
  reserve_blocks(1);  // so that a block that was found is not lost for lack of an object for its rest
  Block* b = (capacity <= pool.shared_limit ? shared_ : large_).best_fit(capacity);
  if (b) split(b, capacity);
  return b;
}

Block* Arena::add_segment(std::byte* data, std::size_t bytes, bool shared, std::size_t capacity) {
  const std::lock_guard lock(mutex_);
  reserve_blocks(2);
  Block* b = new_block();
  b->data = data;
  b->capacity = bytes;
  b->shared = shared;
  split(b, capacity);
  return b;
}

Arena::Growth Arena::growth_for(std::size_t capacity) const {
  const std::lock_guard lock(mutex_);
  const std::size_t there = end_ && end_->free ? std::min(end_->capacity, capacity) : 0;
  const std::size_t unit = pool.growth_unit, missing = std::max<std::size_t>(capacity - there, 1);
  return {end_ ? end_->data + end_->capacity : nullptr, (missing + unit - 1) / unit * unit};
}

void Arena::add_growth(std::byte* data, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  Block* b = new_block();
  b->data = data;
  b->capacity = bytes;
  b->shared = false;
  b->grown = true;
  if (end_ && end_->data + end_->capacity == data) {
    b->before = end_;
    end_->after = b;
  }
  end_ = b;
  merge_and_insert(b);
}

// Removes the whole units from a free block of growing memory; the rest at either end stays free.
Arena::Memory Arena::remove_units(Block* b) {
  const auto unit = pool.growth_unit;
  const auto address = reinterpret_cast<std::uintptr_t>(b->data);
  const std::size_t head = (unit - address % unit) % unit, tail = (address + b->capacity) % unit;
  if (b->capacity < head + unit + tail) return {nullptr, 0, true};
  const Memory units{b->data + head, b->capacity - head - tail, true};
  lists(*b).remove(b);
  Block* after = b->after;
  if (tail != 0) {
    Block* rest = new_block();
    rest->data = units.data + units.bytes;
    rest->capacity = tail;
    rest->shared = false;
    rest->grown = true;
    rest->after = after;
    if (after) after->before = rest;
    if (end_ == b) end_ = rest;
    lists(*rest).insert(rest);
  } else {
    if (after) after->before = nullptr;
    if (end_ == b && head == 0) end_ = b->before;
  }
  b->after = nullptr;
  if (head != 0) {
    b->capacity = head;
    lists(*b).insert(b);
  } else {
    if (b->before) b->before->after = nullptr;
    delete_block(b);
  }
  return units;
}

void Arena::give(Block* b) {
  {
    const std::lock_guard lock(mutex_);
    if (b->streams) hold(b);
    else merge_and_insert(b);
  }
  // After the pool was closed, nothing will reuse the block.
  if (pool.closed.load(std::memory_order_acquire)) release_free_segments();
}

void Arena::give_list(Block* list) {
  {
    const std::lock_guard lock(mutex_);
    while (Block* b = list) {
      list = b->next;
      merge_and_insert(b);
    }
  }
  if (pool.closed.load(std::memory_order_acquire)) release_free_segments();
}

// Holds back a block that other streams used until they have passed this point. If events cannot be created, waits for
// the streams.
void Arena::hold(Block* b) {
  const Device d = b->device;
  Pending p{b, std::move(b->streams), {}};
  const std::vector<void*>& streams = *p.streams;  // moves with its owner
  try {
    p.events.reserve(streams.size());
    for (void* s : streams) {
      p.events.push_back(pool.backend.create_event(device, {.disable_timing = true}));
      pool.backend.record_event(p.events.back(), {d, s});
    }
    pending_.push_back(std::move(p));
    return;
  } catch (...) {
    for (void* e : p.events) pool.backend.destroy_event(device, e);
  }
  try {
    for (void* s : streams) pool.backend.synchronize({d, s});
  } catch (...) {
    // The device is lost, and with it the order of its work.
  }
  merge_and_insert(b);
}

void Arena::collect_pending(bool wait) {
  std::erase_if(pending_, [&](Pending& p) {
    try {
      for (void* e : p.events) {
        if (wait) pool.backend.synchronize_event(e);
        else if (!pool.backend.event_done(e)) return false;
      }
    } catch (const catena::Error&) {
      // A lost device does not finish its work.
    }
    for (void* e : p.events) pool.backend.destroy_event(device, e);
    merge_and_insert(p.block);
    return true;
  });
}

void Arena::record(Block& b, void* other) {
  if (other == stream || pool.host) return;
  const std::lock_guard lock(mutex_);
  if (!b.streams) b.streams = std::make_unique<std::vector<void*>>();
  if (std::find(b.streams->begin(), b.streams->end(), other) == b.streams->end()) b.streams->push_back(other);
}

std::size_t Arena::release_free_segments() {
  std::vector<Memory> memory;
  if (held.load(std::memory_order_acquire)) return 0;
  {
    const std::lock_guard lock(mutex_);
    if (!pending_.empty()) collect_pending(true);
    std::vector<Block*> grown;
    large_.for_each([&](Block* b) {
      if (b->grown) grown.push_back(b);
    });
    memory.reserve(shared_.count() + large_.count());  // from here on nothing is allocated
    reserve_blocks(grown.size());
    for (FreeLists* l : {&shared_, &large_})
      l->for_each([&](Block* b) {
        if (!b->whole() || b->grown) return;
        memory.push_back({b->data, b->capacity, false});
        l->remove(b);
        delete_block(b);
      });
    for (Block* b : grown)
      if (const Memory units = remove_units(b); units.bytes != 0) memory.push_back(units);
  }
  std::size_t bytes = 0;
  for (const Memory& m : memory) bytes += m.bytes;
  PoolState& owner = pool;
  for (const Memory& m : memory)
    owner.deallocate(*this, m.data, m.bytes, m.grown);  // the last call may destroy the pool, and this arena with it
  return bytes;
}

std::size_t Arena::free_blocks() const {
  const std::lock_guard lock(mutex_);
  return shared_.count() + large_.count() + pending_.size();
}

// The owner of a block accesses it without the lock; the fields that are read here are atomic or not used by the owner.
MemoryBlock Arena::show(const Block& b) const {
  const auto pending = std::find_if(pending_.begin(), pending_.end(), [&b](const Pending& p) { return p.block == &b; });
  MemoryBlock shown{b.data, b.capacity, MemoryBlock::State::free, {}};
  if (pending != pending_.end()) {
    shown.state = MemoryBlock::State::held;
    shown.streams = *pending->streams;
  } else if (!b.free) {
    shown.state =
        b.refs.load(catena::MemoryOrder::relaxed) != 0 ? MemoryBlock::State::used : MemoryBlock::State::cached;
    if (b.streams) shown.streams = *b.streams;
  }
  return shown;
}

MemoryArena Arena::snapshot() const {
  MemoryArena shown{
      {{pool.backend.kind(), static_cast<std::int16_t>(device)}, stream}, held.load(std::memory_order_acquire), {}};
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Block[]>& many : object_store_)
    for (std::size_t i = 0; i < kManyBlocks; ++i) {
      const Block& first = many[i];
      if (first.capacity == 0 || first.before != nullptr) continue;
      MemorySegment& segment = shown.segments.emplace_back(MemorySegment{first.data, 0, {}});
      for (const Block* b = &first; b != nullptr; b = b->after) {
        segment.blocks.push_back(show(*b));
        segment.bytes += b->capacity;
      }
    }
  std::sort(shown.segments.begin(), shown.segments.end(),
            [](const auto& x, const auto& y) { return x.address < y.address; });
  return shown;
}

}  // namespace nd::internal
