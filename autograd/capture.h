// Work that runs repeatedly on the same arrays: captured once, then replayed at the cost of one launch.
//
//   autograd::CapturedWork step([&] { optimizer.update([&] { return model(x, t); }); });  // runs the step once
//   autograd::assign(x.data(), next_batch);                                               // new contents of x
//   step.replay();                                                                        // runs the step on them
//
// On CUDA this is a graph (ndarray/cuda/runtime/graph.h states what it can hold). The host code runs once; each replay
// draws new random numbers from the generator and reads the optimizer's current hyperparameters. On other devices
// replay() calls the function again.
//
// A graph always reads and writes the arrays of the capture, even if a parameter has been given another array since.
// Arrays that may be replaced are therefore watched (an optimizer watches its own arrays and those of its target), and
// a replay after such a replacement is an error. On devices without graphs the function reads the current arrays, so
// nothing is watched. Watched objects must outlive the captured work. State that continues from run to run must be
// written into its array: if the function assigns a new array instead, every replay still reads the old one.
//
// Thread safety: a captured work belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/device_extension.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>

namespace autograd {

class CATENA_EXPORT CapturedWork {
 public:
  // Runs f once on `device` (default: the default device). The backend of the device decides what is recorded.
  explicit CapturedWork(catena::Function<void()> f, std::optional<Device> device = {});
  ~CapturedWork();
  CapturedWork(CapturedWork&&) noexcept;
  CapturedWork& operator=(CapturedWork&&) noexcept;

  // Runs the work again. Throws a RuntimeError and runs nothing if something changed since the capture: a watched
  // array, a watched value, the mode `train`, or, if random numbers are drawn, the seed of the generator.
  void replay();
  bool try_replay();  // returns false instead of throwing that error
  bool is_graph() const noexcept { return recorded_ != nullptr; }

  struct Watched;

 private:
  catena::Function<void()> f_;  // empty for a graph
  catena::Owned<Watched> watched_;
  catena::Owned<DeviceExtension::Recorded> recorded_;
};

// True while this thread captures work.
CATENA_EXPORT bool is_capturing() noexcept;
namespace internal {
CATENA_EXPORT std::uint64_t capture_number() noexcept;  // of the capture that this thread makes; 0: none
}

// While capturing: registers an array that every replay checks. current() returns the array (null: no array); it must
// have the memory, shape and dtype that it had at the end of the capture. `what` is part of the message "the array of
// <what> was replaced". Outside a capture the call has no effect.
CATENA_EXPORT void watch_array(std::string what, catena::Function<Array()> current);
// Like watch_array for a number; the message is "<what> changed".
CATENA_EXPORT void watch_value(std::string what, catena::Function<std::uint64_t()> current);

// Returns a counter that captured work reads from the host, such as the offset of a random generator: `first` itself,
// or, while capturing, an array that every replay sets to refresh().
CATENA_EXPORT Operand live_scalar(Device device, std::uint64_t first, catena::Function<std::uint64_t()> refresh);

}  // namespace autograd
