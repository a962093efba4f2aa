#include <catena/ndarray/cuda/vendor/vendor.h>

#include <catena/kernels/base/cuda_error.h>
#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/runtime/context.h>

namespace nd::cuda {
namespace {

// Returns the status of a call without effects, which is also allowed during a capture. After an error that destroyed
// the context, the driver returns that error from every call.
api::cu_result state_of_context() {
  try {
    api::cu_context context = nullptr;
    const Driver& cu = driver();
    if (cu.context_get_current(&context) != api::cu_success || context == nullptr) return api::cu_success;
    int capturing = 0;
    return cu.stream_is_capturing(nullptr, &capturing);
  } catch (const catena::RuntimeError&) {
    return api::cu_success;  // without a driver, a library may still be used on the host
  }
}

}  // namespace

void fail_vendor(const VendorStatus& status, std::string_view call) {
  if (const api::cu_result context = state_of_context(); is_sticky(context)) fail(context, call);
  if (status.out_of_memory)
    catena::fail<catena::OutOfMemoryError>(status.library, call, ": out of memory (", status.symbol, ")");
  catena::throw_cuda_error(status.library, status.code, status.symbol, std::string(call));
}

}  // namespace nd::cuda
