// Determines whether two strided arrays have bytes in common.
#pragma once

#include <cstddef>

#include <catena/kernels/base/shape.h>

namespace catena {

// The elements of an array: the address of the first one, and their layout.
struct StridedBytes {
  const std::byte* data;
  const Shape& shape;
  const Strides& strides;  // in bytes
  std::size_t itemsize;
};

// Number of partial solutions that share_elements() examines before it gives up.
inline constexpr int kOverlapWork = 4096;

// True if an element of `a` and one of `b` have a byte in common. The arrays must not be empty. Returns true if more
// than `max_work` partial solutions would have to be examined; the caller then copies unnecessarily, or refuses
// disjoint arrays.
CATENA_EXPORT bool share_elements(const StridedBytes& a, const StridedBytes& b, int max_work = kOverlapWork) noexcept;

}  // namespace catena
