// Internals of the memory pool: blocks, arenas and the caches of threads. Only memory_pool.cpp, pool_state.cpp
// and arena.cpp include this header.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <catena/ndarray/memory/memory_pool.h>
#include <catena/ndarray/memory/memory_snapshot.h>

namespace nd::internal {

inline constexpr std::size_t kSmallLimit = 64 * 1024;  // largest block that is kept in thread caches
// Largest block that shares a segment of kSegment bytes; on devices whose memory grows, kSmallLimit.
inline constexpr std::size_t kSharedLimit = 1024 * 1024;
inline constexpr std::size_t kSegment = 2 * 1024 * 1024;
inline constexpr std::size_t kLeastRest = 4096;            // smallest rest of a growing block that is kept separately
inline constexpr std::int64_t kThreadBytes = 1024 * 1024;  // bytes that one thread keeps per arena
inline constexpr std::int64_t kThreadDelta = 256 * 1024;   // used bytes that a thread may not yet have reported
inline constexpr std::size_t kLargest = std::size_t(1) << 62;

// Size classes of small blocks: steps of 64 bytes up to 512, then 8 to each doubling.
inline constexpr int kNumClasses = 8 + 7 * 8;
constexpr int class_of(std::size_t bytes) {
  if (bytes <= 512) return static_cast<int>((bytes + 63) / 64) - 1;
  const int log = std::bit_width(bytes - 1) - 1;  // 2^log < bytes <= 2^(log+1)
  return 8 + (log - 9) * 8 + static_cast<int>((bytes - 1 - (std::size_t(1) << log)) >> (log - 3));
}
constexpr std::size_t class_bytes(int c) {
  if (c < 8) return std::size_t(c + 1) * 64;
  const int log = 9 + (c - 8) / 8;
  return (std::size_t(1) << log) + (std::size_t((c - 8) % 8 + 1) << (log - 3));
}
static_assert(class_bytes(kNumClasses - 1) == kSmallLimit && class_of(kSmallLimit) == kNumClasses - 1);
static_assert(class_of(513) == 8 && class_of(576) == 8 && class_of(577) == 9 && class_bytes(8) == 576);

class Arena;

// A piece of a segment, used or free. It is also the Storage that arrays hold, so allocating it from a cache creates no
// other object.
struct Block : catena::Storage {
  std::size_t capacity = 0;  // 0: an unused object
  Arena* arena = nullptr;
  Block* before = nullptr;  // neighbours in the segment
  Block* after = nullptr;
  Block* next = nullptr;  // in a bin, a thread's cache or a list of unused objects
  Block* previous = nullptr;
  std::unique_ptr<std::vector<void*>> streams;  // other streams that used the block
  std::int16_t small_class = -1;                // size class of a small block, else -1
  bool free = false;                            // the block is in a bin of the arena
  bool shared = false;                          // the segment is for blocks of at most PoolState::shared_limit bytes
  bool grown = false;                           // the memory is from Runtime::grow
  bool whole() const { return before == nullptr && after == nullptr; }
};

// Free blocks by size: 8 bins per doubling, and a bitmap of the bins that are not empty.
class FreeLists {
 public:
  void insert(Block* b);
  void remove(Block* b);
  Block* best_fit(std::size_t bytes);  // removes the block from its bin; null if none is large enough
  template <class F> void for_each(F&& f) {
    for (Block* head : bin_)
      for (Block* b = head; b != nullptr;) {
        Block* next = b->next;
        f(b);
        b = next;
      }
  }
  std::size_t count() const { return count_; }

 private:
  static constexpr int kBins = 64 * 8;
  static int bin_of(std::size_t bytes);
  std::array<Block*, kBins> bin_{};
  std::array<std::uint64_t, kBins / 64> used_{};
  std::size_t count_ = 0;
};

struct DeviceCounters {
  std::atomic<std::int64_t> used{0}, peak_used{0};
  std::atomic<std::int64_t> total{0}, peak_total{0};
  std::atomic<std::size_t> limit{0};
  void add_used(std::int64_t delta);
  bool reserve(std::size_t bytes);  // adds to total; false if that would exceed the limit
  void raise_peak_total();
};

// Free blocks of one (device, stream).
class Arena {
 public:
  Arena(PoolState& pool, DeviceCounters& counters, int device, void* stream, Arena* next)
      : pool(pool), counters(counters), device(device), stream(stream), next(next) {}

  PoolState& pool;
  DeviceCounters& counters;
  const int device;
  void* const stream;
  Arena* const next;              // the arena made before this one
  std::atomic<bool> held{false};  // recorded work uses the memory: nothing is returned to the device

  // Returns a used block of that capacity (a multiple of the unit), or null if no free block is large enough.
  Block* take(std::size_t capacity);
  // Makes memory from the device a used block of `capacity` bytes; the rest of the segment becomes free. If there is no
  // memory for the objects, throws and does not take the memory.
  Block* add_segment(std::byte* data, std::size_t bytes, bool shared, std::size_t capacity);
  // The memory from Runtime::grow that is missing at the end of the arena's memory for a free block of `capacity`
  // bytes, and the address at which it must begin; null: the arena has no growing memory yet.
  struct Growth {
    std::byte* end;
    std::size_t bytes;
  };
  Growth growth_for(std::size_t capacity) const;
  // Adds memory from Runtime::grow as free memory: behind the end of the arena's memory, or as a new range.
  void add_growth(std::byte* data, std::size_t bytes);
  // Returns a block to the arena and merges it with free neighbours.
  void give(Block* b);
  // Returns the blocks of a thread's cache, linked by `next`.
  void give_list(Block* list);
  // Records that work on another stream uses the block.
  void record(Block& b, void* other);
  // Returns segments without a used block, and whole free units of growing memory, to the device. Returns the number of
  // bytes.
  std::size_t release_free_segments();
  std::size_t free_blocks() const;
  // Returns all segments with their blocks at one moment.
  MemoryArena snapshot() const;

 private:
  struct Pending {
    Block* block;
    std::unique_ptr<std::vector<void*>> streams;  // streams whose work must finish first
    std::vector<void*> events;
  };
  FreeLists& lists(const Block& b) { return b.shared ? shared_ : large_; }
  void reserve_blocks(std::size_t n);  // afterwards n calls of new_block do not allocate
  Block* new_block();
  void delete_block(Block* b) {
    b->capacity = 0;
    b->next = objects_;
    objects_ = b;
    ++unused_;
  }
  MemoryBlock show(const Block& b) const;
  struct Memory {
    std::byte* data;
    std::size_t bytes;
    bool grown;
  };
  Memory remove_units(Block* b);
  void split(Block* b, std::size_t capacity);
  void merge_and_insert(Block* b);
  void hold(Block* b);
  void collect_pending(bool wait);

  mutable std::mutex mutex_;
  FreeLists shared_, large_;
  std::vector<Pending> pending_;
  Block* end_ = nullptr;      // the last block of the memory that can grow
  Block* objects_ = nullptr;  // unused Block objects
  std::size_t unused_ = 0;    // number of unused Block objects
  std::vector<std::unique_ptr<Block[]>> object_store_;
};

// The blocks of one arena that a thread keeps. The counters are written by the owning thread only and read by
// statistics.
struct ThreadCache {
  Arena* arena = nullptr;
  int device = 0;
  void* stream = nullptr;
  PoolState* pool = nullptr;
  std::uint32_t epoch = 0;
  std::uint64_t attached = 0;           // number of the thread's attachments before this one
  std::atomic<std::int64_t> bytes{0};   // in bins
  std::atomic<std::int64_t> blocks{0};  // in bins
  std::atomic<std::int64_t> used{0};    // change of used bytes that is not yet in the pool's counter
  std::array<Block*, kNumClasses> bin{};
};

// The state of a pool. It exists until the pool, its segments and the caches of threads are gone.
class PoolState {
 public:
  explicit PoolState(Runtime& backend);
  ~PoolState();

  Runtime& backend;
  const bool host;                                  // host memory: streams do not matter, and blocks can be poisoned
  const std::size_t unit;                           // capacities are multiples of it
  const std::size_t growth_unit;                    // Runtime::growth_unit
  const std::size_t shared_limit;                   // blocks of at most this size share segments
  alignas(64) std::atomic<std::uint32_t> epoch{0};  // incremented to make threads return the blocks that they keep
  alignas(64) std::atomic<bool> closed{false};

  // Takes the pool's lock only at the first call for a device and stream.
  Arena& arena(int device, void* stream);
  DeviceCounters& counters(int device);
  Block* allocate(std::size_t bytes, int device, void* stream);
  void empty_caches();
  void free_all_blocks(int device);
  void close();
  void retain(std::int64_t n = 1) { refs_.fetch_add(n, std::memory_order_relaxed); }
  void release(std::int64_t n = 1);
  void attach(ThreadCache& cache);
  void detach(ThreadCache& cache);
  PoolStatistics statistics(int device) const;
  MemorySnapshot snapshot() const;
  void reset_peaks();
  void deallocate(Arena& arena, std::byte* data, std::size_t bytes, bool grown = false);

 private:
  DeviceCounters& locked_counters(int device);
  Arena* find_arena(int device, void* stream) const;
  template <class Take> std::byte* take_memory(std::size_t bytes, Arena& arena, bool grown, Take&& take);
  // Returns the number of pool references that memory holds: growing memory is returned unit by unit, so each unit
  // holds one.
  std::int64_t refs_of(std::size_t bytes, bool grown) const {
    return grown ? static_cast<std::int64_t>(bytes / growth_unit) : 1;
  }
  Block* allocate_growing(Arena& arena, std::size_t capacity);
  Block* allocate_segment(Arena& arena, std::size_t requested, std::size_t capacity);
  [[noreturn]] void fail_out_of_memory(std::size_t requested, int device) const;

  std::atomic<std::int64_t> refs_{1};
  mutable std::mutex mutex_;                    // guards the lists below; locked before the mutex of an arena
  std::vector<std::unique_ptr<Arena>> arenas_;  // exist until the end of the pool
  std::atomic<Arena*> newest_arena_{nullptr};   // the same arenas, linked by `next`, for look-ups without the lock
  std::vector<std::unique_ptr<DeviceCounters>> devices_;
  std::vector<ThreadCache*> caches_;
};

// Mark host memory as inaccessible while it is free (address sanitizer).
#if defined(__SANITIZE_ADDRESS__)
void poison(const Block& b);
void unpoison(const std::byte* data, std::size_t bytes);
#else
inline void poison(const Block&) {}
inline void unpoison(const std::byte*, std::size_t) {}
#endif

}  // namespace nd::internal
