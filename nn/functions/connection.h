// Functions that connect layers.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>

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
  int groups = 1;  // output channel k of m reads input channels [g c / groups, (g + 1) c / groups), g = k groups / m
};
// Cross-correlation: x (n, c, h, w), W (m, c / groups, kh, kw), b (m) or null -> (n, m, oh, ow), oh = (h + 2 pad -
// dilated kh) / stride + 1. InvalidType for other ranks, numbers of channels or dtypes; AssertionError for a window
// larger than the padded image.
CATENA_EXPORT Variable convolution_2d(const Variable& x, const Variable& W, const Variable& b = {},
                                      const ConvolutionOptions& options = {});
// convolution_2d(x, W, b, 2, 1)
template <std::convertible_to<Pair> Stride>
Variable convolution_2d(const Variable& x, const Variable& W, const Variable& b, Stride stride, Pair pad = 0) {
  return convolution_2d(x, W, b, ConvolutionOptions{.stride = stride, .pad = pad});
}

struct DepthwiseConvolutionOptions {
  Pair stride = 1, pad = 0, dilate = 1;
};
// Every channel of x (n, c, h, w) with its own d filters: W (d, c, kh, kw), b (c d) or null -> (n, c d, oh, ow), where
// channel i d + j is that of input channel i and W[j, i]. Errors as for convolution_2d.
CATENA_EXPORT Variable depthwise_convolution_2d(const Variable& x, const Variable& W, const Variable& b = {},
                                                const DepthwiseConvolutionOptions& options = {});
template <std::convertible_to<Pair> Stride>
Variable depthwise_convolution_2d(const Variable& x, const Variable& W, const Variable& b, Stride stride,
                                  Pair pad = 0) {
  return depthwise_convolution_2d(x, W, b, DepthwiseConvolutionOptions{.stride = stride, .pad = pad});
}

struct DeconvolutionOptions {
  Pair stride = 1, pad = 0;
  std::optional<Pair> outsize = {};  // (height, width) of the result
  Pair dilate = 1;
  int groups = 1;
};
// The transposed convolution: x (n, c, h, w), W (c, m / groups, kh, kw), b (m) or null -> (n, m, H, W), H = stride (h -
// 1)
// + dilated kh - 2 pad, or of `outsize`, of which a convolution with this filter must have the size of x (InvalidType).
// InvalidType for other ranks, numbers of channels or dtypes; AssertionError for a size that is not positive.
CATENA_EXPORT Variable deconvolution_2d(const Variable& x, const Variable& W, const Variable& b = {},
                                        const DeconvolutionOptions& options = {});
template <std::convertible_to<Pair> Stride>
Variable deconvolution_2d(const Variable& x, const Variable& W, const Variable& b, Stride stride, Pair pad = 0,
                          std::optional<Pair> outsize = {}) {
  return deconvolution_2d(x, W, b, DeconvolutionOptions{.stride = stride, .pad = pad, .outsize = outsize});
}

// y[i, l] = sum_jk e1[i, j] e2[i, k] W[j, k, l] + e1 V1 + e2 V2 + b, where e1 and e2 are flattened to (I, J) and (I,
// K): W (J, K, L), V1 (J, L), V2 (K, L), b (L) -> (I, L). The last three are given together or not at all (ValueError).
// InvalidType unless the lengths fit and all have one floating dtype.
CATENA_EXPORT Variable bilinear(const Variable& e1, const Variable& e2, const Variable& W, const Variable& V1 = {},
                                const Variable& V2 = {}, const Variable& b = {});

struct EmbedIDOptions {
  std::optional<std::int64_t> ignore_label = {};  // its vectors are 0; it need not be a row of W
  std::optional<std::int64_t> padding_idx = {};   // its row of W gets no gradient
};
// The rows of W (V, d) for integers x (...): (..., d). Gradients of one row are summed, in the order of x. In debug
// mode a ValueError for a number outside of [0, V); otherwise as an index out of range in get_item. InvalidType for
// other ranks and dtypes.
CATENA_EXPORT Variable embed_id(const Variable& x, const Variable& W, const EmbedIDOptions& options = {});
inline Variable embed_id(const Variable& x, const Variable& W, std::int64_t ignore_label) {
  return embed_id(x, W, EmbedIDOptions{.ignore_label = ignore_label});
}

}  // namespace nn
