// Arrays over memory that the program has allocated.
#pragma once

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/memory/memory.h>

namespace nd {

// Returns an array of that shape: uninitialised on the current device, or, given a pointer, over its memory, which the
// array keeps alive, on the device of the memory. ValueError for a negative length, if the number of strides is not the
// rank, and for elements outside of the block or not aligned for the dtype: a kernel on CUDA that reads such an element
// makes the device unusable. TypeError for an order other than C and F.
CATENA_EXPORT Array ndarray(const Shape& shape, Dtype dtype = Dtype::float64, const MemoryPointer& memptr = {},
                            OrderLike order = Order::C);
CATENA_EXPORT Array ndarray(const Shape& shape, Dtype dtype, const MemoryPointer& memptr, const Strides& strides);

// Arrays on the CPU in page-locked memory from alloc_pinned_memory, from and to which copies of a GPU need no staging
// and can run beside kernels: uninitialised, of zeros, or with the shape and the dtype of an array. RuntimeError where
// CUDA is unavailable.
CATENA_EXPORT Array empty_pinned(const Shape& shape, Dtype dtype = Dtype::float64, OrderLike order = Order::C);
CATENA_EXPORT Array zeros_pinned(const Shape& shape, Dtype dtype = Dtype::float64, OrderLike order = Order::C);
CATENA_EXPORT Array empty_like_pinned(const Array& a, std::optional<Dtype> dtype = {});
CATENA_EXPORT Array zeros_like_pinned(const Array& a, std::optional<Dtype> dtype = {});

}  // namespace nd
