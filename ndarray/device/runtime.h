// The resources of a device: memory, streams and events. The first of the two interfaces of a backend (executor.h is
// the second). Implementations throw only because of resources: memory, device, status of a library.
#pragma once

#include <cstddef>

#include <catena/kernels/base/array_header.h>
#include <catena/ndarray/device/types.h>

namespace nd {

class CATENA_EXPORT Runtime {
 public:
  virtual ~Runtime();

  virtual Device::Kind kind() const noexcept = 0;
  virtual int device_count() const noexcept = 0;
  virtual const DeviceProperties& properties(int device) const = 0;

  // Allocates without pooling, aligned to 64 bytes on the host. Returns null if there is not enough memory.
  virtual std::byte* allocate(int device, std::size_t bytes) = 0;
  virtual void deallocate(int device, std::byte* data, std::size_t bytes) noexcept = 0;
  // Memory that grows in place, on devices that support it. grow() returns `bytes` bytes, a multiple of the unit, that
  // begin at `end`. `end` must be the end of an earlier result of grow(), or null for new memory, which is aligned to
  // the unit. Returns null if the memory at `end` is occupied or there is not enough memory. shrink() releases any
  // multiples of the unit, in any order.
  virtual std::size_t growth_unit() const noexcept { return 0; }  // 0: the device has no such memory
  virtual std::byte* grow(int device, std::byte* end, std::size_t bytes);
  virtual void shrink(int device, std::byte* data, std::size_t bytes) noexcept;
  virtual MemoryInfo memory_info(int device) const = 0;
  // Enqueues a copy on `stream`; either side may be host memory (device cpu:0). Waits for the stream, as synchronize()
  // does, only if it writes host memory that is not pinned. Returns true if the copy is complete.
  virtual bool copy(std::byte* to, Device to_device, const std::byte* from, Device from_device, std::size_t bytes,
                    StreamRef stream) = 0;

  virtual void synchronize(StreamRef stream) = 0;  // waits for the work of the stream
  virtual void synchronize_device(int device);     // waits for all streams; by default, for the default stream
  // A priority out of the range of the device is moved to its nearer end.
  virtual void* create_stream(int device, bool non_blocking, int priority) = 0;
  virtual void destroy_stream(StreamRef stream) noexcept = 0;
  virtual bool stream_done(StreamRef stream) = 0;
  virtual StreamPriorities stream_priorities(int device) const;  // by default, 0 is the only one
  virtual StreamProperties stream_properties(StreamRef stream) const;
  virtual void* create_event(int device, const EventOptions& options) = 0;
  virtual void destroy_event(int device, void* event) noexcept = 0;
  virtual void record_event(void* event, StreamRef stream) = 0;
  virtual void wait_event(StreamRef stream, void* event) = 0;
  virtual bool event_done(void* event) = 0;
  virtual void synchronize_event(void* event) = 0;
  virtual double elapsed_ms(void* start, void* stop) = 0;
  // Calls f(context, status, false) on a host thread after all earlier work of the stream; callbacks run in order. f is
  // called exactly once: if the callback cannot be enqueued, f is called with drop = true, and this function throws.
  virtual void add_callback(StreamRef stream, void (*f)(void* context, int status, bool drop), void* context);
};

// Returns the runtime of a kind of device. For CUDA: RuntimeError "CUDA is unavailable: <why>" if it cannot be used.
CATENA_EXPORT Runtime& runtime(Device::Kind kind);

}  // namespace nd
