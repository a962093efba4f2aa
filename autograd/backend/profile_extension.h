// The interface through which an array library serves profilers: ranges on their timelines, and notice of the
// operations, copies and allocations of a thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <catena/autograd/backend/backend.h>
#include <catena/kernels/base/pointers.h>

namespace autograd {

// Receives what the array library does on a thread. Every function does nothing unless overridden. After a begin, what
// is told before the next end is a part of it. The functions may make arrays, which are not told of.
class CATENA_EXPORT ProfileSink {
 public:
  virtual ~ProfileSink();
  // The name of a kernel ("add", "matmul"); host time: for work on a GPU, the time of its launch.
  virtual void operation_begin(std::string_view name);
  virtual void copy_begin(Device to, Device from, std::size_t bytes);
  virtual void end();
  // A block of memory of `bytes` was given out, or returned; `acquired` bytes for it came from the device and not from
  // the pool (0 if it was a block of the pool).
  virtual void allocated(Device device, std::size_t bytes, std::size_t acquired);
  virtual void freed(Device device, std::size_t bytes);
};

class CATENA_EXPORT ProfileExtension {
 public:
  static constexpr std::string_view kName = "profile";
  virtual ~ProfileExtension();

  // range_push begins a range of the calling thread, nested in the open ranges; range_pop ends the innermost one. Both
  // do nothing without a profiler.
  virtual void range_push(const std::string& name) = 0;
  virtual void range_pop() = 0;

  // While one exists, the sink receives what the thread that made it does. It must end on that thread.
  class CATENA_EXPORT Watch {
   public:
    virtual ~Watch();
  };
  virtual catena::Owned<Watch> watch(ProfileSink& sink) = 0;
};

}  // namespace autograd
