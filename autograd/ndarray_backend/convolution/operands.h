// Helpers for the operands of the convolutions in this folder. Internal to this folder.
#pragma once

#include <cstdint>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/nn_extension/convolution.h>

namespace autograd::internal {

inline const float* data_of(const Array& a) { return reinterpret_cast<const float*>(a->data); }
inline const float* data_or_null(const Array& a) { return a ? data_of(a) : nullptr; }
inline float* mutable_data_of(const Array& a) { return reinterpret_cast<float*>(a->data); }

// Return an uninitialized array of float32, and scratch memory of n of them.
inline Array empty_floats(const Array& near, const Shape& shape) {
  return near.backend().empty(shape, Dtype::float32, near.device());
}
inline Array floats(const Array& near, std::int64_t n) { return empty_floats(near, {n}); }

inline Array contiguous_or_none(const Array& a) { return a ? contiguous(a) : a; }
// Returns the sum over the first axis, which stays as an axis of length 1 if it has this length.
inline Array sum_of_images(const Array& a) { return a.shape(0) == 1 ? a : sum(a, 0); }
// Converts (n, channels, h, w) to contiguous (n, h, w, channels); the result shares the memory of x if x is
// channels-last.
inline Array packed(const Array& x) { return contiguous(transpose(x, Dims{0, 2, 3, 1})); }

// Returns the number of pixels of an image: the product of the spatial axes of (n, channels, spatial...).
inline std::int64_t pixels_of(const Shape& shape) { return catena::size_of(spatial_of(shape)); }

inline std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

// One spatial axis of the convolution of x with w and result y.
struct ConvolutionAxis {
  std::int64_t size, out, kernel, stride, dilate, pad;
};
inline ConvolutionAxis axis_of(int i, const Convolution& c) {
  return {c.x_shape[2 + i], c.y_shape[2 + i], c.w_shape[2 + i], c.spec.stride[i], c.spec.dilate[i], c.spec.pad[i]};
}

}  // namespace autograd::internal
