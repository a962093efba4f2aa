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
};

// A stream of the device that is current at construction. Copies share the stream; the last one destroys it.
class CATENA_EXPORT Stream {
 public:
  Stream(StreamOptions options = {});
  static Stream null_stream(Device device = current_device());  // the default stream of that device
  // A stream of another library, given by its handle (cudaStream_t), which the program destroys. It must exist until
  // the arrays that were used on it are gone. On the CPU every handle stands for work that is done.
  static Stream external(void* handle, Device device = current_device());

  StreamRef ref() const noexcept { return ref_; }
  void* ptr() const noexcept { return ref_.handle; }
  Device device() const noexcept { return ref_.device; }
  bool is_null() const noexcept { return ref_.handle == nullptr; }

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
// default stream.
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
