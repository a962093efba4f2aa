#include <catena/ndarray/device/stream.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/device/runtime.h>

namespace nd {
namespace {

// The streams of the open StreamScopes of this thread, at most one per device; almost always empty or very short.
thread_local std::vector<StreamRef> chosen;
// The streams of Stream::per_thread, at most one per device. Objects of the program that are destroyed after them get
// the default stream.
thread_local bool has_thread_ended = false;
struct OwnStreams {
  std::vector<Stream> list;
  ~OwnStreams() { has_thread_ended = true; }
};
thread_local OwnStreams own_streams;

bool per_thread_by_default() {
  static const bool wanted = [] {
    const char* value = std::getenv("CATENA_PER_THREAD_DEFAULT_STREAM");
    return value != nullptr && std::string_view(value) == "1";
  }();
  return wanted;
}

void choose(StreamRef stream) {
  for (StreamRef& s : chosen)
    if (s.device == stream.device) {
      s = stream;
      return;
    }
  chosen.push_back(stream);
}

}  // namespace

Stream::Stream(StreamOptions options) {
  ref_.device = current_device();
  if (options.null) return;
  Runtime& b = runtime(ref_.device.kind);
  ref_.handle = b.create_stream(ref_.device.id, options.non_blocking, options.priority);
  owned_ = std::shared_ptr<void>(ref_.handle, [&b, d = ref_.device](void* handle) { b.destroy_stream({d, handle}); });
}

Stream Stream::null_stream(Device device) { return Stream(StreamRef{device, nullptr}); }

Stream Stream::external(void* handle, Device device) {
  if (device.kind == Device::Kind::cuda) {
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    catena::check<catena::ValueError>(
        number != 2, "Stream::external", "the handle 2 (cudaStreamPerThread) is another stream in every thread, so ",
        "that the memory of arrays could not follow it; use Stream::per_thread(), whose handle other libraries take");
    if (number == 1) handle = nullptr;
  }
  return Stream(StreamRef{device, handle});
}

Stream Stream::per_thread(Device device) {
  if (device.kind == Device::Kind::cpu || has_thread_ended) return null_stream(device);
  for (const Stream& s : own_streams.list)
    if (s.device() == device) return s;
  const DeviceScope on(device);
  return own_streams.list.emplace_back(Stream());
}

int Stream::priority() const { return runtime(ref_.device.kind).stream_properties(ref_).priority; }
bool Stream::is_non_blocking() const { return runtime(ref_.device.kind).stream_properties(ref_).non_blocking; }
StreamPriorities stream_priorities(Device device) { return runtime(device.kind).stream_priorities(device.id); }

bool Stream::done() const { return runtime(ref_.device.kind).stream_done(ref_); }
void Stream::synchronize() const { runtime(ref_.device.kind).synchronize(ref_); }

void Stream::add_callback(catena::Function<void(const Stream&, int)> f) const {
  struct Call {
    Stream stream;
    catena::Function<void(const Stream&, int)> f;
  };
  auto call = std::make_unique<Call>(Call{*this, std::move(f)});
  // From here on the backend owns the function object and calls or drops it exactly once.
  runtime(ref_.device.kind)
      .add_callback(
          ref_,
          [](void* p, int status, bool drop) {
            const std::unique_ptr<Call> c(static_cast<Call*>(p));
            if (!drop) c->f(c->stream, status);
          },
          call.release());
}

Event Stream::record() const {
  const DeviceScope scope(ref_.device);
  Event e;
  record(e);
  return e;
}

void Stream::record(const Event& event) const { runtime(ref_.device.kind).record_event(event.ptr(), ref_); }
void Stream::wait_event(const Event& event) const { runtime(ref_.device.kind).wait_event(ref_, event.ptr()); }

Event::Event(EventOptions options) : device_(current_device()), timing_(!options.disable_timing) {
  catena::check<catena::ValueError>(!options.interprocess || options.disable_timing, "Event",
                                    "an interprocess event needs disable_timing");
  Runtime& b = runtime(device_.kind);
  owned_ = std::shared_ptr<void>(b.create_event(device_.id, options),
                                 [&b, id = device_.id](void* e) { b.destroy_event(id, e); });
}

bool Event::done() const { return runtime(device_.kind).event_done(ptr()); }
void Event::record() const { runtime(device_.kind).record_event(ptr(), {device_, nullptr}); }
void Event::synchronize() const { runtime(device_.kind).synchronize_event(ptr()); }

double get_elapsed_time(const Event& start, const Event& stop) {
  catena::check<catena::RuntimeError>(start.timing() && stop.timing(), "get_elapsed_time",
                                      "an event was made with disable_timing");
  catena::check<catena::ValueError>(start.device() == stop.device(), "get_elapsed_time", "the events belong to ",
                                    start.device(), " and ", stop.device());
  return runtime(start.device().kind).elapsed_ms(start.ptr(), stop.ptr());
}

StreamRef current_stream(Device device) {
  for (const StreamRef& s : chosen)
    if (s.device == device) return s;
  if (device.kind != Device::Kind::cpu && per_thread_by_default()) return Stream::per_thread(device).ref();
  return {device, nullptr};
}
StreamRef current_stream() { return current_stream(current_device()); }

StreamScope::StreamScope(const Stream& stream) : stream_(stream), before_(current_stream(stream.device())) {
  choose(stream_.ref());
}
StreamScope::~StreamScope() { choose(before_); }

}  // namespace nd
