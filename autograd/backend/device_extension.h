// What a backend can do on devices that work by themselves: keep enqueued work and run it again.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <catena/autograd/backend/backend.h>

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
  // Runs f once and keeps what it enqueues on `device` (a CUDA graph). RuntimeError naming what cannot be kept.
  virtual std::unique_ptr<Recorded> record(Device device, const std::function<void()>& f) = 0;
  virtual bool is_recording() const noexcept = 0;  // on this thread
  // While recording: a 0-d uint64 array that holds `first` in this run and refresh() in each later one.
  virtual Array live_scalar(Device device, std::uint64_t first, std::function<std::uint64_t()> refresh) = 0;
};

}  // namespace autograd
