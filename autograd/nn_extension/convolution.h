// Functions for implementations of convolutions. Internal to autograd.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

// Returns the lengths of the axes after the first two.
inline Dims spatial_of(const Shape& shape) {
  return Dims(std::span<const std::int64_t>(shape.data() + 2, std::size_t(shape.size() - 2)));
}
inline Shape image_shape(std::int64_t first, std::int64_t second, const Dims& spatial) {
  Shape shape{first, second};
  for (const std::int64_t n : spatial) shape.push_back(n);
  return shape;
}
// Returns a new array of images: contiguous, or with the channels innermost in memory.
CATENA_EXPORT Array empty_images(const Array& near, const Shape& shape, Dtype dtype, bool channels_last);
// Returns the images inside of padded ones, as a view.
CATENA_EXPORT Array without_padding(const Array& padded, const Dims& spatial, const Dims& pad);

// Returns compute(c), computed in float32 for 16-bit floats.
CATENA_EXPORT Array in_float32(const Convolution& c, Array (*compute)(const Convolution&));

// Computes a convolution on the value API, by im2col and matrix products.
CATENA_EXPORT Array portable_convolution(const Convolution& c);

}  // namespace autograd::internal
