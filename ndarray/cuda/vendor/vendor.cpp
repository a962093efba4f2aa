#include <catena/ndarray/cuda/vendor/vendor.h>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/runtime/context.h>

namespace nd::cuda {
namespace {

// The driver answers every call with the error that broke the context. This one changes nothing, also while a stream is
// captured.
api::cu_result state_of_context() {
  try {
    api::cu_context context = nullptr;
    const Driver& cu = driver();
    if (cu.context_get_current(&context) != api::cu_success || context == nullptr) return api::cu_success;
    int capturing = 0;
    return cu.stream_is_capturing(nullptr, &capturing);
  } catch (const catena::RuntimeError&) {
    return api::cu_success;  // a library may be used on the host where there is no driver
  }
}

}  // namespace

void fail_vendor(const VendorStatus& status, std::string_view call) {
  if (const api::cu_result context = state_of_context(); is_sticky(context)) fail(context, call);
  if (status.out_of_memory)
    catena::fail<catena::OutOfMemoryError>(status.library, call, ": out of memory (", status.symbol, ")");
  throw catena::CudaError(status.library, status.code, status.symbol, std::string(call));
}

}  // namespace nd::cuda
