// Streams and events. On the CPU, work is complete when a call returns, so its streams are always done and events only
// record times.
//
// Thread safety: the current stream belongs to the calling thread. Using one Stream or Event object from two threads at
// once needs a lock; using copies of its ref() does not.
#pragma once

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/types.h>

namespace nd {

class Event;

struct StreamOptions {
  bool null = false;          // the default stream of the device
  bool non_blocking = false;  // not implicitly ordered with the default stream
  int priority = 0;           // smaller is more urgent; moved into stream_priorities(), as CUDA does
};

// A stream of the device that is current at construction. Copies share the stream; the last one destroys it.
class CATENA_EXPORT Stream {
 public:
  Stream(StreamOptions options = {});
  static Stream null_stream(Device device = current_device());  // the default stream of that device
  // The stream of this thread on that device, made at the first call: the counterpart of CUDA's per-thread default
  // stream and of CuPy's Stream.ptds. It is implicitly ordered with the default stream and with no other thread's
  // work. With $CATENA_PER_THREAD_DEFAULT_STREAM=1 it is the current stream of a thread until a StreamScope names
  // another one. Its handle is that of an ordinary stream, which other threads may use, too. On the CPU it is the
  // default stream.
  static Stream per_thread(Device device = current_device());
  // A stream of another library, given by its handle (cudaStream_t), which the program destroys. It must exist until
  // the arrays that were used on it are gone. On the CPU every handle stands for work that is done. cudaStreamLegacy
  // (1) is the default stream. ValueError for cudaStreamPerThread (2): it is another stream in every thread, but arrays
  // pass from thread to thread; use per_thread().
  static Stream external(void* handle, Device device = current_device());

  StreamRef ref() const noexcept { return ref_; }
  void* ptr() const noexcept { return ref_.handle; }
  Device device() const noexcept { return ref_.device; }
  bool is_null() const noexcept { return ref_.handle == nullptr; }
  int priority() const;  // on the CPU: 0
  bool is_non_blocking() const;

  bool done() const;  // true if all work has finished; does not block
  void synchronize() const;
  // Calls f(stream, status) on a host thread after all earlier work of the stream; callbacks of a stream run in order.
  // f must not call CUDA.
  void add_callback(catena::Function<void(const Stream&, int)> f) const;
  Event record() const;
  void record(const Event& event) const;
  void wait_event(const Event& event) const;

  friend bool operator==(const Stream& a, const Stream& b) noexcept { return a.ref_ == b.ref_; }

 private:
  explicit Stream(StreamRef ref) : ref_(ref) {}
  StreamRef ref_;
  catena::Shared<void> owned_;
};

// Stream::external, by CuPy's name.
inline Stream ExternalStream(void* handle, Device device = current_device()) {
  return Stream::external(handle, device);
}

// Returns the priorities that streams of a device can have.
CATENA_EXPORT StreamPriorities stream_priorities(Device device = current_device());

// An event: a point in the work of a stream.
class CATENA_EXPORT Event {
 public:
  Event(EventOptions options = {});

  void* ptr() const noexcept { return owned_.get(); }
  Device device() const noexcept { return device_; }
  bool timing() const noexcept { return timing_; }
  bool done() const;
  void record() const;  // on the default stream of its device
  void record(const Stream& stream) const { stream.record(*this); }
  void synchronize() const;

 private:
  Device device_;
  bool timing_;
  catena::Shared<void> owned_;
};

// Returns the milliseconds between two events. RuntimeError (CudaError on CUDA) if one of them has no timing or was not
// recorded.
CATENA_EXPORT double get_elapsed_time(const Event& start, const Event& stop);

// Returns the stream that operations of this thread use on a device: the stream of the innermost StreamScope, else the
// default stream (with $CATENA_PER_THREAD_DEFAULT_STREAM=1, Stream::per_thread).
CATENA_EXPORT StreamRef current_stream(Device device);
CATENA_EXPORT StreamRef current_stream();  // of the current device

// Makes a stream the current stream of its device until the end of the scope.
class CATENA_EXPORT StreamScope {
 public:
  explicit StreamScope(const Stream& stream);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  Stream stream_;  // keeps the stream alive
  StreamRef before_;
};

}  // namespace nd

// Equal streams have equal hashes, so that streams are keys of std::unordered_map.
template <> struct std::hash<nd::Stream> {
  std::size_t operator()(const nd::Stream& s) const noexcept {
    return std::hash<void*>()(s.ptr()) ^ static_cast<std::size_t>(s.device().id);
  }
};
