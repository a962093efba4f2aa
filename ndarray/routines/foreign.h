// Arrays over memory that a program has allocated itself.
#pragma once

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/memory/memory.h>

namespace nd {

// An array of that shape: uninitialised, on the current device, or, given a pointer, over its memory, which it keeps
// alive, on the device of the memory. ValueError for a negative length, strides whose number is not the rank, and
// elements that leave the block or are not all aligned for the dtype: a kernel on CUDA that reads one such loses the
// device. TypeError for an order other than C and F.
CATENA_EXPORT Array ndarray(const Shape& shape, Dtype dtype = Dtype::float64, const MemoryPointer& memptr = {},
                            Order order = Order::C);
CATENA_EXPORT Array ndarray(const Shape& shape, Dtype dtype, const MemoryPointer& memptr, const Strides& strides);

}  // namespace nd
