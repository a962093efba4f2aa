// Convolution layers over any number of spatial axes: ConvolutionND and DeconvolutionND, and over one and three.
//
// `ndim` is the number of spatial axes (ValueError unless positive). Options that are lengths are one length for all
// axes or one for each (AssertionError otherwise): a stride of 2, or {2, 1, 1}. Without a number of input channels, the
// first call creates W.
#pragma once

#include <optional>

#include <catena/nn/functions/connection.h>
#include <catena/nn/link.h>
#include <catena/nn/parameter_handle.h>

namespace nn {

struct ConvolutionNDLinkOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
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
class CATENA_EXPORT ConvolutionND : public internal::WeightAndBias {
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

  int ndim, out_channels;
  autograd::Dims ksize;
  ConvolutionNdOptions geometry;
};

struct DeconvolutionNDLinkOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Lengths stride = 1, pad = 0;
  std::optional<Lengths> outsize = {};  // the spatial lengths of the result; default: stride (d - 1) + k - 2 pad
  Lengths dilate = 1;
  int groups = 1;
  bool nobias = false;
  Initializer initialW = {};       // default: HeNormal(1 / sqrt 2), with the fan-in of the axes of W from 1 on
  Initializer initial_bias = 0.0;  // {}: there is no b
  std::optional<bool> deterministic = {}, use_cudnn = {};
};

// The transposed convolution: W (in, out / groups, k1, ..., kN), b (out); see deconvolution_nd(). ValueError unless the
// groups divide both numbers of channels.
class CATENA_EXPORT DeconvolutionND : public internal::WeightAndBias {
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

  int ndim, out_channels;
  autograd::Dims ksize;
  DeconvolutionNdOptions geometry;
};

struct SpatialConvolutionOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Lengths stride = 1, pad = 0, dilate = 1;
  int groups = 1;
  Initializer initialW = {};  // default: HeNormal(1 / sqrt 2)
  Initializer initial_bias = 0.0;
  bool nobias = false;
  std::optional<bool> deterministic = {}, use_cudnn = {};  // see ConvolutionOptions
};
namespace internal {
CATENA_EXPORT ConvolutionNDLinkOptions any_rank(const SpatialConvolutionOptions& o);
}  // namespace internal

// ConvolutionND over one and three axes, with a bias.
//   Convolution1D(16, 32, 3, {.pad = 1}), Convolution1D(16, 32, 3, 1, 1), Convolution3D(1, 8, 3)
class CATENA_EXPORT Convolution1D : public ConvolutionND {
 public:
  using Options = SpatialConvolutionOptions;
  Convolution1D(int out, const Lengths& kernel, const Options& options = {})
      : Convolution1D(std::nullopt, out, kernel, options) {}
  Convolution1D(std::optional<int> in, int out, const Lengths& kernel, const Options& options = {})
      : ConvolutionND(1, in, out, kernel, internal::any_rank(options)) {}
  Convolution1D(std::optional<int> in, int out, const Lengths& kernel, const Lengths& stride, const Lengths& pad = 0,
                const Options& more = {})
      : Convolution1D(in, out, kernel, internal::placed(more, stride, pad)) {}
};
class CATENA_EXPORT Convolution3D : public ConvolutionND {
 public:
  using Options = SpatialConvolutionOptions;
  Convolution3D(int out, const Lengths& kernel, const Options& options = {})
      : Convolution3D(std::nullopt, out, kernel, options) {}
  Convolution3D(std::optional<int> in, int out, const Lengths& kernel, const Options& options = {})
      : ConvolutionND(3, in, out, kernel, internal::any_rank(options)) {}
  Convolution3D(std::optional<int> in, int out, const Lengths& kernel, const Lengths& stride, const Lengths& pad = 0,
                const Options& more = {})
      : Convolution3D(in, out, kernel, internal::placed(more, stride, pad)) {}
};

// DeconvolutionND over one and three axes: Deconvolution1D(16, 8, 4, 2, 1)
class CATENA_EXPORT Deconvolution1D : public DeconvolutionND {
 public:
  using Options = DeconvolutionNDLinkOptions;
  Deconvolution1D(int out, const Lengths& kernel, const Options& options = {})
      : Deconvolution1D(std::nullopt, out, kernel, options) {}
  Deconvolution1D(std::optional<int> in, int out, const Lengths& kernel, const Options& options = {})
      : DeconvolutionND(1, in, out, kernel, options) {}
  Deconvolution1D(std::optional<int> in, int out, const Lengths& kernel, const Lengths& stride, const Lengths& pad = 0,
                  const Options& more = {})
      : Deconvolution1D(in, out, kernel, internal::placed(more, stride, pad)) {}
};
class CATENA_EXPORT Deconvolution3D : public DeconvolutionND {
 public:
  using Options = DeconvolutionNDLinkOptions;
  Deconvolution3D(int out, const Lengths& kernel, const Options& options = {})
      : Deconvolution3D(std::nullopt, out, kernel, options) {}
  Deconvolution3D(std::optional<int> in, int out, const Lengths& kernel, const Options& options = {})
      : DeconvolutionND(3, in, out, kernel, options) {}
  Deconvolution3D(std::optional<int> in, int out, const Lengths& kernel, const Lengths& stride, const Lengths& pad = 0,
                  const Options& more = {})
      : Deconvolution3D(in, out, kernel, internal::placed(more, stride, pad)) {}
};

}  // namespace nn
