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

  // Begins a range of the calling thread, nested in those that are open; ends the innermost one. Without a profiler
  // they do nothing.
  virtual void range_push(const std::string& name) = 0;
  virtual void range_pop() = 0;
};

}  // namespace autograd
