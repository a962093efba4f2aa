// For caches of values that are computed from arrays: callbacks when the memory of an array is released, and when
// memory is needed. Both concern the blocks of pools (memory_pool.h).
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <catena/kernels/base/array_header.h>
#include <catena/ndarray/device/types.h>

namespace nd {

// Called when the last array over a block is gone, on the thread that dropped it, before the memory is reused. May free
// other blocks; must not throw.
using ReleaseWatch = void (*)(catena::Storage& storage);
// Requests one call of `watch` for this use of the block; repeated requests have no effect. The caller must hold a
// reference. Returns false for a storage that is not a block of a MemoryPool; `watch` is then not called.
CATENA_EXPORT bool watch_release(catena::Storage& storage, ReleaseWatch watch);

// Frees cached values on a device (kAllDevices: on all devices of that kind) that can be computed again; must not
// throw.
using CacheRelease = void (*)(catena::Device::Kind kind, int device);
// Registers a function that MemoryPool::free_all_blocks calls first; that also runs when memory is short.
CATENA_EXPORT void add_cache(CacheRelease release);

}  // namespace nd
