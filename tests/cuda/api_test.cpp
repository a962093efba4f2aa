// Our declarations of the driver's interface against the toolkit's headers, where they are found. Compiling this is the
// test.
#include <boost/test/unit_test.hpp>

#include <iostream>

#include <catena/ndarray/cuda/runtime/library.h>

#if __has_include(<cuda.h>) && __has_include(<cudaProfiler.h>)
#include <cuda.h>
#include <cudaProfiler.h>
#define CATENA_HAS_TOOLKIT_HEADER 1
#endif

#ifdef CATENA_HAS_TOOLKIT_HEADER
namespace {

using namespace nd::cuda;

// Same arguments and result; enumerations are passed as int.
template <class T, bool = std::is_enum_v<T>> struct plain { using type = T; };
template <class T> struct plain<T, true> {
  static_assert(sizeof(T) == sizeof(int));
  using type = int;
};
template <class T> struct plain<T*, false> { using type = typename plain<T>::type*; };
template <> struct plain<CUmemLocation, false> { using type = api::cu_memory_location; };
template <> struct plain<const CUmemPoolProps, false> { using type = const api::cu_memory_pool_properties; };
static_assert(sizeof(api::cu_memory_location) == sizeof(CUmemLocation));
static_assert(sizeof(api::cu_memory_pool_properties) == sizeof(CUmemPoolProps));
static_assert(offsetof(api::cu_memory_pool_properties, location) == offsetof(CUmemPoolProps, location));
static_assert(offsetof(api::cu_memory_pool_properties, max_size) == offsetof(CUmemPoolProps, maxSize));
template <class R, class... A> struct plain<R(A...), false> {
  using type = typename plain<R>::type(typename plain<A>::type...);
};
#define CATENA_COMPARE(symbol, field, ...) \
  static_assert(                           \
      std::is_same_v<typename plain<decltype(::symbol)>::type, std::remove_pointer_t<decltype(Driver::field)>>);
CATENA_DRIVER_FUNCTIONS(CATENA_COMPARE)
CATENA_DRIVER_OPTIONAL_FUNCTIONS(CATENA_COMPARE)
#undef CATENA_COMPARE

#define CATENA_EQUAL(ours, theirs) static_assert(static_cast<long long>(api::ours) == static_cast<long long>(theirs));
CATENA_EQUAL(cu_success, CUDA_SUCCESS)
CATENA_EQUAL(cu_error_invalid_value, CUDA_ERROR_INVALID_VALUE)
CATENA_EQUAL(cu_error_out_of_memory, CUDA_ERROR_OUT_OF_MEMORY)
CATENA_EQUAL(cu_error_not_initialized, CUDA_ERROR_NOT_INITIALIZED)
CATENA_EQUAL(cu_error_deinitialized, CUDA_ERROR_DEINITIALIZED)
CATENA_EQUAL(cu_error_stub_library, CUDA_ERROR_STUB_LIBRARY)
CATENA_EQUAL(cu_error_no_device, CUDA_ERROR_NO_DEVICE)
CATENA_EQUAL(cu_error_invalid_device, CUDA_ERROR_INVALID_DEVICE)
CATENA_EQUAL(cu_error_invalid_image, CUDA_ERROR_INVALID_IMAGE)
CATENA_EQUAL(cu_error_invalid_context, CUDA_ERROR_INVALID_CONTEXT)
CATENA_EQUAL(cu_error_ecc_uncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE)
CATENA_EQUAL(cu_error_no_binary_for_gpu, CUDA_ERROR_NO_BINARY_FOR_GPU)
CATENA_EQUAL(cu_error_invalid_ptx, CUDA_ERROR_INVALID_PTX)
CATENA_EQUAL(cu_error_nvlink_uncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE)
CATENA_EQUAL(cu_error_unsupported_ptx_version, CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
CATENA_EQUAL(cu_error_contained, CUDA_ERROR_CONTAINED)
CATENA_EQUAL(cu_error_invalid_source, CUDA_ERROR_INVALID_SOURCE)
CATENA_EQUAL(cu_error_invalid_handle, CUDA_ERROR_INVALID_HANDLE)
CATENA_EQUAL(cu_error_not_found, CUDA_ERROR_NOT_FOUND)
CATENA_EQUAL(cu_error_not_ready, CUDA_ERROR_NOT_READY)
CATENA_EQUAL(cu_error_illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS)
CATENA_EQUAL(cu_error_launch_out_of_resources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
CATENA_EQUAL(cu_error_launch_timeout, CUDA_ERROR_LAUNCH_TIMEOUT)
CATENA_EQUAL(cu_error_peer_access_already_enabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
CATENA_EQUAL(cu_error_context_is_destroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED)
CATENA_EQUAL(cu_error_assert, CUDA_ERROR_ASSERT)
CATENA_EQUAL(cu_error_too_many_peers, CUDA_ERROR_TOO_MANY_PEERS)
CATENA_EQUAL(cu_error_hardware_stack_error, CUDA_ERROR_HARDWARE_STACK_ERROR)
CATENA_EQUAL(cu_error_illegal_instruction, CUDA_ERROR_ILLEGAL_INSTRUCTION)
CATENA_EQUAL(cu_error_misaligned_address, CUDA_ERROR_MISALIGNED_ADDRESS)
CATENA_EQUAL(cu_error_invalid_address_space, CUDA_ERROR_INVALID_ADDRESS_SPACE)
CATENA_EQUAL(cu_error_invalid_pc, CUDA_ERROR_INVALID_PC)
CATENA_EQUAL(cu_error_launch_failed, CUDA_ERROR_LAUNCH_FAILED)
CATENA_EQUAL(cu_error_tensor_memory_leak, CUDA_ERROR_TENSOR_MEMORY_LEAK)
CATENA_EQUAL(cu_error_system_driver_mismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)
CATENA_EQUAL(cu_error_mps_client_terminated, CUDA_ERROR_MPS_CLIENT_TERMINATED)
CATENA_EQUAL(cu_error_stream_capture_unsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
CATENA_EQUAL(cu_error_stream_capture_invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
CATENA_EQUAL(cu_error_external_device, CUDA_ERROR_EXTERNAL_DEVICE)
CATENA_EQUAL(cu_error_unknown, CUDA_ERROR_UNKNOWN)
CATENA_EQUAL(cu_max_threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
CATENA_EQUAL(cu_max_shared_memory_per_block, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)
CATENA_EQUAL(cu_warp_size, CU_DEVICE_ATTRIBUTE_WARP_SIZE)
CATENA_EQUAL(cu_clock_rate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE)
CATENA_EQUAL(cu_multiprocessor_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
CATENA_EQUAL(cu_memory_clock_rate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)
CATENA_EQUAL(cu_memory_bus_width, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)
CATENA_EQUAL(cu_l2_cache_size, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)
CATENA_EQUAL(cu_max_threads_per_multiprocessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)
CATENA_EQUAL(cu_compute_capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
CATENA_EQUAL(cu_compute_capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
CATENA_EQUAL(cu_managed_memory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)
CATENA_EQUAL(cu_concurrent_managed_access, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)
CATENA_EQUAL(cu_memory_pools_supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
CATENA_EQUAL(cu_pointer_is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED)
CATENA_EQUAL(cu_location_device, CU_MEM_LOCATION_TYPE_DEVICE)
CATENA_EQUAL(cu_location_host, CU_MEM_LOCATION_TYPE_HOST)
CATENA_EQUAL(cu_pool_release_threshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
CATENA_EQUAL(cu_pool_reserved_current, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
CATENA_EQUAL(cu_pool_reserved_high, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
CATENA_EQUAL(cu_pool_used_current, CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
CATENA_EQUAL(cu_pool_used_high, CU_MEMPOOL_ATTR_USED_MEM_HIGH)
CATENA_EQUAL(cu_memory_allocation_pinned, CU_MEM_ALLOCATION_TYPE_PINNED)
CATENA_EQUAL(cu_advise_set_read_mostly, CU_MEM_ADVISE_SET_READ_MOSTLY)
CATENA_EQUAL(cu_advise_unset_accessed_by, CU_MEM_ADVISE_UNSET_ACCESSED_BY)
CATENA_EQUAL(cu_attach_global, CU_MEM_ATTACH_GLOBAL)
CATENA_EQUAL(cu_max_shared_memory_per_block_optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
CATENA_EQUAL(cu_pointer_memory_type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
CATENA_EQUAL(cu_pointer_device_ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
CATENA_EQUAL(cu_memory_host, CU_MEMORYTYPE_HOST)
CATENA_EQUAL(cu_memory_device, CU_MEMORYTYPE_DEVICE)
CATENA_EQUAL(cu_function_max_threads_per_block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
CATENA_EQUAL(cu_function_shared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
CATENA_EQUAL(cu_function_local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
CATENA_EQUAL(cu_function_registers, CU_FUNC_ATTRIBUTE_NUM_REGS)
CATENA_EQUAL(cu_function_max_dynamic_shared_bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
CATENA_EQUAL(cu_stream_default, CU_STREAM_DEFAULT)
CATENA_EQUAL(cu_stream_non_blocking, CU_STREAM_NON_BLOCKING)
CATENA_EQUAL(cu_event_blocking_sync, CU_EVENT_BLOCKING_SYNC)
CATENA_EQUAL(cu_event_disable_timing, CU_EVENT_DISABLE_TIMING)
CATENA_EQUAL(cu_event_interprocess, CU_EVENT_INTERPROCESS)
CATENA_EQUAL(cu_host_alloc_portable, CU_MEMHOSTALLOC_PORTABLE)
CATENA_EQUAL(cu_capture_thread_local, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
CATENA_EQUAL(cu_capture_relaxed, CU_STREAM_CAPTURE_MODE_RELAXED)
CATENA_EQUAL(cu_capture_none, CU_STREAM_CAPTURE_STATUS_NONE)
CATENA_EQUAL(cu_capture_active, CU_STREAM_CAPTURE_STATUS_ACTIVE)
CATENA_EQUAL(cu_capture_invalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED)
#undef CATENA_EQUAL

}  // namespace
#endif

BOOST_AUTO_TEST_CASE(the_drivers_interface) {
#ifdef CATENA_HAS_TOOLKIT_HEADER
  BOOST_CHECK_EQUAL(static_cast<int>(CUDA_SUCCESS), nd::cuda::api::cu_success);
  std::cout << "compared with the toolkit's headers, version " << CUDA_VERSION << "\n";
#else
  std::cout << "skipped: there is no cuda.h on this machine\n";
#endif
}
