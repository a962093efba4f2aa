// Work that is run again and again with the same arrays: captured once, then replayed at the cost of one launch.
//
//   autograd::CapturedWork step([&] { optimizer.update([&] { return model(x, t); }); });   // runs the step
//   autograd::assign(x.data(), next_batch);  step.replay();                                 // runs it on the new contents of x
//
// On CUDA this is a graph (see ndarray/cuda/graph.h for what it can hold): host code runs once, random numbers go on from their
// generator, and an optimizer's hyperparameters are those of the time of the replay. On other devices replay() calls the function again.
//
// Thread safety: a captured work belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "autograd/array.h"
#include "autograd/backend/device_extension.h"

namespace autograd {

class CATENA_EXPORT CapturedWork {
 public:
  // Runs f once, on the device (the default one without it), whose backend decides what is kept.
  explicit CapturedWork(std::function<void()> f, std::optional<Device> device = {});
  void replay();
  bool is_graph() const noexcept { return recorded_ != nullptr; }

 private:
  std::function<void()> f_;
  std::unique_ptr<DeviceExtension::Recorded> recorded_;
};

// A counter that work to be captured takes from the host, such as the offset of a random generator: `first` itself, or, while capturing, an
// array that every replay fills by refresh().
CATENA_EXPORT Operand live_scalar(Device device, std::uint64_t first, std::function<std::uint64_t()> refresh);

}  // namespace autograd
