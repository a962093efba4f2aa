// JPEG files decoded on a GPU by nvJPEG.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/nvjpeg.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/device/types.h>

namespace nd::cuda {

namespace api {
struct NvjpegFunctions {
  CATENA_NVJPEG_FUNCTIONS(CATENA_FIELD)
};
struct NvjpegNames {
#define CATENA_NAME(symbol, field, ...) static constexpr const char* field = #symbol;
  CATENA_NVJPEG_FUNCTIONS(CATENA_NAME)
#undef CATENA_NAME
};
}  // namespace api

struct Nvjpeg : api::NvjpegFunctions {
  std::string path;
  std::string version;  // "13.0.0"
};
// RuntimeError "nvJPEG is unavailable: libnvjpeg.so.13 not found (tried: ...)", with the same text at every call.
CATENA_EXPORT const Nvjpeg& nvjpeg();

struct JpegSize {
  std::int64_t height = 0, width = 0, channels = 0;  // 1 or 3
};
// Returns the size of an image that nvJPEG decodes. Nothing without the library, for files of other numbers of
// channels, and for those that the library does not accept. CudaError for other failures.
CATENA_EXPORT std::optional<JpegSize> nvjpeg_size(std::string_view file, nd::Device device);

// Decodes the file into `out`, C-contiguous of uint8 and the shape (H, W) or (H, W, 3) of nvjpeg_size, on the current
// stream, and waits for it, because the file and the library's buffers are free afterwards. Returns false, with
// undefined elements, for a file that the library does not accept. CudaError for other failures; RuntimeError while a
// graph is captured.
CATENA_EXPORT bool decode_by_nvjpeg(std::string_view file, const catena::ArrayHeader& out);

}  // namespace nd::cuda
