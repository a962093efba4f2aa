// Launches plans. Internal to ndarray/cuda.
#pragma once

#include <catena/ndarray/cuda/plans/plan.h>
#include <catena/ndarray/memory/memory_pool.h>

namespace nd::cuda {

// Memory for the duration of a call. It may return to the pool at once, because its next user on the same stream is
// ordered after this call.
class Scratch {
 public:
  Scratch(std::size_t bytes, StreamRef stream)
      : storage_(memory_pool(nd::Device::Kind::cuda).allocate(bytes, stream.device.id, stream.handle)) {}
  ~Scratch() { catena::release(storage_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::byte* data() const noexcept { return storage_ != nullptr ? storage_->data : nullptr; }

 private:
  catena::Storage* storage_;
};

void launch_plan(const LaunchPlan& plan, StreamRef stream);

}  // namespace nd::cuda
