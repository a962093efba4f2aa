// Entry points of the libraries that the software device replaces, in one table derived from the product's tables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

#include <catena/ndarray/cuda/api/cublas.h>
#include <catena/ndarray/cuda/api/cublaslt.h>
#include <catena/ndarray/cuda/api/cudnn.h>
#include <catena/ndarray/cuda/api/cufft.h>
#include <catena/ndarray/cuda/api/curand.h>
#include <catena/ndarray/cuda/api/cusolver.h>
#include <catena/ndarray/cuda/api/cusparse.h>
#include <catena/ndarray/cuda/api/driver.h>
#include <catena/ndarray/cuda/api/nccl.h>
#include <catena/ndarray/cuda/api/nvjpeg.h>
#include <catena/ndarray/cuda/api/nvrtc.h>

#define CATENA_ENTRIES(X)              \
  CATENA_DRIVER_FUNCTIONS(X)           \
  CATENA_DRIVER_OPTIONAL_FUNCTIONS(X)  \
  CATENA_NVRTC_FUNCTIONS(X)            \
  CATENA_CUBLASLT_FUNCTIONS(X)         \
  CATENA_CUBLAS_FUNCTIONS(X)           \
  CATENA_CURAND_FUNCTIONS(X)           \
  CATENA_CUSOLVER_FUNCTIONS(X)         \
  CATENA_CUFFT_FUNCTIONS(X)            \
  CATENA_CUSPARSE_FUNCTIONS(X)         \
  CATENA_NVJPEG_FUNCTIONS(X)           \
  CATENA_CUDNN_UTILITY_FUNCTIONS(X)    \
  CATENA_CUDNN_GRAPH_FUNCTIONS(X)      \
  CATENA_CUDNN_BATCH_NORM_FUNCTIONS(X) \
  CATENA_NCCL_FUNCTIONS(X)             \
  CATENA_NCCL_LATER_FUNCTIONS(X)

namespace cuda_device {

enum class Entry {
#define CATENA_ENTRY(symbol, ...) symbol,
  CATENA_ENTRIES(CATENA_ENTRY)
#undef CATENA_ENTRY
      kernel  // not a function: the execution of a kernel or of a library's work
};

inline constexpr const char* kEntryNames[] = {
#define CATENA_ENTRY(symbol, ...) #symbol,
    CATENA_ENTRIES(CATENA_ENTRY)
#undef CATENA_ENTRY
        "kernel"};
inline constexpr std::size_t kEntries = sizeof(kEntryNames) / sizeof(kEntryNames[0]);

inline const char* name_of(Entry entry) { return kEntryNames[static_cast<std::size_t>(entry)]; }
inline std::optional<Entry> find_entry(std::string_view name) {
  const auto found = std::find(std::begin(kEntryNames), std::end(kEntryNames), name);
  if (found == std::end(kEntryNames)) return std::nullopt;
  return static_cast<Entry>(found - std::begin(kEntryNames));
}

}  // namespace cuda_device
