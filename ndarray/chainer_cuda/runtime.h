// The functions of CUDA's run-time interface for programs that work with plain addresses, streams and events.
// (nd::alloc, nd::Stream and nd::Event do not need them.) They call the driver with the primary context of the current
// device (of device 0 if the CPU is current), so memory, streams and events can be exchanged with other libraries.
//
// Addresses are void*; streams and events are the values of Stream::ptr() and Event::ptr(); a null stream is the
// default stream. CudaRuntimeError for a bad status, OutOfMemoryError if memory is short, RuntimeError if CUDA is
// unavailable.
//
// Thread safety: all functions may be called from any thread; the current device belongs to the calling thread.
#pragma once

#include <cstddef>
#include <utility>

#include <catena/kernels/base/export.h>

namespace nd::cuda::runtime {

// ---- devices ----
CATENA_EXPORT int driver_get_version();   // 13000 for 13.0
CATENA_EXPORT int runtime_get_version();  // of the run-time compiler, the part of the toolkit that is used
// The number of the current device, and the number of devices.
CATENA_EXPORT int get_device();
CATENA_EXPORT int get_device_count();
CATENA_EXPORT void set_device(int device);                          // nd::set_current_device
CATENA_EXPORT int device_get_attribute(int attribute, int device);  // CUdevice_attribute: 75, 76 are the capability
CATENA_EXPORT void device_synchronize();                            // waits for all work of the current device
CATENA_EXPORT bool device_can_access_peer(int device, int peer);   // true if kernels of one can use memory of the other
CATENA_EXPORT void device_enable_peer_access(int peer);            // of the current device; more than once is no error
CATENA_EXPORT std::pair<std::size_t, std::size_t> mem_get_info();  // free and total bytes

// ---- memory ----
CATENA_EXPORT void* malloc(std::size_t size);                          // null for 0
CATENA_EXPORT void* host_alloc(std::size_t size, unsigned flags = 0);  // page-locked; flags of nd::PinnedMemory
// Free memory of malloc and of host_alloc; null does nothing.
CATENA_EXPORT void free(void* data);
CATENA_EXPORT void free_host(void* data);

// The direction of a copy.
enum MemcpyKind : int {
  memcpy_host_to_host = 0,
  memcpy_host_to_device = 1,
  memcpy_device_to_host = 2,
  memcpy_device_to_device = 3,
  memcpy_default = 4  // the addresses determine the direction
};
// These are complete when they return.
CATENA_EXPORT void memcpy(void* to, const void* from, std::size_t size, MemcpyKind kind = memcpy_default);
CATENA_EXPORT void memcpy_peer(void* to, int to_device, const void* from, int from_device, std::size_t size);
CATENA_EXPORT void memset(void* data, int value, std::size_t size);
// These are enqueued; host memory should be page-locked.
CATENA_EXPORT void memcpy_async(void* to, const void* from, std::size_t size, MemcpyKind kind, void* stream);
CATENA_EXPORT void memcpy_peer_async(void* to, int to_device, const void* from, int from_device, std::size_t size,
                                     void* stream);
CATENA_EXPORT void memset_async(void* data, int value, std::size_t size, void* stream);

// The properties of an address, as CUDA reports them.
struct PointerAttributes {
  int device = -1;  // -1: host memory that CUDA did not allocate
  const void* device_pointer = nullptr;
  const void* host_pointer = nullptr;
  bool is_device = false;  // memory of a device, not of the host
};
CATENA_EXPORT PointerAttributes pointer_get_attributes(const void* p);

// ---- streams and events ----
// Flags of stream_create_with_flags and of event_create_with_flags.
inline constexpr unsigned stream_default = 0, stream_non_blocking = 1;
inline constexpr unsigned event_default = 0, event_blocking_sync = 1, event_disable_timing = 2, event_interprocess = 4;

// A new stream of the current device; stream_destroy ends it, stream_synchronize waits for its work.
CATENA_EXPORT void* stream_create();
CATENA_EXPORT void* stream_create_with_flags(unsigned flags);
CATENA_EXPORT void stream_destroy(void* stream);
CATENA_EXPORT void stream_synchronize(void* stream);
CATENA_EXPORT bool stream_query(void* stream);  // true if all its work is done
// Calls f on a thread of the driver after the work that the stream has now; f must not call CUDA.
CATENA_EXPORT void stream_add_callback(void* stream, void (*f)(void* stream, int status, void* argument),
                                       void* argument);
CATENA_EXPORT void stream_wait_event(void* stream, void* event);  // later work of the stream waits for the event
// A new event; event_record puts it into a stream, event_synchronize waits for it, event_destroy ends it.
CATENA_EXPORT void* event_create();
CATENA_EXPORT void* event_create_with_flags(unsigned flags);
CATENA_EXPORT void event_destroy(void* event);
CATENA_EXPORT bool event_query(void* event);  // true if it has been reached
CATENA_EXPORT void event_record(void* event, void* stream = nullptr);
CATENA_EXPORT void event_synchronize(void* event);
CATENA_EXPORT float event_elapsed_time(void* start, void* end);  // milliseconds

}  // namespace nd::cuda::runtime
