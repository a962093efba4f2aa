// Work of the libraries that the software device stands in for: put on a stream like a kernel, executed when the stream gets there.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <functional>

#include "ndarray/cuda/api/driver.h"

namespace cuda_device {

// The calling thread has a current context, and no error has broken it.
bool context_is_usable();

// All the bytes lie in one allocation of a device that is in use.
bool is_device_memory(const void* data, std::size_t bytes);

// Puts work on a stream of the current context and counts it as a launch of `name`; a capturing stream takes it into its graph, and it is
// done each time that is launched. The body runs with the memory of all devices open. False: the stream cannot take it.
bool submit_library_work(const char* name, nd::cuda::api::cu_stream stream, std::function<void()> body);

}  // namespace cuda_device
