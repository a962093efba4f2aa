#include <catena/ndarray/cuda/cuda_backend.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/plans/index_errors.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/runtime/staging.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/memory/memory.h>

namespace nd::cuda {
namespace {

api::cu_event event_of(void* event) { return static_cast<api::cu_event>(event); }

// Queries of an event need a current context, of any device, in the calling thread. A thread has none before its first
// call for a device.
void need_context() {
  api::cu_context current = nullptr;
  if (driver().context_get_current(&current) == api::cu_success && current != nullptr) return;
  const Device device = current_device();
  use_device(device.kind == Device::Kind::cuda ? device.id : 0);
}

bool is_pinned(const std::byte* p) { return pointer_info(p).type == api::cu_memory_host; }

// Enqueues a copy by the driver, given the entry point, the number of bytes, the stream and further arguments.
#define CATENA_COPY(field, bytes, stream, ...)                                 \
  enqueue(api::DriverNames::field, stream, {static_cast<std::int64_t>(bytes)}, \
          [&] { CATENA_CU(field, __VA_ARGS__, bytes, stream_of(stream)); })

// Orders later work of `waiting` after all work enqueued on `stream` so far.
void order_after(StreamRef waiting, StreamRef stream) {
  const PooledEvent reached = pooled_event(stream.device.id);
  use_device(stream.device.id);
  CATENA_CU(event_record, reached.get(), stream_of(stream));
  use_device(waiting.device.id);
  CATENA_CU(stream_wait_event, stream_of(waiting), reached.get(), 0);
}

// Enables direct access between two devices, once per ordered pair. Without hardware support, and beyond the maximal
// number of peers of a device, the driver copies through the host. After other failures, the next copy tries again.
void enable_peer_access(int device, int peer) {
  static std::mutex mutex;
  static auto& settled = *new std::set<std::pair<int, int>>;
  const std::lock_guard lock(mutex);
  if (settled.contains({device, peer})) return;
  int can = 0;
  CATENA_CU(device_can_access_peer, &can, device, peer);
  if (can != 0) {
    use_device(device);
    const api::cu_result status = driver().context_enable_peer_access(primary_context(peer), 0);
    if (status == api::cu_error_too_many_peers) return;
    if (status != api::cu_error_peer_access_already_enabled)
      check(status, api::DriverNames::context_enable_peer_access);
  }
  settled.insert({device, peer});
}

void copy_between_devices(std::byte* to, int to_device, const std::byte* from, int from_device, std::size_t bytes,
                          StreamRef stream) {
  enable_peer_access(to_device, from_device);
  enable_peer_access(from_device, to_device);
  // The stream belongs to one of the two devices; the current stream of the other may still write the source or use the
  // memory of the target.
  const int other = stream.device.id == to_device ? from_device : to_device;
  const StreamRef other_stream = current_stream(Device{Device::Kind::cuda, static_cast<std::int16_t>(other)});
  order_after(stream, other_stream);
  use_device(stream.device.id);
  CATENA_COPY(copy_peer_async, bytes, stream, address_of(to), primary_context(to_device), address_of(from),
              primary_context(from_device));
  order_after(other_stream, stream);
}

}  // namespace

CudaBackend::CudaBackend() { static_cast<void>(driver()); }

int CudaBackend::device_count() const noexcept { return driver().device_count; }
const DeviceProperties& CudaBackend::properties(int device) const { return cuda::properties(device); }

// ---- memory -------------------------------------------------------------------------------------
std::byte* CudaBackend::allocate(int device, std::size_t bytes) {
  use_device(device);
  api::cu_deviceptr p = 0;
  const api::cu_result status = driver().memory_allocate(&p, bytes);
  if (status == api::cu_error_out_of_memory) return nullptr;
  check(status, api::DriverNames::memory_allocate);
  return reinterpret_cast<std::byte*>(p);
}

// The status is ignored: an error would be of earlier work, which the next call reports.
void CudaBackend::deallocate(int device, std::byte* data, std::size_t) noexcept {
  if (!is_healthy(device)) return;
  if (driver().context_set_current(primary_context(device)) == api::cu_success) driver().memory_free(address_of(data));
}

MemoryInfo CudaBackend::memory_info(int device) const {
  use_device(device);
  MemoryInfo info;
  CATENA_CU(memory_get_info, &info.free_bytes, &info.total_bytes);
  return info;
}

bool CudaBackend::copy(std::byte* to, Device to_device, const std::byte* from, Device from_device, std::size_t bytes,
                       StreamRef stream) {
  if (bytes == 0) return false;
  const bool to_cuda = to_device.kind == Device::Kind::cuda, from_cuda = from_device.kind == Device::Kind::cuda;
  catena::check<catena::ValueError>(to_cuda || from_cuda, "copy", "the cuda backend cannot copy from ", from_device,
                                    " to ", to_device);
  use_device(stream.device.id);
  if (!to_cuda) forbid_recording("copy to the host", "it would have to wait for the device");
  if (!from_cuda)
    forbid_recording("copy from the host",
                     "replays would see the values of the first run; copy to an array made before");
  if (to_cuda && from_cuda) {
    if (to_device == from_device) CATENA_COPY(copy_on_device_async, bytes, stream, address_of(to), address_of(from));
    else copy_between_devices(to, to_device.id, from, from_device.id, bytes, stream);
  } else if (to_cuda) {
    if (is_pinned(from)) CATENA_COPY(copy_to_device_async, bytes, stream, address_of(to), from);
    else copy_staged(address_of(to), from, bytes, stream);
  } else if (is_pinned(to)) {
    CATENA_COPY(copy_to_host_async, bytes, stream, to, address_of(from));
  } else {
    // The driver waits for a copy to memory that is not pinned. A few bytes, such as a number that the program reads,
    // go through a pinned buffer, so that there is one wait, that for the stream.
    constexpr std::size_t kFew = 4096;
    const MemoryPointer stage = bytes <= kFew ? pinned_memory_pool().malloc(kFew) : MemoryPointer();
    use_device(stream.device.id);  // a new buffer may have been allocated for another device
    std::byte* const target = bytes <= kFew ? stage.ptr() : to;
    CATENA_COPY(copy_to_host_async, bytes, stream, target, address_of(from));
    synchronize(stream);
    if (target != to) std::memcpy(to, target, bytes);
    return true;
  }
  return false;
}

// ---- streams and events -------------------------------------------------------------------------
// Calls that wait also throw the errors that kernels have recorded.
void CudaBackend::synchronize(StreamRef stream) {
  forbid_recording("synchronize", "it would have to wait for the device");
  use_device(stream.device.id);
  CATENA_CU(stream_synchronize, stream_of(stream));
  throw_index_errors();
}

namespace {

// The driver crashes if it gets a stream that was destroyed, and blocks of the pool refer to the streams that used them
// as long as the blocks exist. Streams are therefore never destroyed: a new stream reuses a stream of the same kind
// that was given up and has no work left.
struct Streams {
  struct Stream {
    int device;
    bool non_blocking;
    int priority;
    friend bool operator==(const Stream&, const Stream&) = default;
  };
  std::mutex mutex;
  std::map<void*, Stream> made;
  std::vector<void*> given_up;  // the oldest first
};
Streams& streams() {
  static auto& all = *new Streams;
  return all;
}

// Returns the driver's default stream and the streams of this library.
std::vector<api::cu_stream> streams_of(int device) {
  Streams& s = streams();
  const std::lock_guard lock(s.mutex);
  std::vector<api::cu_stream> all{nullptr};
  for (const auto& [handle, stream] : s.made)
    if (stream.device == device) all.push_back(static_cast<api::cu_stream>(handle));
  return all;
}

void* reused_stream(const Streams::Stream& wanted) {
  Streams& s = streams();
  const std::lock_guard lock(s.mutex);
  const auto found = std::find_if(s.given_up.begin(), s.given_up.end(), [&](void* handle) {
    return s.made[handle] == wanted && driver().stream_query(static_cast<api::cu_stream>(handle)) == api::cu_success;
  });
  if (found == s.given_up.end()) return nullptr;
  void* const handle = *found;
  s.given_up.erase(found);
  return handle;
}

}  // namespace

// Waiting for the whole context is an error for every capture in it, so while other threads capture, this function
// waits for each stream. It then does not wait for streams that were created outside this library.
void CudaBackend::synchronize_device(int device) {
  forbid_recording("synchronize", "it would have to wait for the device");
  use_device(device);
  without_new_captures([&](bool capturing) {
    if (!capturing) return CATENA_CU(context_synchronize);
    for (const api::cu_stream stream : streams_of(device)) {
      int state = api::cu_capture_none;
      if (stream != nullptr) CATENA_CU(stream_is_capturing, stream, &state);
      if (state == api::cu_capture_none) CATENA_CU(stream_synchronize, stream);
    }
  });
  throw_index_errors();
}

StreamPriorities CudaBackend::stream_priorities(int device) const {
  use_device(device);
  StreamPriorities range;
  CATENA_CU(context_get_stream_priority_range, &range.least, &range.greatest);
  return range;
}

StreamProperties CudaBackend::stream_properties(StreamRef stream) const {
  use_device(stream.device.id);
  StreamProperties p;
  unsigned flags = 0;
  CATENA_CU(stream_get_priority, stream_of(stream), &p.priority);
  CATENA_CU(stream_get_flags, stream_of(stream), &flags);
  p.non_blocking = (flags & api::cu_stream_non_blocking) != 0;
  return p;
}

void* CudaBackend::create_stream(int device, bool non_blocking, int priority) {
  use_device(device);
  if (priority != 0) {
    const StreamPriorities range = stream_priorities(device);
    priority = std::clamp(priority, range.greatest, range.least);
  }
  const Streams::Stream wanted{device, non_blocking, priority};
  if (void* const handle = reused_stream(wanted)) return handle;
  api::cu_stream stream = nullptr;
  const unsigned flags = non_blocking ? api::cu_stream_non_blocking : api::cu_stream_default;
  if (priority == 0) CATENA_CU(stream_create, &stream, flags);
  else CATENA_CU(stream_create_with_priority, &stream, flags, priority);
  Streams& s = streams();
  const std::lock_guard lock(s.mutex);
  s.made[stream] = wanted;
  s.given_up.reserve(s.made.size());  // so that giving it up cannot fail
  return stream;
}

void CudaBackend::destroy_stream(StreamRef stream) noexcept {
  Streams& s = streams();
  const std::lock_guard lock(s.mutex);
  s.given_up.push_back(stream.handle);
}

bool CudaBackend::stream_done(StreamRef stream) {
  forbid_recording("stream.done", "it asks for the state of the device");
  use_device(stream.device.id);
  const api::cu_result status = driver().stream_query(stream_of(stream));
  if (status == api::cu_error_not_ready) return false;
  check(status, api::DriverNames::stream_query);
  return true;
}

void* CudaBackend::create_event(int device, const EventOptions& options) {
  use_device(device);
  api::cu_event event = nullptr;
  CATENA_CU(event_create, &event,
            (options.block ? api::cu_event_blocking_sync : 0u) |
                (options.disable_timing ? api::cu_event_disable_timing : 0u) |
                (options.interprocess ? api::cu_event_interprocess : 0u));
  return event;
}

void CudaBackend::destroy_event(int device, void* event) noexcept {
  if (!is_healthy(device)) return;
  if (driver().context_set_current(primary_context(device)) == api::cu_success) driver().event_destroy(event_of(event));
}

void CudaBackend::record_event(void* event, StreamRef stream) {
  use_device(stream.device.id);
  CATENA_CU(event_record, event_of(event), stream_of(stream));
}

void CudaBackend::wait_event(StreamRef stream, void* event) {
  use_device(stream.device.id);
  CATENA_CU(stream_wait_event, stream_of(stream), event_of(event), 0);
}

bool CudaBackend::event_done(void* event) {
  need_context();
  const api::cu_result status = driver().event_query(event_of(event));
  if (status == api::cu_error_not_ready) return false;
  check(status, api::DriverNames::event_query);
  return true;
}

void CudaBackend::synchronize_event(void* event) {
  need_context();
  CATENA_CU(event_synchronize, event_of(event));
  throw_index_errors();
}

double CudaBackend::elapsed_ms(void* start, void* stop) {
  float ms = 0;
  CATENA_CU(event_elapsed_time, &ms, event_of(start), event_of(stop));
  return static_cast<double>(ms);
}

void CudaBackend::add_callback(StreamRef stream, void (*f)(void* context, int status, bool drop), void* context) {
  struct Call {
    void (*f)(void*, int, bool);
    void* context;
  };
  auto* call = new Call{f, context};
  api::cu_result status = api::cu_success;
  try {
    use_device(stream.device.id);
    status = driver().stream_add_callback(
        stream_of(stream),
        [](api::cu_stream, api::cu_result s, void* p) {
          const Call c = *static_cast<Call*>(p);
          delete static_cast<Call*>(p);
          c.f(c.context, s, false);
        },
        call, 0);
    check(status, api::DriverNames::stream_add_callback);
  } catch (...) {
    delete call;
    f(context, status, true);
    throw;
  }
}

}  // namespace nd::cuda
