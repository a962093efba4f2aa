// The libraries that the software device replaces: the prologue of their entry points, and their work, which is
// submitted to a stream like a kernel and executed when the stream reaches it.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <functional>

#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/driver.h>
#include <catena/tests/support/cuda_device/entry.h>

namespace cuda_device {

// Counts the call and returns the status of its planned failure, or 0. A planned fatal code of the driver makes the
// current context unusable, as a failure of earlier asynchronous work would; the library then returns
// `execution_failed`. (999 is one of cuRAND's own codes.)
CATENA_EXPORT int begin_library_call(Entry entry, int execution_failed);
// The prologue of an entry point with a status; kExecutionFailed is defined for its library.
#define CATENA_LIBRARY_CALL(symbol) \
  if (const int planned = cuda_device::begin_library_call(cuda_device::Entry::symbol, kExecutionFailed)) return planned

// True if the calling thread has a current context without a fatal error.
CATENA_EXPORT bool context_is_usable();

// True if all bytes are in one allocation of device memory in use.
CATENA_EXPORT bool is_device_memory(const void* data, std::size_t bytes);

// Submits work to a stream of the current context and counts it as a launch of `name`. A capturing stream adds it to
// its graph, and every launch of the graph executes it. The body runs while the memory of all devices is accessible.
// Returns false if the stream cannot accept work.
CATENA_EXPORT bool submit_library_work(const char* name, nd::cuda::api::cu_stream stream, std::function<void()> body);

// Work that needs other ranks: begin(); then ready(), again and again until it returns true; then end(). All three are
// called under the lock of the device, which is released in between.
struct RankWork {
  std::function<void()> begin;
  std::function<bool()> ready;
  std::function<void()> end;
};
// As submit_library_work.
bool submit_rank_work(const char* name, nd::cuda::api::cu_stream stream, RankWork work);

}  // namespace cuda_device
