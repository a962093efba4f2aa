// Ranges on the timeline of a profiler.
#pragma once

#include <string>
#include <string_view>

#include <catena/kernels/base/export.h>

namespace autograd {

class CATENA_EXPORT ProfileExtension {
 public:
  static constexpr std::string_view kName = "profile";
  virtual ~ProfileExtension();

  // range_push begins a range of the calling thread, nested in the open ranges; range_pop ends the innermost one. Both
  // do nothing without a profiler.
  virtual void range_push(const std::string& name) = 0;
  virtual void range_pop() = 0;
};

}  // namespace autograd
