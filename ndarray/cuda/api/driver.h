// Folder ndarray/cuda/api/: prototypes and constants of NVIDIA's libraries, as far as they are called. With them, the
// CUDA backend compiles without a toolkit; a test compares the declarations with the toolkit's headers if they are
// installed. The folder has no code and includes no other folder; ndarray/cuda/runtime/ and vendor/ open the libraries.
//
// This header: the CUDA driver. Enumerations are passed as int.
#pragma once

#include <cstddef>

// The driver's names of its opaque types.
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;
struct CUmemPoolHandle_st;

namespace nd::cuda::api {

using cu_device = int;
using cu_deviceptr = unsigned long long;
using cu_context = CUctx_st*;
using cu_module = CUmod_st*;
using cu_function = CUfunc_st*;
using cu_stream = CUstream_st*;
using cu_event = CUevent_st*;
using cu_graph = CUgraph_st*;
using cu_graph_node = CUgraphNode_st*;
using cu_graph_exec = CUgraphExec_st*;
using cu_memory_pool = CUmemPoolHandle_st*;

// CUmemLocation
struct cu_memory_location {
  int type = 0, id = 0;
};
inline constexpr int cu_location_device = 1, cu_location_host = 2;  // CUmemLocationType

// CUmemPoolProps. The bytes at its end, whose names depend on the version, must be 0.
struct cu_memory_pool_properties {
  int allocation_type = 0, handle_types = 0;
  cu_memory_location location;
  void* security_attributes = nullptr;
  std::size_t max_size = 0;
  unsigned char reserved[56] = {};
};

// CUresult
using cu_result = int;
inline constexpr cu_result cu_success = 0;
inline constexpr cu_result cu_error_invalid_value = 1;
inline constexpr cu_result cu_error_out_of_memory = 2;
inline constexpr cu_result cu_error_not_initialized = 3;
inline constexpr cu_result cu_error_deinitialized = 4;
inline constexpr cu_result cu_error_stub_library = 34;
inline constexpr cu_result cu_error_no_device = 100;
inline constexpr cu_result cu_error_invalid_device = 101;
inline constexpr cu_result cu_error_invalid_image = 200;
inline constexpr cu_result cu_error_invalid_context = 201;
inline constexpr cu_result cu_error_ecc_uncorrectable = 214;
inline constexpr cu_result cu_error_no_binary_for_gpu = 209;
inline constexpr cu_result cu_error_invalid_ptx = 218;
inline constexpr cu_result cu_error_nvlink_uncorrectable = 220;
inline constexpr cu_result cu_error_unsupported_ptx_version = 222;
inline constexpr cu_result cu_error_contained = 226;
inline constexpr cu_result cu_error_invalid_source = 300;
inline constexpr cu_result cu_error_invalid_handle = 400;
inline constexpr cu_result cu_error_not_found = 500;
inline constexpr cu_result cu_error_not_ready = 600;
inline constexpr cu_result cu_error_illegal_address = 700;
inline constexpr cu_result cu_error_launch_out_of_resources = 701;
inline constexpr cu_result cu_error_launch_timeout = 702;
inline constexpr cu_result cu_error_peer_access_already_enabled = 704;
inline constexpr cu_result cu_error_context_is_destroyed = 709;
inline constexpr cu_result cu_error_assert = 710;
inline constexpr cu_result cu_error_too_many_peers = 711;
inline constexpr cu_result cu_error_hardware_stack_error = 714;
inline constexpr cu_result cu_error_illegal_instruction = 715;
inline constexpr cu_result cu_error_misaligned_address = 716;
inline constexpr cu_result cu_error_invalid_address_space = 717;
inline constexpr cu_result cu_error_invalid_pc = 718;
inline constexpr cu_result cu_error_launch_failed = 719;
inline constexpr cu_result cu_error_tensor_memory_leak = 721;
inline constexpr cu_result cu_error_system_driver_mismatch = 803;
inline constexpr cu_result cu_error_mps_client_terminated = 810;
inline constexpr cu_result cu_error_stream_capture_unsupported = 900;
inline constexpr cu_result cu_error_stream_capture_invalidated = 901;
inline constexpr cu_result cu_error_external_device = 911;
inline constexpr cu_result cu_error_unknown = 999;

// CUdevice_attribute
inline constexpr int cu_max_threads_per_block = 1;
inline constexpr int cu_max_shared_memory_per_block = 8;
inline constexpr int cu_warp_size = 10;
inline constexpr int cu_clock_rate = 13;
inline constexpr int cu_multiprocessor_count = 16;
inline constexpr int cu_memory_clock_rate = 36;
inline constexpr int cu_memory_bus_width = 37;
inline constexpr int cu_l2_cache_size = 38;
inline constexpr int cu_max_threads_per_multiprocessor = 39;
inline constexpr int cu_compute_capability_major = 75;
inline constexpr int cu_compute_capability_minor = 76;
inline constexpr int cu_max_shared_memory_per_block_optin = 97;
inline constexpr int cu_managed_memory = 83;
inline constexpr int cu_concurrent_managed_access = 89;
inline constexpr int cu_memory_pools_supported = 115;

// CUpointer_attribute, CUmemorytype
inline constexpr int cu_pointer_memory_type = 2;
inline constexpr int cu_pointer_is_managed = 8;
inline constexpr int cu_pointer_device_ordinal = 9;
inline constexpr unsigned cu_memory_host = 1, cu_memory_device = 2;

// CUfunction_attribute
inline constexpr int cu_function_max_threads_per_block = 0;
inline constexpr int cu_function_shared_bytes = 1;
inline constexpr int cu_function_local_bytes = 3;
inline constexpr int cu_function_registers = 4;
inline constexpr int cu_function_max_dynamic_shared_bytes = 8;

// CUmemPool_attribute, CUmemAllocationType, CUmem_advise
inline constexpr int cu_pool_release_threshold = 4;
inline constexpr int cu_pool_reserved_current = 5, cu_pool_reserved_high = 6;
inline constexpr int cu_pool_used_current = 7, cu_pool_used_high = 8;
inline constexpr int cu_memory_allocation_pinned = 1;
inline constexpr int cu_advise_set_read_mostly = 1, cu_advise_unset_accessed_by = 6;  // the first, the last

// Flags
inline constexpr unsigned cu_attach_global = 1;
inline constexpr unsigned cu_stream_default = 0, cu_stream_non_blocking = 1;
inline constexpr unsigned cu_event_blocking_sync = 1, cu_event_disable_timing = 2, cu_event_interprocess = 4;
inline constexpr unsigned cu_host_alloc_portable = 1;
inline constexpr int cu_capture_thread_local = 1, cu_capture_relaxed = 2;                     // CUstreamCaptureMode
inline constexpr int cu_capture_none = 0, cu_capture_active = 1, cu_capture_invalidated = 2;  // CUstreamCaptureStatus

using cu_host_fn = void (*)(void* context);
using cu_stream_callback = void (*)(cu_stream, cu_result status,
                                    void* context);  // called exactly once, also after an error

// Name of the function in the library, its name in the table of entry points, and its type.
#define CATENA_DRIVER_FUNCTIONS(X)                                                                                     \
  X(cuInit, init, cu_result(unsigned flags))                                                                           \
  X(cuDriverGetVersion, get_version, cu_result(int* version))                                                          \
  X(cuGetErrorName, get_error_name, cu_result(cu_result, const char** name))                                           \
  X(cuGetErrorString, get_error_string, cu_result(cu_result, const char** text))                                       \
  X(cuDeviceGetCount, device_get_count, cu_result(int* count))                                                         \
  X(cuDeviceGet, device_get, cu_result(cu_device*, int ordinal))                                                       \
  X(cuDeviceGetName, device_get_name, cu_result(char* name, int length, cu_device))                                    \
  X(cuDeviceGetAttribute, device_get_attribute, cu_result(int* value, int attribute, cu_device))                       \
  X(cuDeviceTotalMem_v2, device_total_memory, cu_result(std::size_t* bytes, cu_device))                                \
  X(cuDeviceCanAccessPeer, device_can_access_peer, cu_result(int* can, cu_device, cu_device peer))                     \
  X(cuDevicePrimaryCtxRetain, primary_context_retain, cu_result(cu_context*, cu_device))                               \
  X(cuCtxSetCurrent, context_set_current, cu_result(cu_context))                                                       \
  X(cuCtxGetCurrent, context_get_current, cu_result(cu_context*))                                                      \
  X(cuCtxSynchronize, context_synchronize, cu_result())                                                                \
  X(cuCtxEnablePeerAccess, context_enable_peer_access, cu_result(cu_context peer, unsigned flags))                     \
  X(cuMemGetInfo_v2, memory_get_info, cu_result(std::size_t* free, std::size_t* total))                                \
  X(cuMemAlloc_v2, memory_allocate, cu_result(cu_deviceptr*, std::size_t bytes))                                       \
  X(cuMemFree_v2, memory_free, cu_result(cu_deviceptr))                                                                \
  X(cuMemAllocManaged, memory_allocate_managed, cu_result(cu_deviceptr*, std::size_t bytes, unsigned flags))           \
  X(cuMemAllocFromPoolAsync, memory_allocate_from_pool,                                                                \
    cu_result(cu_deviceptr*, std::size_t bytes, cu_memory_pool, cu_stream))                                            \
  X(cuMemFreeAsync, memory_free_async, cu_result(cu_deviceptr, cu_stream))                                             \
  X(cuDeviceGetMemPool, device_get_memory_pool, cu_result(cu_memory_pool*, cu_device))                                 \
  X(cuDeviceGetDefaultMemPool, device_get_default_memory_pool, cu_result(cu_memory_pool*, cu_device))                  \
  X(cuMemPoolCreate, memory_pool_create, cu_result(cu_memory_pool*, const cu_memory_pool_properties*))                 \
  X(cuMemPoolDestroy, memory_pool_destroy, cu_result(cu_memory_pool))                                                  \
  X(cuMemPoolTrimTo, memory_pool_trim_to, cu_result(cu_memory_pool, std::size_t bytes_to_keep))                        \
  X(cuMemPoolGetAttribute, memory_pool_get_attribute, cu_result(cu_memory_pool, int attribute, void* value))           \
  X(cuMemPoolSetAttribute, memory_pool_set_attribute, cu_result(cu_memory_pool, int attribute, void* value))           \
  X(cuMemHostAlloc, host_allocate, cu_result(void**, std::size_t bytes, unsigned flags))                               \
  X(cuMemFreeHost, host_free, cu_result(void*))                                                                        \
  X(cuPointerGetAttributes, pointer_get_attributes,                                                                    \
    cu_result(unsigned count, int* attributes, void** values, cu_deviceptr))                                           \
  X(cuMemcpyHtoD_v2, copy_to_device, cu_result(cu_deviceptr to, const void* from, std::size_t bytes))                  \
  X(cuMemcpyDtoH_v2, copy_to_host, cu_result(void* to, cu_deviceptr from, std::size_t bytes))                          \
  X(cuMemcpyHtoDAsync_v2, copy_to_device_async,                                                                        \
    cu_result(cu_deviceptr to, const void* from, std::size_t bytes, cu_stream))                                        \
  X(cuMemcpyDtoHAsync_v2, copy_to_host_async, cu_result(void* to, cu_deviceptr from, std::size_t bytes, cu_stream))    \
  X(cuMemcpyDtoDAsync_v2, copy_on_device_async,                                                                        \
    cu_result(cu_deviceptr to, cu_deviceptr from, std::size_t bytes, cu_stream))                                       \
  X(cuMemcpyPeerAsync, copy_peer_async,                                                                                \
    cu_result(cu_deviceptr to, cu_context to_context, cu_deviceptr from, cu_context from_context, std::size_t bytes,   \
              cu_stream))                                                                                              \
  X(cuMemsetD8Async, fill_async, cu_result(cu_deviceptr, unsigned char value, std::size_t bytes, cu_stream))           \
  X(cuStreamCreate, stream_create, cu_result(cu_stream*, unsigned flags))                                              \
  X(cuCtxGetStreamPriorityRange, context_get_stream_priority_range, cu_result(int* least, int* greatest))              \
  X(cuStreamCreateWithPriority, stream_create_with_priority, cu_result(cu_stream*, unsigned flags, int priority))      \
  X(cuStreamGetPriority, stream_get_priority, cu_result(cu_stream, int* priority))                                     \
  X(cuStreamGetFlags, stream_get_flags, cu_result(cu_stream, unsigned* flags))                                         \
  X(cuStreamDestroy_v2, stream_destroy, cu_result(cu_stream))                                                          \
  X(cuStreamQuery, stream_query, cu_result(cu_stream))                                                                 \
  X(cuStreamSynchronize, stream_synchronize, cu_result(cu_stream))                                                     \
  X(cuStreamWaitEvent, stream_wait_event, cu_result(cu_stream, cu_event, unsigned flags))                              \
  X(cuLaunchHostFunc, launch_host_function, cu_result(cu_stream, cu_host_fn, void* context))                           \
  X(cuStreamAddCallback, stream_add_callback, cu_result(cu_stream, cu_stream_callback, void* context, unsigned flags)) \
  X(cuEventCreate, event_create, cu_result(cu_event*, unsigned flags))                                                 \
  X(cuEventDestroy_v2, event_destroy, cu_result(cu_event))                                                             \
  X(cuEventRecord, event_record, cu_result(cu_event, cu_stream))                                                       \
  X(cuEventQuery, event_query, cu_result(cu_event))                                                                    \
  X(cuEventSynchronize, event_synchronize, cu_result(cu_event))                                                        \
  X(cuEventElapsedTime, event_elapsed_time, cu_result(float* milliseconds, cu_event start, cu_event stop))             \
  X(cuModuleLoadData, module_load_data, cu_result(cu_module*, const void* image))                                      \
  X(cuModuleUnload, module_unload, cu_result(cu_module))                                                               \
  X(cuModuleGetFunction, module_get_function, cu_result(cu_function*, cu_module, const char* name))                    \
  X(cuModuleGetGlobal_v2, module_get_global,                                                                           \
    cu_result(cu_deviceptr*, std::size_t* bytes, cu_module, const char* name))                                         \
  X(cuFuncGetAttribute, function_get_attribute, cu_result(int* value, int attribute, cu_function))                     \
  X(cuFuncSetAttribute, function_set_attribute, cu_result(cu_function, int attribute, int value))                      \
  X(cuLaunchKernel, launch_kernel,                                                                                     \
    cu_result(cu_function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,      \
              unsigned block_z, unsigned shared_bytes, cu_stream, void** parameters, void** extra))                    \
  X(cuStreamBeginCapture_v2, stream_begin_capture, cu_result(cu_stream, int mode))                                     \
  X(cuStreamEndCapture, stream_end_capture, cu_result(cu_stream, cu_graph*))                                           \
  X(cuStreamIsCapturing, stream_is_capturing, cu_result(cu_stream, int* status))                                       \
  X(cuGraphInstantiateWithFlags, graph_instantiate, cu_result(cu_graph_exec*, cu_graph, unsigned long long flags))     \
  X(cuGraphLaunch, graph_launch, cu_result(cu_graph_exec, cu_stream))                                                  \
  X(cuGraphExecDestroy, graph_exec_destroy, cu_result(cu_graph_exec))                                                  \
  X(cuGraphDestroy, graph_destroy, cu_result(cu_graph))                                                                \
  X(cuGraphGetNodes, graph_get_nodes, cu_result(cu_graph, cu_graph_node* nodes, std::size_t* count))

// Functions that not every driver has. Without the function, the field is null.
#define CATENA_DRIVER_OPTIONAL_FUNCTIONS(X)                                                       \
  X(cuProfilerStart, profiler_start, cu_result())                                                 \
  X(cuProfilerStop, profiler_stop, cu_result())                                                   \
  X(cuMemPrefetchAsync_v2, memory_prefetch,                                                       \
    cu_result(cu_deviceptr, std::size_t bytes, cu_memory_location to, unsigned flags, cu_stream)) \
  X(cuMemAdvise_v2, memory_advise, cu_result(cu_deviceptr, std::size_t bytes, int advice, cu_memory_location))

// The symbol of each field, used in messages.
struct DriverNames {
#define CATENA_NAME(symbol, field, ...) static constexpr const char* field = #symbol;
  CATENA_DRIVER_FUNCTIONS(CATENA_NAME)
  CATENA_DRIVER_OPTIONAL_FUNCTIONS(CATENA_NAME)
#undef CATENA_NAME
};

}  // namespace nd::cuda::api
