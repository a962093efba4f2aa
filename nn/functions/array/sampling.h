// Interpolation of images at points. Internal to this library.
#pragma once

#include <catena/autograd/variable.h>

namespace nn::internal {

using autograd::Array;
using autograd::Variable;

// Interpolates images x (B, C, H, W) of float32 or float64. Points are given in pixels: vertical coordinates v and
// horizontal ones u, of one shape S, and `image`, the numbers of their images, int64 that broadcasts to S. Results are
// (S..., C). Pixels outside of x are 0.
class PointSampler {
 public:
  explicit PointSampler(const Variable& x);
  // At a pixel the derivative is that of the cell to the right of it and below.
  Variable linear(const Array& image, const Variable& v, const Variable& u) const;
  // The nearest pixel, halves to the even one; v and u get no gradients.
  Variable nearest(const Array& image, const Variable& v, const Variable& u) const;

 private:
  Variable padded_;  // by a pixel of 0 at each side
  std::int64_t height_, width_;
};

// Returns 0, 1, ..., n - 1 as int64 in the shape (n, 1, ...) with `ones` axes of length 1.
Array numbers_of_images(const Variable& x, int ones);

}  // namespace nn::internal
