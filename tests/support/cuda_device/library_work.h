// The libraries that the software device stands in for: how their entry points begin, and their work, which is put on a
// stream like a kernel and executed when the stream gets there.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <functional>

#include <catena/ndarray/cuda/api/driver.h>
#include <catena/tests/support/cuda_device/entry.h>

namespace cuda_device {

// Counts the call; gives the status of the failure that is planned for it, or 0. A planned code that is one of the
// driver's errors which a context does not survive breaks the current context, as work of before would that has failed:
// the library then says `execution_failed`.
int begin_library_call(Entry entry, int execution_failed);
// What an entry point that has a status begins with; kExecutionFailed is that of its library.
#define CATENA_LIBRARY_CALL(symbol) \
  if (const int planned = cuda_device::begin_library_call(cuda_device::Entry::symbol, kExecutionFailed)) return planned

// The calling thread has a current context, and no error has broken it.
bool context_is_usable();

// All the bytes lie in one allocation of a device that is in use.
bool is_device_memory(const void* data, std::size_t bytes);

// Puts work on a stream of the current context and counts it as a launch of `name`; a capturing stream takes it into
// its graph, and it is done each time that is launched. The body runs with the memory of all devices open. False: the
// stream cannot take it.
bool submit_library_work(const char* name, nd::cuda::api::cu_stream stream, std::function<void()> body);

}  // namespace cuda_device
