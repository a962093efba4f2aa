#include <catena/kernels/base/clock.h>

#include <chrono>

namespace catena {

std::int64_t internal::steady_nanoseconds() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace catena
