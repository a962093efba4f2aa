// Pooling over windows of (n, c, h, w) images.
#pragma once

#include <optional>

#include <catena/nn/functions/connection.h>

namespace nn {

using autograd::Array;

struct MaxPoolingOptions {
  std::optional<Pair> stride = {};  // default: ksize
  Pair pad = 0;                     // padded with -infinity
  bool cover_all = true;
};
// The gradient goes to the first maximum of a window in row-major order.
CATENA_EXPORT Variable max_pooling_2d(const Variable& x, Pair ksize, const MaxPoolingOptions& options = {});
// max_pooling_2d(x, 3, 2, 1)
template <std::convertible_to<Pair> Stride>
Variable max_pooling_2d(const Variable& x, Pair ksize, Stride stride, Pair pad = 0) {
  return max_pooling_2d(x, ksize, MaxPoolingOptions{.stride = Pair(stride), .pad = pad});
}

// auto [y, indices] = max_pooling_2d(x, 2, {}, return_indices);
struct ReturnIndices {};
inline constexpr ReturnIndices return_indices{};
struct MaxPoolingResult {
  Variable y;
  Array indices;  // int32, of the shape of y: the position ky kw + kx of the maximum in its window, padding included
};
CATENA_EXPORT MaxPoolingResult max_pooling_2d(const Variable& x, Pair ksize, const MaxPoolingOptions& options,
                                              ReturnIndices);

struct AveragePoolingOptions {
  std::optional<Pair> stride = {};  // default: ksize
  Pair pad = 0;                     // zeros that count in the divisor kh kw
};
CATENA_EXPORT Variable average_pooling_2d(const Variable& x, Pair ksize, const AveragePoolingOptions& options = {});
// average_pooling_2d(x, 3, 2, 1)
template <std::convertible_to<Pair> Stride>
Variable average_pooling_2d(const Variable& x, Pair ksize, Stride stride, Pair pad = 0) {
  return average_pooling_2d(x, ksize, AveragePoolingOptions{.stride = Pair(stride), .pad = pad});
}

}  // namespace nn
