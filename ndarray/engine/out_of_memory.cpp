#include <catena/ndarray/engine/out_of_memory.h>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/ndarray/device/device.h>

namespace nd::internal {

void rethrow_out_of_memory(std::string_view op) { catena::rethrow_standard(op, true); }

void check_host_room(std::string_view op, std::size_t count, std::size_t bytes) {
  const std::size_t free = memory_info(cpu_device).free_bytes;
  std::size_t all = 0;
  const bool fits = !__builtin_mul_overflow(count, bytes, &all) && (free == 0 || all <= free);
  catena::check<catena::OutOfMemoryError>(fits, op, "no memory for ", count, " objects of ", bytes,
                                          " bytes: free on the host ", free);
}

}  // namespace nd::internal
