// The part of nvJPEG's interface that the CUDA backend calls, declared here so that it compiles without a toolkit. A
// test compares these declarations with the toolkit's header if that is installed. Enumerations are passed as int.
#pragma once

#include <cstddef>

struct CUstream_st;
struct nvjpegHandle;
struct nvjpegJpegState;

namespace nd::cuda::api {

using nvjpeg_handle = nvjpegHandle*;
using nvjpeg_state = nvjpegJpegState*;

// nvjpegStatus_t
using nvjpeg_status = int;
inline constexpr nvjpeg_status nvjpeg_success = 0, nvjpeg_not_initialized = 1, nvjpeg_invalid_parameter = 2,
                               nvjpeg_bad_jpeg = 3, nvjpeg_jpeg_not_supported = 4, nvjpeg_allocator_failure = 5,
                               nvjpeg_execution_failed = 6, nvjpeg_arch_mismatch = 7, nvjpeg_internal_error = 8,
                               nvjpeg_implementation_not_supported = 9;
// nvjpegOutputFormat_t: grey levels, and red, green and blue of a pixel one after another
inline constexpr int nvjpeg_output_y = 2, nvjpeg_output_rgbi = 5;
// libraryPropertyType
inline constexpr int nvjpeg_major_version = 0, nvjpeg_minor_version = 1, nvjpeg_patch_level = 2;

// nvjpegImage_t
inline constexpr int nvjpeg_most_components = 4;
struct nvjpeg_image {
  unsigned char* channel[nvjpeg_most_components];
  std::size_t pitch[nvjpeg_most_components];  // bytes of a row
};

// Name of the function in the library, its name in the table of entry points, and its type.
#define CATENA_NVJPEG_FUNCTIONS(X)                                                                                \
  X(nvjpegGetProperty, get_property, nvjpeg_status(int type, int* value))                                         \
  X(nvjpegCreateSimple, create, nvjpeg_status(nvjpeg_handle*))                                                    \
  X(nvjpegJpegStateCreate, state_create, nvjpeg_status(nvjpeg_handle, nvjpeg_state*))                             \
  X(nvjpegGetImageInfo, get_image_info,                                                                           \
    nvjpeg_status(nvjpeg_handle, const unsigned char* data, std::size_t bytes, int* components, int* subsampling, \
                  int* widths, int* heights))                                                                     \
  X(nvjpegDecode, decode,                                                                                         \
    nvjpeg_status(nvjpeg_handle, nvjpeg_state, const unsigned char* data, std::size_t bytes, int format,          \
                  nvjpeg_image*, CUstream_st*))

}  // namespace nd::cuda::api
