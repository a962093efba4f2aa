// The creation functions of Chainer's module `cuda`: on the current CUDA device (device 0 if the CPU is current), with
// float32 as the default dtype, unlike nd::zeros and similar functions. Deprecated: every function warns. RuntimeError
// if CUDA is unavailable.
#pragma once

#include <catena/kernels/base/scalar.h>
#include <catena/ndarray/core/array.h>

namespace nd::cuda {

// New arrays of a shape; the elements of `empty` are arbitrary.
CATENA_EXPORT Array empty(const Shape& shape, Dtype dtype = float32);
CATENA_EXPORT Array zeros(const Shape& shape, Dtype dtype = float32);
CATENA_EXPORT Array ones(const Shape& shape, Dtype dtype = float32);
CATENA_EXPORT Array full(const Shape& shape, const Scalar& fill_value, Dtype dtype = float32);
// These have the shape and dtype of an array on any device.
CATENA_EXPORT Array empty_like(const Array& array);
CATENA_EXPORT Array zeros_like(const Array& array);
CATENA_EXPORT Array ones_like(const Array& array);
CATENA_EXPORT Array full_like(const Array& array, const Scalar& fill_value);

}  // namespace nd::cuda
