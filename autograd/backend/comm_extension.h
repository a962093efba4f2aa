// Operations of backends whose devices can exchange arrays without the host: sums and copies over a group of devices.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <catena/autograd/backend/backend.h>
#include <catena/kernels/base/pointers.h>

namespace autograd {

class CATENA_EXPORT CommExtension {
 public:
  static constexpr std::string_view kName = "communication";
  virtual ~CommExtension();

  // Why there is no communication on this machine ("NCCL is unavailable: ..."); empty if there is.
  virtual std::string why_unavailable() const = 0;

  // Devices of this process, one rank each. Every call has one array per device, in the order of the devices: all of
  // one shape and dtype (floating, or integers of 8, 32 or 64 bits), C-contiguous, else ValueError or TypeError. The
  // work is enqueued on the current stream of each device. Thread safety: a group belongs to one thread at a time.
  class CATENA_EXPORT Group {
   public:
    virtual ~Group();
    // arrays[0] += arrays[1] + ...; the others are unchanged. The order of the additions is the library's: of two
    // arrays the sum is exact, of more it may differ from others in rounding, but is the same in every call.
    virtual void reduce(std::span<const Array> arrays) = 0;
    virtual void broadcast(std::span<const Array> arrays) = 0;  // arrays[0] to all others
  };
  // RuntimeError when there is no communication; ValueError for a device that does not exist or is named twice.
  virtual catena::Owned<Group> connect(std::span<const Device> devices) = 0;
};

}  // namespace autograd
