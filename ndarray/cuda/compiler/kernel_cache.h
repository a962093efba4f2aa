// Compiled kernels, found by what they compute. In memory: one look-up without a lock. Then on disk, then the compiler.
//
// On disk they lie in $CATENA_CACHE_DIR, $XDG_CACHE_HOME/catena or ~/.cache/catena, in the folder kernels/; who may
// write there decides what the GPU executes. CATENA_CACHE_DIR="" or "off" keeps nothing. CATENA_CACHE_LIMIT: bytes, 1
// GB if it is not set.
//
// Thread safety: all functions may be called from any thread; a kernel that several threads ask for at once is compiled
// once, and no lock is held while it is.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <catena/ndarray/cuda/compiler/codegen.h>
#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/ndarray/cuda/compiler/kernel_key.h>
#include <catena/ndarray/cuda/runtime/module.h>

namespace nd::cuda {

// The kernel of `key` on `device`; arch and text of the key are filled in here. `generate` gives its text when it is
// not known yet. CompileError with the compiler's log and the numbered source; CudaError when the driver does not take
// it.
CATENA_EXPORT const LoadedKernel& find_kernel(int device, const KernelKey& key,
                                              const std::function<GeneratedKernel()>& generate);

// One kernel that warm_up() is asked for.
struct WarmUpRequest {
  KernelKey key;
  GeneratedKernel kernel;
};
// Every registered (kernel, loop) pair in its usual forms.
CATENA_EXPORT std::vector<WarmUpRequest> registered_kernels();

// What warm_up() tells, from one thread at a time: `done` of `total` are on disk now; `kernels` are those that have
// just been compiled, or were found (`found`).
struct WarmUpProgress {
  std::size_t done = 0, total = 0;
  bool found = false;
  std::span<const KernelResources> kernels;
};
// Compiles what is not in the disk cache for architecture `arch` in few large batches, on several threads; needs NVRTC,
// but neither a GPU nor a driver. Gives the number of kernels compiled. A kernel that does not compile keeps no other
// from it: its error comes last. RuntimeError when the disk cache is off or takes no more.
CATENA_EXPORT std::size_t warm_up(int arch, std::span<const WarmUpRequest> requests,
                                  const std::function<void(const WarmUpProgress&)>& progress = {});

struct KernelCacheStatistics {
  std::uint64_t memory_hits = 0;  // counted only while CATENA_KERNEL_STATISTICS=1: a hit does nothing else
  std::uint64_t disk_hits = 0, compilations = 0, bad_records = 0, write_failures = 0;
};
CATENA_EXPORT KernelCacheStatistics kernel_cache_statistics();

}  // namespace nd::cuda
