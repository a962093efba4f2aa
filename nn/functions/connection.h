// Functions that connect layers.
#pragma once

#include <array>
#include <concepts>

#include <catena/autograd/variable.h>

namespace nn {

using autograd::Variable;

// y = X W^T + b, where X is x flattened to (B, N): W (M, N), b (M) or null -> (B, M) in the dtype of x, which b must
// have (InvalidType). The sum is rounded once, bias included.
CATENA_EXPORT Variable linear(const Variable& x, const Variable& W, const Variable& b = {});

// A length for both axes or a pair (vertical, horizontal).
struct Pair {
  int y, x;
  constexpr Pair(int both) : y(both), x(both) {}
  constexpr Pair(int vertical, int horizontal) : y(vertical), x(horizontal) {}
  friend constexpr bool operator==(const Pair&, const Pair&) = default;
};

struct ConvolutionOptions {
  Pair stride = 1, pad = 0, dilate = 1;
  bool cover_all = false;  // the last window may extend beyond the padding, so that every input pixel lies in a window
};
// Cross-correlation: x (n, c, h, w), W (m, c, kh, kw), b (m) or null -> (n, m, oh, ow), oh = (h + 2 pad - dilated kh) /
// stride + 1. InvalidType for other ranks, numbers of channels or dtypes; AssertionError for a window larger than the
// padded image.
CATENA_EXPORT Variable convolution_2d(const Variable& x, const Variable& W, const Variable& b = {},
                                      const ConvolutionOptions& options = {});
// convolution_2d(x, W, b, 2, 1)
template <std::convertible_to<Pair> Stride>
Variable convolution_2d(const Variable& x, const Variable& W, const Variable& b, Stride stride, Pair pad = 0) {
  return convolution_2d(x, W, b, ConvolutionOptions{.stride = stride, .pad = pad});
}

}  // namespace nn
