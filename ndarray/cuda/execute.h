// From a plan to its launch. Internal to ndarray/cuda.
#pragma once

#include "kernels/device/parameters.h"
#include "ndarray/cuda/kernel_cache.h"
#include "ndarray/cuda/launch.h"
#include "ndarray/cuda/plan.h"
#include "ndarray/device/memory_pool.h"

namespace nd::cuda {

// Memory for the time of a call. Its next user on the same stream comes later by itself, so it may go back to the pool at once.
class Scratch {
 public:
  Scratch(std::size_t bytes, StreamRef stream)
      : storage_(memory_pool(Device::Kind::cuda).allocate(bytes, stream.device.id, stream.handle)) {}
  ~Scratch() { catena::release(storage_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::byte* data() const noexcept { return storage_ != nullptr ? storage_->data : nullptr; }

 private:
  catena::Storage* storage_;
};

// `generate()` gives the text of the plan's kernel when it has not been compiled yet.
template <class Generate> void launch_plan(const LaunchPlan& plan, StreamRef stream, Generate&& generate) {
  if (plan.grid_x == 0) return;
  const Kernel& kernel = find_kernel(stream.device.id, plan.key, generate);
  void* parameters[] = {const_cast<std::byte*>(plan.parameters.data())};
  launch(kernel, {plan.grid_x, plan.grid_y, 1}, {catena::device::kBlock, 1, 1}, 0, parameters, stream);
}

}  // namespace nd::cuda
