// CUDA graphs: what a function enqueues, kept to be run again at the cost of one launch.
//
//   nd::cuda::Graph step([&] { loss = model(x); ... });    // runs it once
//   nd::copyto(x, next_batch);  step.replay();             // runs the same work on the new contents of x
//
// Only what reaches the device is kept: host code runs once. Arrays made by the function live in memory of the graph's
// own, and every replay writes them again; arrays from outside that were used are kept alive. Values of host scalars
// are those of the first run, but for live_bytes. Whatever has to wait for the device (item(), copies to and from the
// host) cannot be kept: RuntimeError naming it.
//
// Thread safety: a graph belongs to one thread at a time; different threads may record at the same time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include <catena/kernels/base/export.h>
#include <catena/ndarray/device/device.h>

namespace nd::cuda {

class CATENA_EXPORT Graph {
 public:
  // Runs f once; what it enqueues on `device` goes to streams of the graph's own, then all at once to the current
  // stream. An exception of f passes through and nothing has run. ValueError for a device that is not CUDA,
  // RuntimeError while another graph is recorded on this thread, and for what cannot be recorded.
  explicit Graph(const std::function<void()>& f, Device device = current_device());
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  // On the current stream of the device. Values from live_bytes are asked for first.
  void replay();
  std::size_t n_nodes() const noexcept;  // kernels, copies and fills

  struct State;

 private:
  std::unique_ptr<State> state_;
};

// A graph is being recorded on this thread.
CATENA_EXPORT bool is_recording() noexcept;

// While recording: `bytes` bytes in the device's memory that hold `initial` in the first run and what `refresh` writes
// to its argument in every later one. In the order in which they were asked for, before the work. They live as long as
// the graph.
CATENA_EXPORT std::byte* live_bytes(const void* initial, std::size_t bytes, std::function<void(std::byte*)> refresh);

// RuntimeError "<operation>: cannot be recorded in a CUDA graph, <why>" while recording; nothing otherwise.
CATENA_EXPORT void forbid_recording(std::string_view operation, std::string_view why);

}  // namespace nd::cuda
