#include <catena/ndarray/routines/stream_order.h>

#include <catena/ndarray/device/runtime.h>

namespace nd::internal {

namespace {
StreamRef by_handle(StreamRef stream) {
  if (stream.handle == reinterpret_cast<void*>(1)) stream.handle = nullptr;
  return stream;
}
}  // namespace

void order_streams(StreamRef earlier, StreamRef next) {
  earlier = by_handle(earlier);
  next = by_handle(next);
  if (earlier == next || earlier.device.kind == Device::Kind::cpu) return;
  Runtime& r = runtime(earlier.device.kind);
  struct Marker {
    Runtime& r;
    int device;
    void* handle;
    ~Marker() { r.destroy_event(device, handle); }
  } event{r, earlier.device.id, r.create_event(earlier.device.id, {.disable_timing = true})};
  r.record_event(event.handle, earlier);
  r.wait_event(next, event.handle);
}

}  // namespace nd::internal
