// CUDA graphs: the work that a function enqueues, captured so that it can be run again at the cost of one launch.
//
//   nd::cuda::Graph step([&] { loss = model(x); ... });    // runs it once
//   nd::copyto(x, next_batch);  step.replay();             // runs the same work on the new contents of x
//
// Only device work is captured: host code runs once. Arrays created by the function are in memory of the graph and are
// written again by every replay. The graph keeps alive the other arrays that the function uses, and all objects that
// the nodes need: code of kernels given as text, plans and communicators of libraries, generators of cuRAND. Host
// scalars keep the values of the first run, except through live_bytes. Operations that wait for the device (item(),
// copies to and from the host) cannot be captured: RuntimeError with their name.
//
// Thread safety: a graph is used by one thread at a time; different threads may capture at the same time. Other threads
// may do anything meanwhile: reading numbers and nd::synchronize() in them wait only for other streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include <catena/kernels/base/export.h>
#include <catena/ndarray/device/device.h>

namespace nd::cuda {

class CATENA_EXPORT Graph {
 public:
  // Runs f once. Its work on `device` is captured on streams of the graph and then enqueued on the current stream. If f
  // throws, the exception passes through and none of the work runs. ValueError for a device that is not CUDA,
  // RuntimeError while another graph is captured on this thread and for operations that cannot be captured.
  explicit Graph(const std::function<void()>& f, nd::Device device = current_device());
  ~Graph();  // waits for its launches, because it gives back their memory
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  // Runs the work on the current stream of the device, after the values of live_bytes have been refreshed.
  void replay();
  std::size_t n_nodes() const noexcept;  // number of kernels, copies and fills

  struct State;

 private:
  std::unique_ptr<State> state_;
};

// Returns the number of launches of graphs in this process, incremented after the launch is on its stream. Writes of a
// graph do not increment the version of an array; but while this number is unchanged, only writes that are counted in
// versions have changed arrays that graphs use.
CATENA_EXPORT std::uint64_t graph_launches() noexcept;

// True while a graph is captured on this thread.
CATENA_EXPORT bool is_recording() noexcept;

// During a capture of this thread: keeps `object`, which the nodes refer to, alive as long as the graph. Otherwise does
// nothing.
CATENA_EXPORT void keep_in_graph(std::shared_ptr<const void> object);

// Calls f(true) if any thread is capturing, else f(false). No capture begins before f returns.
CATENA_EXPORT void without_new_captures(const std::function<void(bool capturing)>& f);

// During a capture: returns device memory of `bytes` bytes. It contains `initial` in the first run; before every later
// run, `refresh` must write the new content to its argument. These functions are called in the order in which they were
// passed. The memory exists as long as the graph.
CATENA_EXPORT std::byte* live_bytes(const void* initial, std::size_t bytes, std::function<void(std::byte*)> refresh);

// During a capture: RuntimeError "<operation>: cannot be recorded in a CUDA graph, <why>". Otherwise does nothing.
CATENA_EXPORT void forbid_recording(std::string_view operation, std::string_view why);

}  // namespace nd::cuda
