// Streams, as lazy as the rules allow: what is put on one waits in its queue until something needs it, and then only
// that and what it waits for is executed. Work that a correct program does not order therefore happens in an order it
// has not hoped for.
//
// CATENA_SOFTWARE_CUDA_STREAMS=eager executes everything at once, for debugging.
//
// Thread safety: all functions are called under the runtime's lock, which is given up while functions of the host run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <catena/ndarray/cuda/api/driver.h>
#include <catena/tests/support/cuda_device/check.h>
#include <catena/tests/support/cuda_device/shim.h>

struct CUctx_st;
struct CUfunc_st;

namespace cuda_device {

using Lock = std::unique_lock<std::mutex>;
struct Capture;

// What one call puts on a stream, with everything it needs copied. May be executed any number of times: graphs repeat
// it.
struct Operation {
  enum class Kind {
    copy,
    fill,
    kernel,
    library,  // of a library that works on the device
    host,     // a function of the host, which is left out when the context has failed
    callback  // one that is told about that
  };
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  Kind kind;
  unsigned devices = 0;     // whose memory it touches, a bit mask
  std::byte* to = nullptr;  // copy, fill
  const std::byte* from = nullptr;
  std::size_t bytes = 0;
  std::vector<std::byte> staged;  // the source, when it was taken at the call
  unsigned char value = 0;
  CUfunc_st* function = nullptr;  // kernel
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  std::vector<Line> arguments;
  std::vector<void*> parameters;  // point into `arguments`
  const char* name = nullptr;     // library
  std::function<void()> work;
  nd::cuda::api::cu_host_fn host = nullptr;
  nd::cuda::api::cu_stream_callback callback = nullptr;
  void* host_context = nullptr;  // host, callback
};
using OperationPtr = std::shared_ptr<const Operation>;

// A place in a stream: behind its first `position` pieces of work.
struct Mark {
  std::shared_ptr<CUstream_st> stream;
  std::uint64_t position = 0;
  bool reached() const;
};
// The same, and what lies before.
struct Point : Mark {
  Clock clock;
};
struct EventRecord : Point {
  std::chrono::steady_clock::time_point time;  // once it is reached
};

struct Work {
  OperationPtr operation;               // null: nothing is to be done but to wait or to note the time
  std::shared_ptr<EventRecord> record;  // may be null
  std::vector<Mark> waits;
  Clock clock;
  std::uint64_t guard = 0;  // of pinned memory that it will write; 0: none
};

}  // namespace cuda_device

struct CUstream_st {
  CUctx_st* context = nullptr;
  bool legacy = false, blocking = false;
  bool destroyed = false;  // what is queued will still be executed
  bool running = false;    // a function of the host, without the lock
  std::size_t slot = 0;
  std::uint64_t submitted = 0, completed = 0;
  std::deque<cuda_device::Work> queue;
  cuda_device::Clock clock;
  std::shared_ptr<cuda_device::Capture> capture;  // null: not capturing
  std::size_t branch = 0;                         // in the capture
  std::vector<std::size_t> frontier;              // nodes that the next one comes after
};

namespace cuda_device {

using StreamPtr = std::shared_ptr<CUstream_st>;

StreamPtr make_stream(CUctx_st& context, bool blocking, bool legacy = false);
// What is queued will still be executed when something needs it.
void destroy_stream(CUstream_st& stream);

// Puts an operation (null: none) at the end of a stream that is not capturing, behind all of `waits`; between the
// legacy stream and blocking ones the order is as they were called.
void submit(const StreamPtr& stream, OperationPtr operation, Lock& lock, const std::vector<Point>& waits = {},
            std::shared_ptr<EventRecord> record = nullptr);
// The end of a stream as it is now.
Point end_of(const StreamPtr& stream);

// Executes what has to be before a mark is reached.
void execute_until(const Mark& mark, Lock& lock);
// Executes one piece of that.
void execute_some(const Mark& mark, Lock& lock);
// The host waits: it then knows all that lies before.
void wait_for(const Point& point, Lock& lock);
void wait_for_all(CUctx_st& context, Lock& lock);
// The host has learnt that a point is reached.
void learn(const Point& point);

// Called from a function of the host that a stream executes: the driver may not be used there.
bool inside_host_function();

}  // namespace cuda_device
