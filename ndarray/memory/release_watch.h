// For caches of what is computed from arrays: to be told when the memory of an array is released, and when memory is
// wanted back. Both concern the blocks of pools (memory_pool.h).
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <catena/kernels/base/array_header.h>
#include <catena/ndarray/device/types.h>

namespace nd {

// Told that the last array over a block is gone, on the thread that dropped it, before the memory is used again. May
// free other blocks; must not throw.
using ReleaseWatch = void (*)(catena::Storage& storage);
// `watch` is called once for this use of the block, however often it was asked for. The caller holds a reference. False
// for a storage that is not a block of a MemoryPool, whose end is not told.
CATENA_EXPORT bool watch_release(catena::Storage& storage, ReleaseWatch watch);

// Frees what it keeps on a device (kAllDevices: on all of that kind) and can make again; must not throw.
using CacheRelease = void (*)(catena::Device::Kind kind, int device);
// MemoryPool::free_all_blocks, which also runs when memory is short, begins with this call.
CATENA_EXPORT void add_cache(CacheRelease release);

}  // namespace nd
