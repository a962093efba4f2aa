// Operations of backends whose devices can exchange arrays without the host: sums and copies over a group of devices,
// which belong to one process or to several.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <catena/autograd/backend/backend.h>
#include <catena/kernels/base/function.h>
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

  // One rank of a group whose ranks may be in different processes, with a device of its own. Every rank makes the same
  // calls in the same order, with arrays of the same shape and dtype, else the calls may wait forever. Arrays as above,
  // on the device of the rank; the work is enqueued on its current stream. Thread safety: as for Group.
  class CATENA_EXPORT Rank {
   public:
    virtual ~Rank();
    virtual bool takes(Dtype dtype) const = 0;    // false: a TypeError
    virtual void all_reduce(const Array& a) = 0;  // a = the sum over all ranks; errors of earlier work are thrown
    // Waits until the work of the current stream of the device has ended; calls while_waiting again and again
    // meanwhile. An exception of while_waiting, and an error of the work on this rank or another, end the work and are
    // thrown on; the rank cannot be used any more after that. Not in captured work.
    virtual void wait(const catena::Function<void()>& while_waiting) = 0;
  };
  // The name of a new group, which may have any bytes: one rank makes it and sends it to the others. RuntimeError as
  // above.
  virtual std::string new_group_id();
  // Makes rank `rank` of `size`; returns when all ranks have called this function, and calls while_waiting again and
  // again meanwhile, if the library can do that (NCCL from 2.17 on). NotImplementedError where ranks of several
  // processes are not supported.
  virtual catena::Owned<Rank> join(const std::string& group_id, int size, int rank, Device device,
                                   const catena::Function<void()>& while_waiting);
};

}  // namespace autograd
