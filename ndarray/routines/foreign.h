// Arrays over memory that the program has allocated, or that another library describes by the CUDA array interface. See
// also nd::wrap (core/wrap.h) and DLPack (dlpack.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <catena/kernels/base/function.h>
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

// The CUDA array interface, version 3: an array on CUDA as Numba, CuPy and PyTorch describe it
// (__cuda_array_interface__). The description does not keep the memory alive.
struct CudaArrayInterface {
  Shape shape;
  std::string typestr;  // NumPy's: "<f4", "|b1"
  void* data = nullptr;
  bool read_only = false;
  std::optional<Strides> strides = {};  // in bytes; absent: C order
  // The stream on which the elements are computed: 1 is the default stream, others are handles. Absent: the elements
  // are complete.
  std::optional<std::uintptr_t> stream = {};
  int version = 3;
};

// Describes an array on CUDA, with the current stream. The array counts as written. TypeError for an array in host
// memory and for bfloat16, which has no typestr: write a.view(nd::uint16).
CATENA_EXPORT CudaArrayInterface cuda_array_interface(const Array& a);
// Returns an array over memory that is described so; the current stream waits for the work of `stream`. `deleter`,
// which may be empty, is called when the last view is destroyed; if the function throws, it is not called. Read-only
// memory is copied, because every array can be written; the copy waits for the device. ValueError for version 0 and a
// wrong layout, TypeError for a typestr of no dtype and for memory that is not of CUDA.
CATENA_EXPORT Array from_cuda_array_interface(const CudaArrayInterface& description,
                                              catena::Function<void()> deleter = {});

}  // namespace nd
