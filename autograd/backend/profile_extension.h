// The interface through which an array library serves profilers: ranges on their timelines, and notice of the
// operations, copies and allocations of a thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <catena/autograd/backend/backend.h>
#include <catena/kernels/base/pointers.h>

namespace autograd {

// Called by the array library for its work on a thread. Every function does nothing unless overridden. Calls between a
// begin and its end are for parts of that work. The functions may make arrays, which leads to no further calls. Their
// exceptions leave the operation; after an exception of the operation, end() is called, and its exceptions are dropped.
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

  // While one exists, the sink is called for the work of the thread that made it, beside the sinks of other watches. It
  // must end on that thread, before the watches that were made earlier.
  class CATENA_EXPORT Watch {
   public:
    virtual ~Watch();
  };
  virtual catena::Owned<Watch> watch(ProfileSink& sink) = 0;
};

}  // namespace autograd
