#include <catena/tests/support/cuda_device/errors.h>

#include <algorithm>
#include <iterator>

namespace cuda_device {
namespace {

using namespace nd::cuda::api;

constexpr ErrorText kTexts[] = {
    {cu_success, "CUDA_SUCCESS", "no error"},
    {cu_error_invalid_value, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {cu_error_out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {cu_error_not_initialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {cu_error_deinitialized, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {cu_error_stub_library, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {cu_error_no_device, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {cu_error_invalid_device, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {cu_error_invalid_image, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {cu_error_invalid_context, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {cu_error_no_binary_for_gpu, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {cu_error_ecc_uncorrectable, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {error_peer_access_unsupported, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
     "peer access is not supported between these two devices"},
    {cu_error_nvlink_uncorrectable, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "uncorrectable NVLink error detected"},
    {cu_error_contained, "CUDA_ERROR_CONTAINED", "an error was contained by the device"},
    {cu_error_invalid_handle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {error_illegal_state, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {cu_error_not_found, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {cu_error_not_ready, "CUDA_ERROR_NOT_READY", "device not ready"},
    {cu_error_illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {cu_error_launch_out_of_resources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {cu_error_launch_timeout, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {cu_error_peer_access_already_enabled, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
    {cu_error_context_is_destroyed, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {cu_error_too_many_peers, "CUDA_ERROR_TOO_MANY_PEERS", "peer mapping resources exhausted"},
    {cu_error_assert, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {cu_error_hardware_stack_error, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"},
    {cu_error_illegal_instruction, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {cu_error_misaligned_address, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {cu_error_invalid_address_space, "CUDA_ERROR_INVALID_ADDRESS_SPACE",
     "operation not supported on global/shared address space"},
    {cu_error_invalid_pc, "CUDA_ERROR_INVALID_PC", "invalid program counter"},
    {cu_error_launch_failed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {cu_error_tensor_memory_leak, "CUDA_ERROR_TENSOR_MEMORY_LEAK", "tensor memory not freed"},
    {error_not_permitted, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {cu_error_system_driver_mismatch, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "system has unsupported display driver / cuda driver combination"},
    {cu_error_mps_client_terminated, "CUDA_ERROR_MPS_CLIENT_TERMINATED", "MPS client has been terminated"},
    {cu_error_stream_capture_unsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {cu_error_stream_capture_invalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {error_capture_merge, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
     "operation would result in a merge of separate capture sequences"},
    {error_capture_unmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not ended in the same stream as it began"},
    {error_capture_unjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {error_capture_isolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
    {error_capture_implicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing stream"},
    {error_captured_event, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {error_capture_wrong_thread, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {cu_error_external_device, "CUDA_ERROR_EXTERNAL_DEVICE", "an error of a device outside of CUDA"},
    {cu_error_unknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

}  // namespace

const ErrorText* find_error(int code) {
  const auto found =
      std::find_if(std::begin(kTexts), std::end(kTexts), [code](const ErrorText& e) { return e.code == code; });
  return found == std::end(kTexts) ? nullptr : found;
}

bool is_fatal(int code) {
  switch (code) {
    case cu_error_ecc_uncorrectable:
    case cu_error_nvlink_uncorrectable:
    case cu_error_contained:
    case cu_error_illegal_address:
    case cu_error_launch_timeout:
    case cu_error_context_is_destroyed:
    case cu_error_assert:
    case cu_error_hardware_stack_error:
    case cu_error_illegal_instruction:
    case cu_error_misaligned_address:
    case cu_error_invalid_address_space:
    case cu_error_invalid_pc:
    case cu_error_launch_failed:
    case cu_error_tensor_memory_leak:
    case cu_error_mps_client_terminated:
    case cu_error_external_device:
    case cu_error_unknown: return true;
    default: return false;
  }
}

}  // namespace cuda_device
