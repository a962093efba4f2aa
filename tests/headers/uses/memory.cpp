#include <catena/ndarray/memory/memory.h>
#include <catena/tests/headers/uses/uses.h>

void use_memory() {
  const nd::DeviceScope scope(nd::cpu_device);
  const nd::MemoryPointer p = nd::alloc(64);
  p.memset(3, 64);
  unsigned char bytes[64];
  p.copy_to_host(bytes, 64);
  REQUIRE(bytes[0] == 3 && bytes[63] == 3);
  bool dropped = false;
  {
    const nd::MemoryPointer q(nd::wrap_storage(bytes, 64, nd::cpu_device, [&dropped] { dropped = true; }));
  }
  REQUIRE(dropped);
}
