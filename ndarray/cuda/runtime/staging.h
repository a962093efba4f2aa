// Events for the backend itself, and copies from pageable host memory. These go through pinned buffers, so that they do
// not block and the source may change as soon as the call returns.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstddef>

#include <catena/ndarray/cuda/runtime/handle_pool.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/device/runtime.h>

namespace nd::cuda {

// An event without timing, leased for a scope. It may be leased again before the work that it marks has finished.
using PooledEvent = HandlePool<api::cu_event>::Lease;
CATENA_EXPORT PooledEvent pooled_event(int device);

// Copies pageable host memory to the device, ordered on the stream. The source may change as soon as this returns.
CATENA_EXPORT void copy_staged(api::cu_deviceptr to, const std::byte* from, std::size_t bytes, StreamRef stream);

}  // namespace nd::cuda
