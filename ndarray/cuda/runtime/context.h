// Folder ndarray/cuda/runtime/: the CUDA backend's interface to the driver: opening of libraries, contexts and errors,
// launches, modules, staging copies, graphs. It does not depend on kernels or calls. May use kernels/base/,
// ndarray/cuda/api/, ndarray/device/ and ndarray/memory/; module.cpp also compiles texts through
// ndarray/cuda/compiler/.
//
// This header: devices, contexts and errors of the driver. Contexts are the primary ones, shared with every other
// library of the process. They are never released, because arrays in static variables may be destroyed after everything
// else.
//
// After an error that destroys a context (such as an illegal address in a kernel), every later call on that device
// fails at once with the first cause; the process must be restarted. Other devices stay usable.
//
// A child of fork() has no contexts: if the parent had opened the driver before, use_device() throws a RuntimeError
// that says what to do instead, and no destructor calls the driver.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <string_view>

#include <catena/kernels/base/array_header.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/device/runtime.h>

namespace nd::cuda {

// ValueError for a device number that does not exist.
CATENA_EXPORT const DeviceProperties& properties(int device);

// Returns an attribute of a device: a number of cuDeviceGetAttribute, such as api::cu_concurrent_managed_access. Needs
// no context.
CATENA_EXPORT int device_attribute(int device, int attribute);

// Makes the device's context current on this thread; cheap if it is current already. After an error that destroyed the
// context, throws the first cause; in a child of fork(), RuntimeError.
CATENA_EXPORT void use_device(int device);
// Returns the primary context of a device.
CATENA_EXPORT api::cu_context primary_context(int device);

// Throws for a status that is not success: OutOfMemoryError, or CudaError "cuStreamSynchronize: <text>: CUDA error 719
// (CUDA_ERROR_LAUNCH_FAILED)", with the latest launches if a kernel may be the cause.
[[noreturn]] CATENA_EXPORT void fail(api::cu_result status, std::string_view call);
inline void check(api::cu_result status, std::string_view call) {
  if (status != api::cu_success) [[unlikely]]
    fail(status, call);
}

// True for errors that destroy a context.
CATENA_EXPORT bool is_sticky(api::cu_result status) noexcept;
// Returns false after such an error on the device, and in a child of fork(): memory and handles then need not be
// returned to the driver.
CATENA_EXPORT bool is_healthy(int device) noexcept;

// The driver's information about an address.
struct PointerInfo {
  unsigned type = 0;  // cu_memory_host, cu_memory_device; 0: not memory of CUDA
  int device = -1;    // device that allocated the memory
};
CATENA_EXPORT PointerInfo pointer_info(const void* p);

// Calls a function of the driver by its name in the table: CATENA_CU(stream_synchronize, stream) throws as check()
// does.
#define CATENA_CU(field, ...) \
  ::nd::cuda::check(::nd::cuda::driver().field(__VA_ARGS__), ::nd::cuda::api::DriverNames::field)

inline api::cu_stream stream_of(StreamRef stream) noexcept { return static_cast<api::cu_stream>(stream.handle); }
inline api::cu_deviceptr address_of(const void* p) noexcept { return reinterpret_cast<api::cu_deviceptr>(p); }

}  // namespace nd::cuda
