#include <catena/ndarray/cuda/vendor/cublas.h>

#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/vendor/vendor.h>
#include <catena/ndarray/device/device.h>

namespace nd::cuda {
namespace {

void load_cublas(Cublas& table) {
  const Library library({"cuBLAS", {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}});
  CATENA_CUBLAS_FUNCTIONS(CATENA_RESOLVE)
  table.path = library.path();
}

const Loaded<Cublas>& loaded_cublas() {
  static const auto& loaded = *new Loaded<Cublas>(load_cublas);
  return loaded;
}

}  // namespace

const Cublas& cublas_library() { return loaded_cublas().get(); }
bool cublas_is_available() { return loaded_cublas().error.empty(); }

namespace cublas {

const api::CublasFunctions& Library::table() {
  const Cublas& library = cublas_library();
  const nd::Device device = current_device();
  use_device(device.kind == nd::Device::Kind::cuda ? device.id : 0);
  return library;
}

void Library::check(api::cublas_status status, const char* call) {
  if (status == api::cublas_success) [[likely]]
    return;
  const char* const name = cublas_library().get_status_name(status);
  fail_vendor({"cuBLAS", status, name != nullptr ? name : "unknown status", status == api::cublas_alloc_failed}, call);
}

}  // namespace cublas
}  // namespace nd::cuda
