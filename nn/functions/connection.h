// Functions that connect layers.
#pragma once

#include <cstdint>
#include <optional>

#include <catena/autograd/variable.h>
#include <catena/nn/functions/lengths.h>

namespace nn {

using autograd::Variable;

// y = X W^T + b, where X is x flattened to (B, N): W (M, N), b (M) or null -> (B, M) in the dtype of x. The first
// n_batch_axes axes of x are kept and the others flattened, so that x (B1, B2, ..., Bn, N1, ...) gives (B1, B2, ...,
// Bn, M); a negative number counts from the end: -1 maps the last axis, as PyTorch does. Without it, one axis is kept.
// InvalidType unless b has the dtype of x; ValueError for an n_batch_axes outside [1, x.ndim()). The sum is rounded
// once, bias included.
CATENA_EXPORT Variable linear(const Variable& x, const Variable& W, const Variable& b = {},
                              std::optional<int> n_batch_axes = {});

// Options of all convolutions and transposed convolutions for the computation of the products; they also apply to the
// derivatives. The defaults are those of the thread's configuration (autograd::using_config).
//   deterministic  only algorithms of cuDNN with a fixed order of summation; other implementations always have one
//   use_cudnn      false: the library's own kernels compute arrays on CUDA
struct ConvolutionOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair stride = 1, pad = 0, dilate = 1;
  // The last window may extend beyond the padding, so that every input pixel is in a window.
  bool cover_all = false;
  // Output channel k of m reads input channels [g c / groups, (g + 1) c / groups), where g = k groups / m.
  int groups = 1;
  std::optional<bool> deterministic = {}, use_cudnn = {};
};
// Cross-correlation: x (n, c, h, w), W (m, c / groups, kh, kw), b (m) or null -> (n, m, oh, ow), oh = (h + 2 pad -
// dilated kh) / stride + 1. InvalidType for other ranks, numbers of channels or dtypes; AssertionError for a window
// larger than the padded image; ValueError for strides, dilations and groups below 1 and for negative pads.
CATENA_EXPORT Variable convolution_2d(const Variable& x, const Variable& W, const Variable& b = {},
                                      const ConvolutionOptions& options = {});
// Without a bias: convolution_2d(x, W, {.stride = 2}).
template <std::same_as<ConvolutionOptions> O = ConvolutionOptions>
Variable convolution_2d(const Variable& x, const Variable& W, const O& options) {
  return convolution_2d(x, W, Variable(), options);
}
// convolution_2d(x, W, b, 2, 1), convolution_2d(x, W, b, 2, 1, {.groups = 2})
inline Variable convolution_2d(const Variable& x, const Variable& W, const Variable& b, Pair stride, Pair pad = 0,
                               const ConvolutionOptions& more = {}) {
  return convolution_2d(x, W, b, internal::placed(more, stride, pad));
}
// convolution_2d with filters whose taps are `dilate` pixels apart: dilated_convolution_2d(x, W, b, 1, 2, 2).
CATENA_EXPORT Variable dilated_convolution_2d(const Variable& x, const Variable& W, const Variable& b = {},
                                              const ConvolutionOptions& options = {});
inline Variable dilated_convolution_2d(const Variable& x, const Variable& W, const Variable& b, Pair stride,
                                       Pair pad = 0, Pair dilate = 1) {
  return dilated_convolution_2d(x, W, b, ConvolutionOptions{.stride = stride, .pad = pad, .dilate = dilate});
}

struct ConvolutionNdOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Lengths stride = 1, pad = 0, dilate = 1;
  bool cover_all = false;
  int groups = 1;
  std::optional<bool> deterministic = {}, use_cudnn = {};
};
// convolution_2d over any number of spatial axes, at least one: x (n, c, d1, ..., dN), W (m, c / groups, k1, ..., kN).
// AssertionError for options that have neither one length nor N; other errors as for convolution_2d.
CATENA_EXPORT Variable convolution_nd(const Variable& x, const Variable& W, const Variable& b = {},
                                      const ConvolutionNdOptions& options = {});
// convolution_nd(x, W, b, 2), convolution_nd(x, W, b, {2, 1, 1}, 1)
inline Variable convolution_nd(const Variable& x, const Variable& W, const Variable& b, const Lengths& stride,
                               const Lengths& pad = 0, const ConvolutionNdOptions& more = {}) {
  return convolution_nd(x, W, b, internal::placed(more, stride, pad));
}

// convolution_nd of x with one and with three spatial axes, (n, c, w) and (n, c, d, h, w); InvalidType for other ranks.
CATENA_EXPORT Variable convolution_1d(const Variable& x, const Variable& W, const Variable& b = {},
                                      const ConvolutionNdOptions& options = {});
CATENA_EXPORT Variable convolution_3d(const Variable& x, const Variable& W, const Variable& b = {},
                                      const ConvolutionNdOptions& options = {});
// convolution_1d(x, W, b, 2, 1), convolution_3d(x, W, b, {2, 1, 1}, 1)
inline Variable convolution_1d(const Variable& x, const Variable& W, const Variable& b, const Lengths& stride,
                               const Lengths& pad = 0, const ConvolutionNdOptions& more = {}) {
  return convolution_1d(x, W, b, internal::placed(more, stride, pad));
}
inline Variable convolution_3d(const Variable& x, const Variable& W, const Variable& b, const Lengths& stride,
                               const Lengths& pad = 0, const ConvolutionNdOptions& more = {}) {
  return convolution_3d(x, W, b, internal::placed(more, stride, pad));
}

struct DepthwiseConvolutionOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair stride = 1, pad = 0, dilate = 1;
};
// Applies d filters to each channel of x (n, c, h, w): W (d, c, kh, kw), b (c d) or null -> (n, c d, oh, ow). Output
// channel i d + j belongs to input channel i and W[j, i]. Errors as for convolution_2d: ValueError for strides and
// dilations below 1 and for negative pads.
CATENA_EXPORT Variable depthwise_convolution_2d(const Variable& x, const Variable& W, const Variable& b = {},
                                                const DepthwiseConvolutionOptions& options = {});
inline Variable depthwise_convolution_2d(const Variable& x, const Variable& W, const Variable& b, Pair stride,
                                         Pair pad = 0, const DepthwiseConvolutionOptions& more = {}) {
  return depthwise_convolution_2d(x, W, b, internal::placed(more, stride, pad));
}

struct DeconvolutionOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair stride = 1, pad = 0;
  OptionalPair outsize = {};  // (height, width) of the result
  Pair dilate = 1;
  int groups = 1;
  std::optional<bool> deterministic = {}, use_cudnn = {};
};
// The transposed convolution: x (n, c, h, w), W (c, m / groups, kh, kw), b (m) or null -> (n, m, H, W). H = stride (h -
// 1) + dilated kh - 2 pad, or the height in `outsize`; InvalidType unless a convolution of that size with this filter
// gives the size of x. InvalidType for other ranks, numbers of channels or dtypes; AssertionError for a size that is
// not positive; ValueError for strides, dilations and groups below 1 and for negative pads.
CATENA_EXPORT Variable deconvolution_2d(const Variable& x, const Variable& W, const Variable& b = {},
                                        const DeconvolutionOptions& options = {});
// Without a bias: deconvolution_2d(x, W, {.stride = 2}).
template <std::same_as<DeconvolutionOptions> O = DeconvolutionOptions>
Variable deconvolution_2d(const Variable& x, const Variable& W, const O& options) {
  return deconvolution_2d(x, W, Variable(), options);
}
inline Variable deconvolution_2d(const Variable& x, const Variable& W, const Variable& b, Pair stride, Pair pad = 0,
                                 const DeconvolutionOptions& more = {}) {
  return deconvolution_2d(x, W, b, internal::placed(more, stride, pad));
}
inline Variable deconvolution_2d(const Variable& x, const Variable& W, const Variable& b, Pair stride, Pair pad,
                                 Pair outsize) {
  return deconvolution_2d(x, W, b, DeconvolutionOptions{.stride = stride, .pad = pad, .outsize = outsize});
}

struct DeconvolutionNdOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Lengths stride = 1, pad = 0;
  std::optional<Lengths> outsize = {};
  Lengths dilate = 1;
  int groups = 1;
  std::optional<bool> deterministic = {}, use_cudnn = {};
};
// deconvolution_2d over any number of spatial axes. AssertionError for options that have neither one length nor one per
// spatial axis; other errors as for deconvolution_2d.
CATENA_EXPORT Variable deconvolution_nd(const Variable& x, const Variable& W, const Variable& b = {},
                                        const DeconvolutionNdOptions& options = {});
// deconvolution_nd(x, W, b, 2), deconvolution_nd(x, W, b, {2, 1, 1}, 1)
inline Variable deconvolution_nd(const Variable& x, const Variable& W, const Variable& b, const Lengths& stride,
                                 const Lengths& pad = 0, const DeconvolutionNdOptions& more = {}) {
  return deconvolution_nd(x, W, b, internal::placed(more, stride, pad));
}
inline Variable deconvolution_nd(const Variable& x, const Variable& W, const Variable& b, const Lengths& stride,
                                 const Lengths& pad, const Lengths& outsize) {
  return deconvolution_nd(x, W, b, DeconvolutionNdOptions{.stride = stride, .pad = pad, .outsize = outsize});
}

// deconvolution_nd of x with one and with three spatial axes; InvalidType for other ranks.
CATENA_EXPORT Variable deconvolution_1d(const Variable& x, const Variable& W, const Variable& b = {},
                                        const DeconvolutionNdOptions& options = {});
CATENA_EXPORT Variable deconvolution_3d(const Variable& x, const Variable& W, const Variable& b = {},
                                        const DeconvolutionNdOptions& options = {});
inline Variable deconvolution_1d(const Variable& x, const Variable& W, const Variable& b, const Lengths& stride,
                                 const Lengths& pad = 0, const DeconvolutionNdOptions& more = {}) {
  return deconvolution_1d(x, W, b, internal::placed(more, stride, pad));
}
inline Variable deconvolution_3d(const Variable& x, const Variable& W, const Variable& b, const Lengths& stride,
                                 const Lengths& pad = 0, const DeconvolutionNdOptions& more = {}) {
  return deconvolution_3d(x, W, b, internal::placed(more, stride, pad));
}

struct LocalConvolutionOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair stride = 1;
};
// A convolution whose filters differ from position to position: x (n, c, h, w), W (m, oh, ow, c, kh, kw), b (m, oh, ow)
// or null -> (n, m, oh, ow), oh = (h - kh) / stride + 1. InvalidType for other shapes and unequal dtypes; ValueError
// for strides below 1.
CATENA_EXPORT Variable local_convolution_2d(const Variable& x, const Variable& W, const Variable& b = {},
                                            const LocalConvolutionOptions& options = {});

struct DeformableConvolutionOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair stride = 1, pad = 0;
};
// A convolution whose taps are moved (Dai et al., 2017), as Chainer's deformable_convolution_2d_sampler: x (n, c, h,
// w), offset (n, 2 kh kw, oh, ow), W (m, c, kh, kw), b (m) or null -> (n, m, oh, ow). Channel k of the offset moves tap
// k = ky kw + kx horizontally and channel kh kw + k vertically, in pixels; values between pixels are interpolated, and
// those outside the image are 0. Gradients of all inputs; InvalidType for other shapes and unequal dtypes.
CATENA_EXPORT Variable deformable_convolution_2d_sampler(const Variable& x, const Variable& offset, const Variable& W,
                                                         const Variable& b = {},
                                                         const DeformableConvolutionOptions& options = {});

// y[i, l] = sum_jk e1[i, j] e2[i, k] W[j, k, l] + e1 V1 + e2 V2 + b, where e1 and e2 are flattened to (I, J) and (I,
// K): W (J, K, L), V1 (J, L), V2 (K, L), b (L) -> (I, L). V1, V2 and b must be given together or not at all
// (ValueError). InvalidType unless the lengths fit and all have one floating dtype.
CATENA_EXPORT Variable bilinear(const Variable& e1, const Variable& e2, const Variable& W, const Variable& V1 = {},
                                const Variable& V2 = {}, const Variable& b = {});

struct EmbedIDOptions {
  std::optional<std::int64_t> ignore_label = {};  // the result for this label is 0; it may be no row of W
  std::optional<std::int64_t> padding_idx = {};   // this row of W gets no gradient
};
// Returns the rows of W (V, d) for integers x (...): (..., d). Gradients of one row are summed, in the order of x. A
// number outside [0, V), also a negative one, is an IndexError, in debug mode a ValueError. On devices other than the
// CPU, numbers are checked only in debug mode and after nd::check_indices(true), and wrap otherwise. InvalidType for
// other ranks and dtypes.
CATENA_EXPORT Variable embed_id(const Variable& x, const Variable& W, const EmbedIDOptions& options = {});
inline Variable embed_id(const Variable& x, const Variable& W, std::int64_t ignore_label) {
  return embed_id(x, W, EmbedIDOptions{.ignore_label = ignore_label});
}

}  // namespace nn
