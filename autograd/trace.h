// Trace: what a thread computes, as a timeline for the viewers of Chrome and Perfetto.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catena/autograd/backend/profile_extension.h>
#include <catena/autograd/hooks.h>
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
// has another trace; an array library that does not tell of its operations leaves functions and ranges.
//
//   autograd::Trace trace;
//   loss = model(x); loss.backward();
//   std::ofstream("trace.json") << trace.json();    // open it in https://ui.perfetto.dev or chrome://tracing
//
// training::profile_trace writes the file of a function, training::TraceReport that of some iterations of a training.
class CATENA_EXPORT Trace : private FunctionHook, private ProfileSink {
 public:
  explicit Trace(TraceOptions options = {});
  ~Trace() override;
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // A range on the timeline, nested in the open ranges. `category` must outlive the trace.
  void begin_range(std::string name, std::string_view category = "range");
  void end_range();

  // In the Trace Event Format: {"traceEvents": [...]}, times in microseconds since the trace began. Ranges that are
  // open are left out.
  std::string json() const;

 private:
  struct Event {
    std::string name;
    std::string_view category;
    double start, duration;  // microseconds; duration < 0: open
    std::string arguments;   // JSON
  };
  std::string name() const override { return "Trace"; }
  void forward_preprocess(const FunctionNode& function, const Arrays& in_data) override;
  void forward_postprocess(const FunctionNode& function, const Arrays& in_data) override;
  void backward_preprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad) override;
  void backward_postprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad) override;
  void failed(const FunctionNode& function) noexcept override;
  void operation_begin(std::string_view name) override;
  void end() override;
  void copy_begin(Device to, Device from, std::size_t bytes) override;
  void allocated(Device device, std::size_t bytes, std::size_t acquired) override;
  void freed(Device device, std::size_t bytes) override;

  double now() const;
  void open(std::string name, std::string_view category, std::string arguments = {});
  void close(bool wait);
  void count_memory(Device device, std::int64_t change);

  TraceOptions options_;
  std::int64_t began_;  // nanoseconds
  std::vector<Event> events_;
  std::vector<std::size_t> open_;  // indices of open ranges, the innermost one last
  struct MemoryPoint {
    Device device;
    double time;
    std::int64_t bytes;
  };
  std::vector<MemoryPoint> memory_;
  std::vector<std::pair<Device, std::int64_t>> in_use_;  // bytes since the trace began
  HookScope hook_;
  catena::Owned<ProfileExtension::Watch> watch_;
};

}  // namespace autograd
