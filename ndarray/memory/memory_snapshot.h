// The content of the memory pools at one moment, block by block. It shows which blocks are in use, and why a pool with
// enough free bytes cannot provide a large block.
//
//   std::cout << nd::memory_snapshot().to_json() << "\n";
//
// While other threads allocate and free, each arena (the memory of one stream) is consistent in itself: blocks cover
// its segments without gap or overlap. Different arenas may be from different moments, and a block that is being
// allocated or freed at that moment counts as cached. Without concurrent allocation the totals equal PoolStatistics.
//
// Thread safety: all functions may be called from any thread; allocations from an arena wait while it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <catena/ndarray/device/types.h>

namespace nd {

// A block of a segment.
struct MemoryBlock {
  enum class State : std::uint8_t {
    used,    // allocated
    cached,  // free, in a thread's bins of small blocks: reusable by that thread only
    held,    // free, but other streams that used it have not yet reached the point of its free
    free,    // free, may be reused, split and merged
  };
  const std::byte* address = nullptr;
  std::size_t bytes = 0;  // after rounding
  State state = State::free;
  std::vector<void*> streams;  // used: further streams that use it; held: the streams that must reach the free
};

// A segment: memory allocated from the device in one call, with its blocks in order of address.
struct MemorySegment {
  const std::byte* address = nullptr;
  std::size_t bytes = 0;
  std::vector<MemoryBlock> blocks;
};

// The memory that a pool has for one stream (host memory: for all streams), with its segments in order of address.
struct MemoryArena {
  StreamRef stream;
  bool recorded = false;  // used by recorded work (a CUDA graph): not returned to the device
  std::vector<MemorySegment> segments;
};

// Sums over blocks. The first four as in PoolStatistics; cached and held bytes are included in the free bytes.
struct MemoryTotals {
  std::size_t used_bytes = 0, total_bytes = 0, free_bytes = 0, n_free_blocks = 0;
  std::size_t cached_bytes = 0, held_bytes = 0;
  std::size_t n_segments = 0;
};

// The memory of all devices at one time.
struct CATENA_EXPORT MemorySnapshot {
  std::vector<MemoryArena> arenas;  // in the order in which their streams first allocated

  MemoryTotals totals() const;
  MemoryTotals totals(Device device) const;

  // {"totals": [{"device": "cuda:0", "used_bytes": 512, "total_bytes": 2097152, "free_bytes": 2096640,
  //              "n_free_blocks": 1, "cached_bytes": 0, "held_bytes": 0, "n_segments": 1}, ...],
  //  "arenas": [{"device": "cuda:0", "stream": "0x0", "recorded": false,
  //              "segments": [{"address": "0x7f0000000000", "bytes": 2097152,
  //                            "blocks": [{"address": "0x7f0000000000", "bytes": 512,
  //                                        "state": "used", "streams": []}, ...]}, ...]}, ...]}
  // but without white space. Totals are per device that has an arena. Addresses and streams are hexadecimal, 0x0 is the
  // default stream; states have the names of MemoryBlock::State.
  std::string to_json() const;
};

// Covers the pools of arrays of all devices (memory_pool(kind)), but not pinned host memory and memory of other
// allocators.
CATENA_EXPORT MemorySnapshot memory_snapshot();

}  // namespace nd
