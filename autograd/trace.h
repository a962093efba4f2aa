// Trace: what a thread computes, as a timeline for the viewers of Chrome and Perfetto.
#pragma once

#include <string>
#include <string_view>

#include <catena/kernels/base/export.h>
#include <catena/kernels/base/pointers.h>

namespace autograd {

struct TraceOptions {
  bool kernels = true;  // operations of the array library: kernels and copies
  bool memory = true;   // the bytes that are in use, as curves of the devices
  // Waits for a GPU after every function, kernel and copy, so that the timeline has the times of its work. Without it,
  // the timeline has the times at which the host starts the work, which takes no longer than without a trace. Must be
  // false while a graph is captured.
  bool synchronize = true;
};

// Records, from its construction to its end, what the thread that made it does: forwards and backwards of functions by
// their labels, kernels, copies, memory, and ranges of the program. To be ended on that thread. KeyError if the thread
// has another trace; an array library that reports no operations leaves functions and ranges.
//
//   autograd::Trace trace;
//   loss = model(x); loss.backward();
//   std::ofstream("trace.json") << trace.json();    // open it in https://ui.perfetto.dev or chrome://tracing
//
// training::profile_trace writes the file of a function, training::TraceReport that of some iterations of a training.
class CATENA_EXPORT Trace {
 public:
  explicit Trace(TraceOptions options = {});
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // A range on the timeline, nested in the open ranges. `category` must outlive the trace.
  void begin_range(std::string name, std::string_view category = "range");
  void end_range();

  // In the Trace Event Format: {"traceEvents": [...]}, times in microseconds since the trace began. Ranges that are
  // open are left out.
  std::string json() const;

 private:
  class Recorder;
  catena::Owned<Recorder> recorder_;
};

}  // namespace autograd
