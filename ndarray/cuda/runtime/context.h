// Devices, contexts and errors of the driver. Contexts are the primary ones, shared with every other library of the
// process; they are never released: arrays in static variables may outlive everything else.
//
// After an error that a context does not survive (an illegal address in a kernel, say) every later call fails at once
// with the first cause; the process has to be restarted.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <string_view>

#include <catena/kernels/base/array_header.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/device/backend.h>

namespace nd::cuda {

// ValueError for a number that no device has.
CATENA_EXPORT const DeviceProperties& properties(int device);

// Makes the device's context current on this thread; cheap when it is. Throws the first cause after an error that the
// context did not survive.
CATENA_EXPORT void use_device(int device);
// The primary context of a device.
CATENA_EXPORT api::cu_context primary_context(int device);

// Throws for every status but success: OutOfMemoryError, or CudaError "cuStreamSynchronize: <text>: CUDA error 719
// (CUDA_ERROR_LAUNCH_FAILED)", with what was launched last when a kernel may be to blame.
[[noreturn]] CATENA_EXPORT void fail(api::cu_result status, std::string_view call);
inline void check(api::cu_result status, std::string_view call) {
  if (status != api::cu_success) [[unlikely]]
    fail(status, call);
}

// Errors that a context does not survive.
CATENA_EXPORT bool is_sticky(api::cu_result status) noexcept;
// False after such an error: there is nothing left to give back to the driver.
CATENA_EXPORT bool is_healthy() noexcept;

// Calls of the driver by their names in the table: CATENA_CU(stream_synchronize, stream) throws what check() throws.
#define CATENA_CU(field, ...) \
  ::nd::cuda::check(::nd::cuda::driver().field(__VA_ARGS__), ::nd::cuda::api::DriverNames::field)

inline api::cu_stream stream_of(StreamRef stream) noexcept { return static_cast<api::cu_stream>(stream.handle); }
inline api::cu_deviceptr address_of(const void* p) noexcept { return reinterpret_cast<api::cu_deviceptr>(p); }

}  // namespace nd::cuda
