#include <catena/ndarray/cuda/vendor/nvjpeg.h>

#include <map>
#include <mutex>
#include <string>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/runtime/handle_pool.h>
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/vendor/vendor.h>
#include <catena/ndarray/engine/execute.h>

namespace nd::cuda {
namespace {

// The library has no function that returns the names of its codes.
const char* name_of(api::nvjpeg_status status) {
  switch (status) {
    case api::nvjpeg_not_initialized: return "NVJPEG_STATUS_NOT_INITIALIZED";
    case api::nvjpeg_invalid_parameter: return "NVJPEG_STATUS_INVALID_PARAMETER";
    case api::nvjpeg_bad_jpeg: return "NVJPEG_STATUS_BAD_JPEG";
    case api::nvjpeg_jpeg_not_supported: return "NVJPEG_STATUS_JPEG_NOT_SUPPORTED";
    case api::nvjpeg_allocator_failure: return "NVJPEG_STATUS_ALLOCATOR_FAILURE";
    case api::nvjpeg_execution_failed: return "NVJPEG_STATUS_EXECUTION_FAILED";
    case api::nvjpeg_arch_mismatch: return "NVJPEG_STATUS_ARCH_MISMATCH";
    case api::nvjpeg_internal_error: return "NVJPEG_STATUS_INTERNAL_ERROR";
    case api::nvjpeg_implementation_not_supported: return "NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED";
    default: return "unknown status";
  }
}

void load_nvjpeg(Nvjpeg& table) {
  const Library library({"nvJPEG", {"libnvjpeg.so.13", "libnvjpeg.so.12", "libnvjpeg.so.11", "libnvjpeg.so"}});
  CATENA_NVJPEG_FUNCTIONS(CATENA_RESOLVE)
  table.path = library.path();
  for (const int part : {api::nvjpeg_major_version, api::nvjpeg_minor_version, api::nvjpeg_patch_level}) {
    int value = 0;
    const api::nvjpeg_status status = table.get_property(part, &value);
    if (status != api::nvjpeg_success) library.fail_answer(api::NvjpegNames::get_property, status, name_of(status));
    table.version += (table.version.empty() ? "" : ".") + std::to_string(value);
  }
}

const Loaded<Nvjpeg>& loaded_nvjpeg() {
  static const auto& loaded = *new Loaded<Nvjpeg>(load_nvjpeg);
  return loaded;
}

void check_nvjpeg(api::nvjpeg_status status, const char* call) {
  if (status == api::nvjpeg_success) [[likely]]
    return;
  fail_vendor({"nvJPEG", status, name_of(status), status == api::nvjpeg_allocator_failure}, call);
}
#define CATENA_NVJPEG(field, ...) check_nvjpeg(nvjpeg().field(__VA_ARGS__), api::NvjpegNames::field)

// False for a file that the library does not accept; the decoder for the CPU then reads it, or reports the error.
bool accepts(api::nvjpeg_status status, const char* call) {
  if (status == api::nvjpeg_bad_jpeg || status == api::nvjpeg_jpeg_not_supported) return false;
  check_nvjpeg(status, call);
  return true;
}

// The handle of a device, which all threads share. It is never destroyed, because the library may be unloaded before
// the last thread ends.
api::nvjpeg_handle handle_of(int device) {
  static auto& mutex = *new std::mutex;
  static auto& handles = *new std::map<int, api::nvjpeg_handle>;
  const std::lock_guard lock(mutex);
  api::nvjpeg_handle& handle = handles[device];
  if (handle == nullptr) CATENA_NVJPEG(create, &handle);
  return handle;
}

// The buffers of one decoding.
HandlePool<api::nvjpeg_state>::Lease lease_state(int device) {
  static auto& pool = *new HandlePool<api::nvjpeg_state>(driver().device_count);
  return pool.lease(device, [&] {
    api::nvjpeg_state state = nullptr;
    CATENA_NVJPEG(state_create, handle_of(device), &state);
    return state;
  });
}

const unsigned char* bytes_of(std::string_view file) { return reinterpret_cast<const unsigned char*>(file.data()); }

}  // namespace

const Nvjpeg& nvjpeg() { return loaded_nvjpeg().get(); }

std::optional<JpegSize> nvjpeg_size(std::string_view file, nd::Device device) {
  if (!loaded_nvjpeg().error.empty()) return {};
  use_device(device.id);
  int components = 0, subsampling = 0;
  int widths[api::nvjpeg_most_components] = {}, heights[api::nvjpeg_most_components] = {};
  const api::nvjpeg_status status = nvjpeg().get_image_info(handle_of(device.id), bytes_of(file), file.size(),
                                                            &components, &subsampling, widths, heights);
  if (!accepts(status, api::NvjpegNames::get_image_info) || (components != 1 && components != 3)) return {};
  // A few files have fewer samples of brightness than of colour: component 0 is then smaller than the image.
  for (int c = 1; c < components; ++c)
    if (widths[c] > widths[0] || heights[c] > heights[0]) return {};
  return JpegSize{heights[0], widths[0], components};
}

bool decode_by_nvjpeg(std::string_view file, const catena::ArrayHeader& out) {
  const StreamRef stream = nd::internal::stream_for(out.device);
  forbid_recording(api::NvjpegNames::decode, "because it reads a file in host memory");
  const bool grey = out.shape.size() == 2;
  bool accepted = false;
  const catena::ArrayHeader* const writes[] = {&out};
  nd::internal::launch_on(stream, {}, writes, [&] {
    use_device(stream.device.id);
    const auto state = lease_state(stream.device.id);
    api::nvjpeg_image image{};
    image.channel[0] = reinterpret_cast<unsigned char*>(out.data);
    image.pitch[0] = static_cast<std::size_t>(out.shape[1] * (grey ? 1 : 3));
    enqueue(api::NvjpegNames::decode, stream, {out.shape[0], out.shape[1]}, [&] {
      accepted =
          accepts(nvjpeg().decode(handle_of(stream.device.id), state.get(), bytes_of(file), file.size(),
                                  grey ? api::nvjpeg_output_y : api::nvjpeg_output_rgbi, &image, stream_of(stream)),
                  api::NvjpegNames::decode);
    });
    CATENA_CU(stream_synchronize, stream_of(stream));
  });
  return accepted;
}

}  // namespace nd::cuda
