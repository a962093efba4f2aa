// The blocks of MemoryAsyncPool (async_pool.h), as the pool of arrays sees them. Internal to ndarray/memory.
#pragma once

#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/types.h>

namespace nd::internal {

// Records that enqueued work on `stream` uses the block: it is then freed after this work, too. Ignores storages that
// are no blocks of a MemoryAsyncPool. Thread safety: may be called from any thread.
void record_async_use(Storage& storage, StreamRef stream);

}  // namespace nd::internal
