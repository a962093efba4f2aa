// Folder ndarray/cuda/compiler/: from the key and the text of a kernel to loaded code: NVRTC, the caches in memory and
// on disk, and warm-up. It does not use calls or operands: ndarray/cuda/plans/ makes keys, texts and parameters from
// them. May use kernels/, ndarray/compile/ and ndarray/cuda/runtime/.
//
// This header: compiled kernels, found by their key. They are looked up in memory, without a lock, then on disk, and
// compiled if they are not found.
//
// On disk they are in the folder kernels/ of $CATENA_CACHE_DIR, $XDG_CACHE_HOME/catena or ~/.cache/catena; without
// CATENA_CACHE_DIR, CuPy's variable CUPY_CACHE_DIR is the folder itself. Both are read at every compilation. A folder
// that cannot hold a record (no space, no rights), or that other users may write and so determine what the GPU
// executes, is replaced by /tmp/catena-<user id> (ndarray/compile/disk_cache.h). CATENA_CACHE_DIR="" or "off" disables
// the disk cache. CATENA_CACHE_LIMIT is the size limit in bytes, by default 1 GB. Kernels that a package has compiled
// in advance are found in shared_folders(), which are only read.
//
// Thread safety: all functions may be called from any thread; a kernel that several threads request at once is compiled
// once, without holding a lock.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/ndarray/cuda/compiler/generated_kernel.h>
#include <catena/ndarray/cuda/compiler/kernel_key.h>
#include <catena/ndarray/cuda/runtime/module.h>

namespace nd::cuda {

// Returns the kernel of `key` on `device`; this function sets arch and text of the key. `generate` must return the
// text; it is called if the kernel is not cached. CompileError with the compiler's log and the numbered source;
// CudaError if the driver rejects the code.
CATENA_EXPORT const LoadedKernel& loaded_kernel(int device, const KernelKey& key,
                                                const std::function<GeneratedKernel()>& generate);

// A kernel to be compiled by warm_up().
struct WarmUpRequest {
  KernelKey key;
  GeneratedKernel kernel;
};
// Returns requests for every registered (kernel, loop) pair with its usual launch skeletons.
CATENA_EXPORT std::vector<WarmUpRequest> registered_kernels();

// Progress of warm_up(), reported by one thread at a time: `done` of `total` kernels are on disk; `kernels` have just
// been compiled, or were already on disk (`found`).
struct WarmUpProgress {
  std::size_t done = 0, total = 0;
  bool found = false;
  std::span<const KernelResources> kernels;
};
// Compiles the kernels that are not in the disk cache for architecture `arch`, in few large batches on several threads.
// Needs NVRTC, but neither a GPU nor a driver. Returns the number of compiled kernels. If a kernel does not compile,
// its error is thrown after all others have been compiled. RuntimeError if the disk cache is disabled or cannot be
// written. With a folder `output` the kernels go there instead, with rights to read for all users and without a limit
// of size: it can be one of shared_folders().
CATENA_EXPORT std::size_t warm_up(int arch, std::span<const WarmUpRequest> requests,
                                  const std::function<void(const WarmUpProgress&)>& progress = {},
                                  const std::string& output = {});

// Compiles the kernels of the cache in the folder `from` once more: for the architecture `arch` and into the folder
// `output`, as warm_up() does. Kernels that are stored for `arch` already are copied. Kernels of a batch, which
// warm_up() has stored without their texts, are left out.
CATENA_EXPORT std::size_t recompile(const std::string& from, int arch, const std::string& output,
                                    const std::function<void(const WarmUpProgress&)>& progress = {});

struct KernelCacheStatistics {
  std::uint64_t memory_hits = 0;  // counted only with CATENA_KERNEL_STATISTICS=1, to keep hits free of writes
  std::uint64_t disk_hits = 0, compilations = 0, bad_records = 0, write_failures = 0;
};
CATENA_EXPORT KernelCacheStatistics kernel_cache_statistics();

}  // namespace nd::cuda
