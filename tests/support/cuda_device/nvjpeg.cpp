// nvJPEG of the software device: the files are decoded by libjpeg in the call, and the pixels are written when the
// stream reaches the work.
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/export.h>
#include <catena/kernels/formats/image.h>
#include <catena/ndarray/cuda/api/nvjpeg.h>
#include <catena/tests/support/cuda_device/library_work.h>

using namespace nd::cuda::api;

namespace cuda_device::exports {
#define CATENA_TYPE(symbol, field, ...) using symbol##_type = __VA_ARGS__;
CATENA_NVJPEG_FUNCTIONS(CATENA_TYPE)
#undef CATENA_TYPE
}  // namespace cuda_device::exports
extern "C" {
#define CATENA_DECLARE(symbol, field, ...) CATENA_EXPORT cuda_device::exports::symbol##_type symbol;
CATENA_NVJPEG_FUNCTIONS(CATENA_DECLARE)
#undef CATENA_DECLARE
}

struct nvjpegHandle {};
struct nvjpegJpegState {
  nvjpeg_handle owner;
};

namespace {

constexpr int kExecutionFailed = nvjpeg_execution_failed;

// Handles and states are not destroyed.
template <class T> class Objects {
 public:
  T* make(const T& value) {
    const std::lock_guard lock(mutex_);
    return *alive_.insert(new T(value)).first;
  }
  bool has(T* object) {
    const std::lock_guard lock(mutex_);
    return alive_.contains(object);
  }

 private:
  std::mutex mutex_;
  std::set<T*> alive_;
};
Objects<nvjpegHandle>& handles() {
  static auto& objects = *new Objects<nvjpegHandle>;
  return objects;
}
Objects<nvjpegJpegState>& states() {
  static auto& objects = *new Objects<nvjpegJpegState>;
  return objects;
}

// Returns nothing for a file that is damaged or of another format.
std::optional<catena::Image> decoded(const unsigned char* data, std::size_t bytes) {
  const std::string_view file(reinterpret_cast<const char*>(data), bytes);
  try {
    if (catena::image_format(file) != catena::ImageFormat::jpeg) return {};
    return catena::decode_image("nvjpegDecode", "bytes", file);
  } catch (const catena::ValueError&) {
    return {};
  }
}

}  // namespace

nvjpeg_status nvjpegGetProperty(int type, int* value) {
  CATENA_LIBRARY_CALL(nvjpegGetProperty);
  *value = type == nvjpeg_major_version ? 13 : 0;
  return nvjpeg_success;
}
nvjpeg_status nvjpegCreateSimple(nvjpeg_handle* handle) {
  CATENA_LIBRARY_CALL(nvjpegCreateSimple);
  if (!cuda_device::context_is_usable()) return nvjpeg_not_initialized;
  *handle = handles().make({});
  return nvjpeg_success;
}
nvjpeg_status nvjpegJpegStateCreate(nvjpeg_handle handle, nvjpeg_state* state) {
  CATENA_LIBRARY_CALL(nvjpegJpegStateCreate);
  if (!handles().has(handle)) return nvjpeg_invalid_parameter;
  *state = states().make({handle});
  return nvjpeg_success;
}

nvjpeg_status nvjpegGetImageInfo(nvjpeg_handle handle, const unsigned char* data, std::size_t bytes, int* components,
                                 int* subsampling, int* widths, int* heights) {
  CATENA_LIBRARY_CALL(nvjpegGetImageInfo);
  if (!handles().has(handle)) return nvjpeg_invalid_parameter;
  const std::optional<catena::Image> image = decoded(data, bytes);
  if (!image) return nvjpeg_bad_jpeg;
  *components = static_cast<int>(image->channels);
  *subsampling = 0;
  for (int c = 0; c < *components; ++c) {
    widths[c] = static_cast<int>(image->width);
    heights[c] = static_cast<int>(image->height);
  }
  return nvjpeg_success;
}

nvjpeg_status nvjpegDecode(nvjpeg_handle handle, nvjpeg_state state, const unsigned char* data, std::size_t bytes,
                           int format, nvjpeg_image* destination, CUstream_st* stream) {
  CATENA_LIBRARY_CALL(nvjpegDecode);
  if (!handles().has(handle) || !states().has(state) || state->owner != handle) return nvjpeg_invalid_parameter;
  std::optional<catena::Image> image = decoded(data, bytes);
  if (!image) return nvjpeg_bad_jpeg;
  if (format != (image->channels == 1 ? nvjpeg_output_y : nvjpeg_output_rgbi)) return nvjpeg_jpeg_not_supported;
  const auto rows = static_cast<std::size_t>(image->height), row_bytes = image->samples.size() / rows;
  unsigned char* const to = destination->channel[0];
  const std::size_t pitch = destination->pitch[0];
  if (!cuda_device::context_is_usable()) return nvjpeg_execution_failed;
  if (pitch < row_bytes || !cuda_device::is_device_memory(to, pitch * (rows - 1) + row_bytes))
    return nvjpeg_invalid_parameter;
  const auto samples = std::make_shared<std::vector<std::uint8_t>>(std::move(image->samples));
  const auto work = [samples, to, pitch, rows, row_bytes] {
    for (std::size_t y = 0; y < rows; ++y) std::memcpy(to + y * pitch, samples->data() + y * row_bytes, row_bytes);
  };
  return cuda_device::submit_library_work("nvjpegDecode", stream, work) ? nvjpeg_success : nvjpeg_execution_failed;
}
