// Operations of backends with asynchronous devices: recording and replaying enqueued work.
#pragma once

#include <string_view>

#include <catena/autograd/backend/array.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>

namespace autograd {

class CATENA_EXPORT DeviceExtension {
 public:
  static constexpr std::string_view kName = "device";
  virtual ~DeviceExtension();

  class CATENA_EXPORT Recorded {
   public:
    virtual ~Recorded();
    virtual void replay() = 0;
  };
  // Runs f once and records the work that it enqueues on `device` (a CUDA graph). The RuntimeError names work that
  // cannot be recorded.
  virtual catena::Owned<Recorded> record(Device device, const catena::Function<void()>& f) = 0;
  virtual bool is_recording() const noexcept = 0;  // true if this thread is recording
  // To be called while recording: returns a 0-d uint64 array with the value `first` in this run and refresh() in each
  // replay.
  virtual Array live_scalar(Device device, std::uint64_t first, catena::Function<std::uint64_t()> refresh) = 0;
};

}  // namespace autograd
