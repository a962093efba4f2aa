#include <catena/ndarray/chainer_cuda/runtime.h>

#include <cstring>
#include <memory>

#include <catena/kernels/base/cuda_error.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/device/device.h>

namespace nd::cuda::runtime {
namespace {

// Errors that destroy the context go to fail(), which remembers them.
void check(api::cu_result status, const char* call) {
  if (status == api::cu_success) [[likely]]
    return;
  try {
    cuda::fail(status, call);
  } catch (const catena::CudaError& e) {
    const char* text = nullptr;
    driver().get_error_string(status, &text);
    throw catena::CudaRuntimeError("CUDA runtime", e.code(), e.symbol(),
                                   catena::concat(call, ": ", text != nullptr ? text : "no description"));
  }
}
// Calls a function of the driver on the current device.
#define CATENA_RUNTIME(field, ...) (use_current(), check(driver().field(__VA_ARGS__), api::DriverNames::field))

int current_ordinal() {
  const nd::Device device = current_device();
  return device.kind == nd::Device::Kind::cuda ? device.id : 0;
}
void use_current() { use_device(current_ordinal()); }

api::cu_stream stream_of(void* stream) { return static_cast<api::cu_stream>(stream); }
api::cu_event event_of(void* event) { return static_cast<api::cu_event>(event); }

MemcpyKind kind_of(const void* to, const void* from) {
  const bool to_device = pointer_get_attributes(to).is_device, from_device = pointer_get_attributes(from).is_device;
  if (to_device) return from_device ? memcpy_device_to_device : memcpy_host_to_device;
  return from_device ? memcpy_device_to_host : memcpy_host_to_host;
}

// True if the requested work is done; the query gives a separate status for "not yet".
bool is_ready(api::cu_result status, const char* call) {
  if (status == api::cu_error_not_ready) return false;
  check(status, call);
  return true;
}

api::cu_context context_of(int device) {
  nd::cuda::properties(device);  // throws for a device that does not exist
  return primary_context(device);
}

}  // namespace

// ---- devices ------------------------------------------------------------------------------------
int driver_get_version() {
  int version = 0;
  CATENA_RUNTIME(get_version, &version);
  return version;
}
int runtime_get_version() { return nvrtc().major_version * 1000 + nvrtc().minor_version * 10; }
int get_device() { return current_ordinal(); }
void set_device(int device) { set_current_device({nd::Device::Kind::cuda, static_cast<std::int16_t>(device)}); }
int get_device_count() { return driver().device_count; }
int device_get_attribute(int attribute, int device) {
  api::cu_device handle = 0;
  int value = 0;
  CATENA_RUNTIME(device_get, &handle, device);
  CATENA_RUNTIME(device_get_attribute, &value, attribute, handle);
  return value;
}
void device_synchronize() { CATENA_RUNTIME(context_synchronize); }
bool device_can_access_peer(int device, int peer) {
  int can = 0;
  CATENA_RUNTIME(device_can_access_peer, &can, device, peer);
  return can != 0;
}
void device_enable_peer_access(int peer) {
  use_current();
  const api::cu_result status = driver().context_enable_peer_access(context_of(peer), 0);
  if (status != api::cu_error_peer_access_already_enabled) check(status, api::DriverNames::context_enable_peer_access);
}
std::pair<std::size_t, std::size_t> mem_get_info() {
  std::size_t free_bytes = 0, total = 0;
  CATENA_RUNTIME(memory_get_info, &free_bytes, &total);
  return {free_bytes, total};
}

// ---- memory -------------------------------------------------------------------------------------
void* malloc(std::size_t size) {
  if (size == 0) return nullptr;
  api::cu_deviceptr address = 0;
  CATENA_RUNTIME(memory_allocate, &address, size);
  return reinterpret_cast<void*>(address);
}
void* host_alloc(std::size_t size, unsigned flags) {
  if (size == 0) return nullptr;
  void* data = nullptr;
  CATENA_RUNTIME(host_allocate, &data, size, flags);
  return data;
}
void free(void* data) {
  if (data != nullptr) CATENA_RUNTIME(memory_free, address_of(data));
}
void free_host(void* data) {
  if (data != nullptr) CATENA_RUNTIME(host_free, data);
}

void memcpy_async(void* to, const void* from, std::size_t size, MemcpyKind kind, void* stream) {
  if (size == 0) return;
  switch (kind == memcpy_default ? kind_of(to, from) : kind) {
    case memcpy_host_to_device:
      CATENA_RUNTIME(copy_to_device_async, address_of(to), from, size, stream_of(stream));
      return;
    case memcpy_device_to_host:
      CATENA_RUNTIME(copy_to_host_async, to, address_of(from), size, stream_of(stream));
      return;
    case memcpy_device_to_device:
      CATENA_RUNTIME(copy_on_device_async, address_of(to), address_of(from), size, stream_of(stream));
      return;
    default: stream_synchronize(stream); std::memmove(to, from, size);
  }
}
void memcpy(void* to, const void* from, std::size_t size, MemcpyKind kind) {
  if (size == 0) return;
  switch (kind == memcpy_default ? kind_of(to, from) : kind) {
    case memcpy_host_to_device: CATENA_RUNTIME(copy_to_device, address_of(to), from, size); return;
    case memcpy_device_to_host: CATENA_RUNTIME(copy_to_host, to, address_of(from), size); return;
    case memcpy_device_to_device:
      memcpy_async(to, from, size, memcpy_device_to_device, nullptr);
      stream_synchronize(nullptr);
      return;
    default: std::memmove(to, from, size);
  }
}
void memcpy_peer_async(void* to, int to_device, const void* from, int from_device, std::size_t size, void* stream) {
  if (size == 0) return;
  CATENA_RUNTIME(copy_peer_async, address_of(to), context_of(to_device), address_of(from), context_of(from_device),
                 size, stream_of(stream));
}
void memcpy_peer(void* to, int to_device, const void* from, int from_device, std::size_t size) {
  memcpy_peer_async(to, to_device, from, from_device, size, nullptr);
  stream_synchronize(nullptr);
}
void memset_async(void* data, int value, std::size_t size, void* stream) {
  if (size == 0) return;
  CATENA_RUNTIME(fill_async, address_of(data), static_cast<unsigned char>(value), size, stream_of(stream));
}
void memset(void* data, int value, std::size_t size) {
  memset_async(data, value, size, nullptr);
  stream_synchronize(nullptr);
}

PointerAttributes pointer_get_attributes(const void* p) {
  use_current();
  const PointerInfo info = pointer_info(p);
  if (info.type == 0) return {-1, nullptr, p, false};
  // Addresses are unified: page-locked memory has one address for the host and all devices.
  const bool on_device = info.type == api::cu_memory_device;
  return {info.device, p, on_device ? nullptr : p, on_device};
}

// ---- streams and events -------------------------------------------------------------------------
void* stream_create() { return stream_create_with_flags(stream_default); }
void* stream_create_with_flags(unsigned flags) {
  api::cu_stream stream = nullptr;
  CATENA_RUNTIME(stream_create, &stream, flags);
  return stream;
}
void stream_destroy(void* stream) { CATENA_RUNTIME(stream_destroy, stream_of(stream)); }
void stream_synchronize(void* stream) { CATENA_RUNTIME(stream_synchronize, stream_of(stream)); }
bool stream_query(void* stream) {
  use_current();
  return is_ready(driver().stream_query(stream_of(stream)), api::DriverNames::stream_query);
}
void stream_add_callback(void* stream, void (*f)(void*, int, void*), void* argument) {
  struct Call {
    void (*f)(void*, int, void*);
    void* argument;
  };
  use_current();
  auto* const call = new Call{f, argument};
  const api::cu_result status = driver().stream_add_callback(
      stream_of(stream),
      [](api::cu_stream s, api::cu_result outcome, void* p) {
        const std::unique_ptr<Call> c(static_cast<Call*>(p));
        c->f(s, outcome, c->argument);
      },
      call, 0);
  if (status == api::cu_success) return;
  delete call;  // the callback was not enqueued, so it is never called
  check(status, api::DriverNames::stream_add_callback);
}
void stream_wait_event(void* stream, void* event) {
  CATENA_RUNTIME(stream_wait_event, stream_of(stream), event_of(event), 0);
}
void* event_create() { return event_create_with_flags(event_default); }
void* event_create_with_flags(unsigned flags) {
  api::cu_event event = nullptr;
  CATENA_RUNTIME(event_create, &event, flags);
  return event;
}
void event_destroy(void* event) { CATENA_RUNTIME(event_destroy, event_of(event)); }
bool event_query(void* event) {
  use_current();
  return is_ready(driver().event_query(event_of(event)), api::DriverNames::event_query);
}
void event_record(void* event, void* stream) { CATENA_RUNTIME(event_record, event_of(event), stream_of(stream)); }
void event_synchronize(void* event) { CATENA_RUNTIME(event_synchronize, event_of(event)); }
float event_elapsed_time(void* start, void* end) {
  float milliseconds = 0;
  CATENA_RUNTIME(event_elapsed_time, &milliseconds, event_of(start), event_of(end));
  return milliseconds;
}

}  // namespace nd::cuda::runtime
