// The kernels and library functions that a piece of work launches on the software CUDA device.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <catena/ndarray/device/device.h>
#include <catena/tests/support/cuda_device/control.h>

namespace cuda_device {

// Returns the names in the order of the launches; nothing on a device that does not record them.
template <class F> std::vector<std::string> launches_of(F&& f) {
  if (!Control::available()) {
    std::forward<F>(f)();
    return {};
  }
  Control control;
  nd::synchronize();
  control.reset_records();
  std::forward<F>(f)();
  std::vector<std::string> names;
  for (const auto& launch : control.launches()) names.push_back(launch.kernel);
  return names;
}

}  // namespace cuda_device
