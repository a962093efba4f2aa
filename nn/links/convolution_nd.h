// Convolution layers over any number of spatial axes: ConvolutionND and DeconvolutionND.
//
// `ndim` is the number of spatial axes (ValueError unless positive). Options that are lengths are one length for all
// axes or one for each (AssertionError otherwise): a stride of 2, or {2, 1, 1}. Without a number of input channels, the
// first call creates W.
#pragma once

#include <optional>

#include <catena/nn/functions/connection.h>
#include <catena/nn/link.h>

namespace nn {

struct ConvolutionNDLinkOptions {
  [[no_unique_address]] internal::Named named = internal::Named();
  Lengths stride = 1, pad = 0, dilate = 1;
  int groups = 1;
  Initializer initialW = {};      // default: HeNormal(1 / sqrt 2)
  Initializer initial_bias = {};  // default: there is no b
  bool cover_all = false;
  std::optional<bool> deterministic = {}, use_cudnn = {};  // see ConvolutionOptions
};

// W (out, in / groups, k1, ..., kN), b (out) if it has an initial value; see convolution_nd(). ValueError unless the
// groups divide both numbers of channels.
//   ConvolutionND(3, 16, 32, 3, {.pad = 1, .initial_bias = 0})
class CATENA_EXPORT ConvolutionND : public Link {
 public:
  using Options = ConvolutionNDLinkOptions;
  ConvolutionND(int ndim, std::optional<int> in, int out, const Lengths& kernel, const Options& options = {});
  // ConvolutionND(3, 8, 16, 3, {2, 1, 1}, 1)
  ConvolutionND(int ndim_, std::optional<int> in, int out, const Lengths& kernel, const Lengths& stride,
                const Lengths& pad = 0, const Options& more = {})
      : ConvolutionND(ndim_, in, out, kernel, internal::placed(more, stride, pad)) {}
  ConvolutionND(int ndim_, std::optional<int> in, int out, const Lengths& kernel, const Lengths& stride,
                const Options& more)
      : ConvolutionND(ndim_, in, out, kernel, internal::placed(more, stride)) {}

  NN_MEMBERS(W, b)
  Variable operator()(const Variable& x);

  Parameter W;
  std::optional<Parameter> b;
  int ndim, out_channels;
  autograd::Dims ksize;
  ConvolutionNdOptions geometry;
};

struct DeconvolutionNDLinkOptions {
  [[no_unique_address]] internal::Named named = internal::Named();
  Lengths stride = 1, pad = 0;
  std::optional<Lengths> outsize = {};  // the spatial lengths of the result; default: stride (d - 1) + k - 2 pad
  Lengths dilate = 1;
  int groups = 1;
  Initializer initialW = {};       // default: HeNormal(1 / sqrt 2), with the fan-in of the axes of W from 1 on
  Initializer initial_bias = 0.0;  // {}: there is no b
  std::optional<bool> deterministic = {}, use_cudnn = {};
};

// The transposed convolution: W (in, out / groups, k1, ..., kN), b (out); see deconvolution_nd(). ValueError unless the
// groups divide both numbers of channels.
class CATENA_EXPORT DeconvolutionND : public Link {
 public:
  using Options = DeconvolutionNDLinkOptions;
  DeconvolutionND(int ndim, std::optional<int> in, int out, const Lengths& kernel, const Options& options = {});
  // DeconvolutionND(3, 16, 8, 4, {2, 1, 1}, 1, {8, 6, 6})
  DeconvolutionND(int ndim_, std::optional<int> in, int out, const Lengths& kernel, const Lengths& stride,
                  const Lengths& pad = 0, const Options& more = {})
      : DeconvolutionND(ndim_, in, out, kernel, internal::placed(more, stride, pad)) {}
  DeconvolutionND(int ndim_, std::optional<int> in, int out, const Lengths& kernel, const Lengths& stride,
                  const Options& more)
      : DeconvolutionND(ndim_, in, out, kernel, internal::placed(more, stride)) {}
  DeconvolutionND(int ndim_, std::optional<int> in, int out, const Lengths& kernel, const Lengths& stride,
                  const Lengths& pad, const Lengths& outsize, Options more = {})
      : DeconvolutionND(ndim_, in, out, kernel, stride, pad, (more.outsize = outsize, more)) {}

  NN_MEMBERS(W, b)
  Variable operator()(const Variable& x);

  Parameter W;
  std::optional<Parameter> b;
  int ndim, out_channels;
  autograd::Dims ksize;
  DeconvolutionNdOptions geometry;
};

}  // namespace nn
