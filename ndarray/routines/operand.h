// Operands as arrays, for implementations.
#pragma once

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/creation.h>

namespace nd::internal {

// A scalar becomes an array of rank 0, in the dtype that it has alone, on `device`.
inline Array as_array(const Operand& x, Device device) {
  if (x.is_array()) return x.array();
  const DeviceScope scope(device);
  return array(x.scalar());
}
// Both on the device of the first array; two scalars on the current device.
inline std::pair<Array, Array> as_arrays(const Operand& x, const Operand& y) {
  const Device device = x.is_array() ? x.header()->device : y.is_array() ? y.header()->device : current_device();
  return {as_array(x, device), as_array(y, device)};
}

}  // namespace nd::internal
