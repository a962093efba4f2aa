// Streams with lazy execution: submitted work stays in its queue until a call needs it, and then only this work and its
// dependencies are executed. Work that a program does not order therefore runs in an unexpected order.
//
// CATENA_SOFTWARE_CUDA_STREAMS=eager executes work at once unless it waits for other ranks, for debugging.
//
// Thread safety: all functions are called under the runtime's lock, which is released while host functions run.
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

// The work that a call submits to a stream, with copies of all its data. Graphs may execute it repeatedly.
struct Operation {
  enum class Kind {
    copy,
    fill,
    kernel,
    library,   // of a library, on the device
    host,      // a host function; skipped if the context has failed
    callback,  // a host function that gets the status
    release    // frees the memory at `to`, of a pool
  };
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  Kind kind;
  unsigned devices = 0;     // bit mask of the devices whose memory it accesses
  std::byte* to = nullptr;  // copy, fill
  const std::byte* from = nullptr;
  std::size_t bytes = 0;
  std::vector<std::byte> staged;  // the source, if the call copied it
  unsigned char value = 0;
  CUfunc_st* function = nullptr;  // kernel
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  std::vector<Line> arguments;
  std::vector<void*> parameters;  // pointers into `arguments`
  const char* name = nullptr;     // library
  std::function<void()> work;
  // library: work that needs other ranks goes on after `work` once `ready` has returned true, with `finish`.
  std::function<bool()> ready = {};
  std::function<void()> finish = {};
  nd::cuda::api::cu_host_fn host = nullptr;
  nd::cuda::api::cu_stream_callback callback = nullptr;
  void* host_context = nullptr;  // host, callback
};
using OperationPtr = std::shared_ptr<const Operation>;

// A position in a stream: after its first `position` items.
struct Mark {
  std::shared_ptr<CUstream_st> stream;
  std::uint64_t position = 0;
  bool reached() const;
};
// A mark with the clock at that position.
struct Point : Mark {
  Clock clock;
};
struct EventRecord : Point {
  std::chrono::steady_clock::time_point time;  // set when it is reached
};

struct Work {
  OperationPtr operation;               // null: a wait or a time stamp only
  std::shared_ptr<EventRecord> record;  // may be null
  std::vector<Mark> waits;
  Clock clock;
  std::uint64_t guard = 0;  // number of the guard of the pinned memory that it writes; 0: none
  bool begun = false;       // the operation has done its part and waits for other ranks
};

}  // namespace cuda_device

struct CUstream_st {
  CUctx_st* context = nullptr;
  bool legacy = false, blocking = false;
  int priority = 0;
  bool destroyed = false;  // queued work is still executed
  bool running = false;    // a host function runs, without the lock
  std::size_t slot = 0;
  std::uint64_t submitted = 0, completed = 0;
  std::deque<cuda_device::Work> queue;
  cuda_device::Clock clock;
  std::shared_ptr<cuda_device::Capture> capture;  // null: not capturing
  std::size_t branch = 0;                         // in the capture
  std::vector<std::size_t> frontier;              // nodes that precede the next one
};

namespace cuda_device {

using StreamPtr = std::shared_ptr<CUstream_st>;

StreamPtr make_stream(CUctx_st& context, bool blocking, bool legacy = false);
// Queued work is still executed when needed.
void destroy_stream(CUstream_st& stream);

// Appends an operation (null: none) to a stream that is not capturing, after all of `waits`. Between the legacy stream
// and blocking streams the order is that of the calls.
void submit(const StreamPtr& stream, OperationPtr operation, Lock& lock, const std::vector<Point>& waits = {},
            std::shared_ptr<EventRecord> record = nullptr);
// The current end of a stream.
Point end_of(const StreamPtr& stream);

// Executes the work that must precede a mark.
void execute_until(const Mark& mark, Lock& lock);
// Executes one item of the work that must precede a mark, unless the item waits for other ranks or another thread.
void execute_some(const Mark& mark, Lock& lock);
// Makes the host wait for a point; all work before the point is then known to the host.
void wait_for(const Point& point, Lock& lock);
void wait_for_all(CUctx_st& context, Lock& lock);
// Records that the host has seen a point reached.
void learn(const Point& point);

// True if the call comes from a host function of a stream, where the driver may not be used.
bool inside_host_function();

}  // namespace cuda_device
