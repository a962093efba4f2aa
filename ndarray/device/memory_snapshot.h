// What the memory pools hold at a moment, block by block: for finding out who keeps memory, and why a pool with enough
// free bytes has no place for a large block.
//
//   std::cout << nd::memory_snapshot().to_json() << "\n";
//
// While other threads allocate and free, an arena (the memory of one stream) is shown as it was at one moment: its
// segments are covered by their blocks without gap or overlap. Two arenas may be shown as of different moments, and a
// block that is just on its way between its user and the pool counts as cached. While no other thread does, the totals
// are those of PoolStatistics.
//
// Thread safety: everything may be called from any thread; allocations of an arena wait while it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <catena/ndarray/device/backend.h>

namespace nd {

struct MemoryBlock {
  enum class State : std::uint8_t {
    used,    // somebody holds it
    cached,  // free, in the bins of a thread: for small blocks of that thread only
    held,    // free, but other streams that used it have not passed the point of its free
    free,    // may be given again, split and merged
  };
  const std::byte* address = nullptr;
  std::size_t bytes = 0;  // after rounding
  State state = State::free;
  std::vector<void*> streams;  // used: other streams that use it as well; held: those that are waited for
};

// Memory that was taken from the device at once, and its blocks by address.
struct MemorySegment {
  const std::byte* address = nullptr;
  std::size_t bytes = 0;
  std::vector<MemoryBlock> blocks;
};

// What a pool has for one stream (host memory: for all), segments by address.
struct MemoryArena {
  StreamRef stream;
  bool recorded = false;  // recorded work (a CUDA graph) uses it: nothing goes back to the device
  std::vector<MemorySegment> segments;
};

// Sums over blocks. The first four as in PoolStatistics; cached and held bytes are parts of the free ones.
struct MemoryTotals {
  std::size_t used_bytes = 0, total_bytes = 0, free_bytes = 0, n_free_blocks = 0;
  std::size_t cached_bytes = 0, held_bytes = 0;
  std::size_t n_segments = 0;
};

struct CATENA_EXPORT MemorySnapshot {
  std::vector<MemoryArena> arenas;  // in the order in which their streams first needed memory

  MemoryTotals totals() const;
  MemoryTotals totals(Device device) const;

  // {"totals": [{"device": "cuda:0", "used_bytes": 512, "total_bytes": 2097152, "free_bytes": 2096640, "n_free_blocks":
  // 1,
  //              "cached_bytes": 0, "held_bytes": 0, "n_segments": 1}, ...],
  //  "arenas": [{"device": "cuda:0", "stream": "0x0", "recorded": false,
  //              "segments": [{"address": "0x7f0000000000", "bytes": 2097152,
  //                            "blocks": [{"address": "0x7f0000000000", "bytes": 512, "state": "used", "streams": []},
  //                            ...]}, ...]}, ...]}
  // without white space. Totals: one for each device that has an arena. Addresses and streams are hexadecimal, 0x0 is
  // the default stream; states have the names of MemoryBlock::State.
  std::string to_json() const;
};

// Of the pools of arrays of all devices (memory_pool(kind)). Pinned host memory and blocks from elsewhere are not in
// it.
CATENA_EXPORT MemorySnapshot memory_snapshot();

}  // namespace nd
