#include <catena/ndarray/device/device.h>
#include <catena/tests/headers/uses/uses.h>

void use_device() {
  const nd::DeviceScope scope(nd::cpu_device);
  REQUIRE(nd::current_device() == nd::cpu_device);
  REQUIRE(nd::properties(nd::cpu_device).processors > 0);
}
