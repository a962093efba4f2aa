// Kernel launches, with a history for error messages: it keeps the last 32 launches of each stream, of kernels and of
// functions of libraries and the driver.
//
// CATENA_LAUNCH_BLOCKING=1 waits after every launch, so that an error names the kernel or function that caused it and
// is thrown by its call.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include <catena/ndarray/cuda/runtime/module.h>
#include <catena/ndarray/device/runtime.h>

namespace nd::cuda {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

// Launches a kernel with its parameters (an array of their addresses, as for cuLaunchKernel). Does nothing for an empty
// grid.
CATENA_EXPORT void launch(const LoadedKernel& kernel, Dim3 grid, Dim3 block, unsigned shared_bytes, void** parameters,
                          StreamRef stream);

// Enqueues work of a library or the driver on a stream of the current context: `call()` must call the function `name`
// and throw if it fails. `sizes` (at most 6) are shown with the name; they should be the numbers on which the duration
// depends.
CATENA_EXPORT void record_call(const char* name, StreamRef stream, std::initializer_list<std::int64_t> sizes);
CATENA_EXPORT void after_call(const char* name, StreamRef stream);
template <class Call>
void enqueue(const char* name, StreamRef stream, std::initializer_list<std::int64_t> sizes, Call&& call) {
  record_call(name, stream, sizes);
  std::forward<Call>(call)();
  after_call(name, stream);
}

// Returns "; last launches on cuda:0 stream 0x..., newest first: add_contiguous_...<<<2, 256>>>, cublasLtMatmul(64, 8,
// 32), ..." for every stream with launches.
CATENA_EXPORT std::string recent_launches();

}  // namespace nd::cuda
