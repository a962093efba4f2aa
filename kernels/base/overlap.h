// Whether two strided arrays have bytes in common.
#pragma once

#include <cstddef>

#include <catena/kernels/base/shape.h>

namespace catena {

// The elements of an array: the address of the first one, and how the others follow it.
struct StridedBytes {
  const std::byte* data;
  const Shape& shape;
  const Strides& strides;  // in bytes
  std::size_t itemsize;
};

// The number of partial solutions that share_elements() looks at before it gives up.
inline constexpr int kOverlapWork = 4096;

// True if an element of `a` and one of `b` have a byte in common. The arrays must not be empty. Beyond `max_work`
// partial solutions the answer is true: the caller then copies without need, or refuses arrays that are apart.
CATENA_EXPORT bool share_elements(const StridedBytes& a, const StridedBytes& b, int max_work = kOverlapWork) noexcept;

}  // namespace catena
