// Launching kernels, and what was launched: the last 32 launches of a stream, of kernels and of what libraries and the
// driver put there themselves, are kept for the message of an error.
//
// CATENA_LAUNCH_BLOCKING=1 waits after every launch, so that an error names the kernel or function that made it and
// stands at its call.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include <catena/ndarray/cuda/runtime/module.h>
#include <catena/ndarray/device/backend.h>

namespace nd::cuda {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

// One kernel with its parameters (an array of their addresses, as cuLaunchKernel takes them). A grid without blocks is
// not launched.
CATENA_EXPORT void launch(const LoadedKernel& kernel, Dim3 grid, Dim3 block, unsigned shared_bytes, void** parameters,
                          StreamRef stream);

// Work that a library, or the driver, puts on a stream of the current context: `call()` calls its function `name` and
// throws what that says. `sizes`, what the work's duration depends on, is shown with the name; at most 6 of them.
CATENA_EXPORT void record_call(const char* name, StreamRef stream, std::initializer_list<std::int64_t> sizes);
CATENA_EXPORT void after_call(const char* name, StreamRef stream);
template <class Call>
void enqueue(const char* name, StreamRef stream, std::initializer_list<std::int64_t> sizes, Call&& call) {
  record_call(name, stream, sizes);
  std::forward<Call>(call)();
  after_call(name, stream);
}

// "; last launches on cuda:0 stream 0x..., newest first: add_contiguous_...<<<2, 256>>>, cublasLtMatmul(64, 8, 32),
// ..." for every stream that anything was launched on.
CATENA_EXPORT std::string recent_launches();

}  // namespace nd::cuda
