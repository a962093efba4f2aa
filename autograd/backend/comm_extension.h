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

  // Returns the reason if communication is unavailable on this machine ("NCCL is unavailable: ..."); else an empty
  // text.
  virtual std::string why_unavailable() const = 0;

  // A group of devices of this process, one rank each. Every call gets one array per device, in the order of the
  // devices. The arrays must have one shape and dtype (floating, or integers of 8, 32 or 64 bits) and be C-contiguous,
  // else ValueError or TypeError. The work is enqueued on the current stream of each device. Thread safety: a group
  // belongs to one thread at a time.
  class CATENA_EXPORT Group {
   public:
    virtual ~Group();
    // Computes arrays[0] += arrays[1] + ...; the other arrays are unchanged. The library chooses the order of the
    // additions: with two arrays the sum is correctly rounded; with more, its rounding may differ from another order,
    // but is the same in every call.
    virtual void reduce(std::span<const Array> arrays) = 0;
    virtual void broadcast(std::span<const Array> arrays) = 0;  // copies arrays[0] to all others
  };
  // RuntimeError if communication is unavailable; ValueError for a device that does not exist or occurs twice.
  virtual catena::Owned<Group> connect(std::span<const Device> devices) = 0;
};

}  // namespace autograd
