// Arguments that are arrays, numbers or lists, for implementations.
#pragma once

#include <array>
#include <string_view>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/creation.h>

namespace nd::internal {

// Numbers and lists are copied to the device.
inline Array on_device(const ArrayLike& x, Device device) {
  return x.is_array() ? x.array() : x.array().to_device(device);
}

// The arguments as arrays, numbers and lists on the device of the first array, or on the current device if there is
// none. TypeError for a null array.
template <class... A> std::array<Array, sizeof...(A)> on_one_device(std::string_view op, const A&... arguments) {
  Device device = current_device();
  bool found = false;
  for (const ArrayLike* x : {static_cast<const ArrayLike*>(&arguments)...}) {
    catena::check<TypeError>(!x->array().is_null(), op, "an array is null");
    if (x->is_array() && !found) device = x->array().device();
    found = found || x->is_array();
  }
  return {on_device(arguments, device)...};
}

}  // namespace nd::internal
