// The steady clock, which never goes back, as a number.
#pragma once

#include <cstdint>

#include <catena/kernels/base/export.h>

namespace catena::internal {

// Nanoseconds since some moment in the past, which is the same for the whole process.
CATENA_EXPORT std::int64_t steady_nanoseconds() noexcept;
// The same in seconds.
inline double steady_seconds() noexcept { return 1e-9 * static_cast<double>(steady_nanoseconds()); }

}  // namespace catena::internal
