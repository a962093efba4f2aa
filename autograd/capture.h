// Work that is run again and again with the same arrays: captured once, then replayed at the cost of one launch.
//
//   autograd::CapturedWork step([&] { optimizer.update([&] { return model(x, t); }); });   // runs the step
//   autograd::assign(x.data(), next_batch);  step.replay();                                 // runs it on the new
//   contents of x
//
// On CUDA this is a graph (see ndarray/cuda/runtime/graph.h for what it can hold): host code runs once, random numbers
// go on from their generator, and an optimizer's hyperparameters are those of the time of the replay. On other devices
// replay() calls the function again.
//
// A graph reads and writes the arrays of the capture, also where a parameter has been given another one since. So
// arrays that may be replaced are watched (an optimizer does it for its own and its target's), and a replay that would
// miss the new one is an error. A function that is called again sees what there is: nothing is watched then. Whatever
// is watched must outlive the captured work. What goes on from run to run has to be written into its array: one that
// the function itself replaces is the old one in every replay.
//
// Thread safety: a captured work belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/device_extension.h>

namespace autograd {

class CATENA_EXPORT CapturedWork {
 public:
  // Runs f once, on the device (the default one without it), whose backend decides what is kept.
  explicit CapturedWork(std::function<void()> f, std::optional<Device> device = {});
  ~CapturedWork();
  CapturedWork(CapturedWork&&) noexcept;
  CapturedWork& operator=(CapturedWork&&) noexcept;

  // RuntimeError naming what was replaced since the capture: a watched array, a watched value, the mode train, or,
  // where random numbers are drawn, the generator's seed. Nothing has run then.
  void replay();
  bool try_replay();  // false instead of that error
  bool is_graph() const noexcept { return recorded_ != nullptr; }

  struct Watched;

 private:
  std::function<void()> f_;  // empty for a graph, which does not run it again
  std::unique_ptr<Watched> watched_;
  std::unique_ptr<DeviceExtension::Recorded> recorded_;
};

// Work is being captured on this thread.
CATENA_EXPORT bool is_capturing() noexcept;

// While capturing: every replay asks for the array (null: none), and it must have the memory, shape and dtype that it
// has at the end of the capture. `what` belongs into the sentence "the array of <what> was replaced". Nothing happens
// while nothing is captured.
CATENA_EXPORT void watch_array(std::string what, std::function<Array()> current);
// The same for a number, in the sentence "<what> changed".
CATENA_EXPORT void watch_value(std::string what, std::function<std::uint64_t()> current);

// A counter that work to be captured takes from the host, such as the offset of a random generator: `first` itself, or,
// while capturing, an array that every replay fills by refresh().
CATENA_EXPORT Operand live_scalar(Device device, std::uint64_t first, std::function<std::uint64_t()> refresh);

}  // namespace autograd
