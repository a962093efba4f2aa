// Convolution layers of images: Convolution2D, DilatedConvolution2D, Deconvolution2D, DepthwiseConvolution2D.
//
// Without a number of input channels, the first call creates W. Options that are lengths are one length for both axes
// or a pair (vertical, horizontal); stride and pad may also stand before the options, and then count.
#pragma once

#include <optional>

#include <catena/nn/functions/connection.h>
#include <catena/nn/link.h>
#include <catena/nn/parameter_handle.h>

namespace nn {

struct Convolution2DOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair stride = 1, pad = 0, dilate = 1;
  int groups = 1;
  double wscale = 1.0;           // the initial weights are multiplied by its square root
  internal::BiasValue bias = 0;  // initial value of b without initial_bias
  bool nobias = false;
  Initializer initialW = {};                               // default: HeNormal(1 / sqrt 2)
  Initializer initial_bias = {};                           // default: bias
  std::optional<bool> deterministic = {}, use_cudnn = {};  // see ConvolutionOptions
};

// All arguments after the numbers of channels by their names, in Chainer's order: Convolution2D(3, 64, {.ksize = 3,
// .pad = 1}).
struct Convolution2DArguments {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair ksize;
  Pair stride = 1, pad = 0;
  bool nobias = false;
  Initializer initialW = {}, initial_bias = {};
  Pair dilate = 1;
  int groups = 1;
};

namespace internal {
template <class Options> Options options_of(const Convolution2DArguments& a) {
  return {.stride = a.stride,
          .pad = a.pad,
          .dilate = a.dilate,
          .groups = a.groups,
          .nobias = a.nobias,
          .initialW = a.initialW,
          .initial_bias = a.initial_bias};
}
}  // namespace internal

// W (out, in / groups, kh, kw), b (out); see convolution_2d(). ValueError unless the groups divide both numbers of
// channels.
class CATENA_EXPORT Convolution2D : public internal::WeightAndBias {
 public:
  using Options = Convolution2DOptions;
  Convolution2D(int out, Pair kernel, const Options& options = {})
      : Convolution2D(std::nullopt, out, kernel, options) {}
  Convolution2D(std::optional<int> in, int out, Pair kernel, const Options& options = {});
  // Convolution2D(3, 64, 3, 1, 1), Convolution2D(std::nullopt, 64, 3, 1, 1, {.nobias = true})
  Convolution2D(std::optional<int> in, int out, Pair kernel, Pair stride, Pair pad = 0, const Options& more = {})
      : Convolution2D(in, out, kernel, internal::placed(more, stride, pad)) {}
  Convolution2D(std::optional<int> in, int out, Pair kernel, Pair stride, const Options& more)
      : Convolution2D(in, out, kernel, internal::placed(more, stride)) {}
  Convolution2D(std::optional<int> in, int out, const Convolution2DArguments& a)
      : Convolution2D(in, out, a.ksize, internal::options_of<Options>(a)) {}

  NN_MEMBERS(W, b)
  Variable operator()(const Variable& x);

  int out_channels;
  Pair ksize;
  ConvolutionOptions geometry;
};

// A Convolution2D whose constructor has `dilate` as a positional argument.
class CATENA_EXPORT DilatedConvolution2D : public Convolution2D {
 public:
  using Convolution2D::Convolution2D;
  // DilatedConvolution2D(3, 64, 3, 1, 2, 2)
  DilatedConvolution2D(std::optional<int> in, int out, Pair kernel, Pair stride, Pair pad, Pair dilate,
                       Options more = {})
      : Convolution2D(in, out, kernel, stride, pad, (more.dilate = dilate, more)) {}
};

struct Deconvolution2DOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair stride = 1, pad = 0;
  OptionalPair outsize = {};  // (height, width) of the result; default: stride (h - 1) + kh - 2 pad
  Pair dilate = 1;
  int groups = 1;
  double wscale = 1.0;
  internal::BiasValue bias = 0;  // initial value of b without initial_bias
  bool nobias = false;
  Initializer initialW = {};      // default: HeNormal(1 / sqrt 2), with the fan-in of axes 1 to 3 of W
  Initializer initial_bias = {};  // default: bias
  std::optional<bool> deterministic = {}, use_cudnn = {};
};

// The transposed convolution: W (in, out / groups, kh, kw), b (out); see deconvolution_2d(). ValueError unless the
// groups divide both numbers of channels.
class CATENA_EXPORT Deconvolution2D : public internal::WeightAndBias {
 public:
  using Options = Deconvolution2DOptions;
  Deconvolution2D(int out, Pair kernel, const Options& options = {})
      : Deconvolution2D(std::nullopt, out, kernel, options) {}
  Deconvolution2D(std::optional<int> in, int out, const Convolution2DArguments& a)
      : Deconvolution2D(in, out, a.ksize, internal::options_of<Options>(a)) {}
  Deconvolution2D(std::optional<int> in, int out, Pair kernel, const Options& options = {});
  // Deconvolution2D(64, 3, 4, 2, 1), Deconvolution2D(64, 3, 4, 2, 1, {.nobias = true})
  Deconvolution2D(std::optional<int> in, int out, Pair kernel, Pair stride, Pair pad = 0, const Options& more = {})
      : Deconvolution2D(in, out, kernel, internal::placed(more, stride, pad)) {}
  Deconvolution2D(std::optional<int> in, int out, Pair kernel, Pair stride, const Options& more)
      : Deconvolution2D(in, out, kernel, internal::placed(more, stride)) {}

  NN_MEMBERS(W, b)
  Variable operator()(const Variable& x);

  int out_channels;
  Pair ksize;
  DeconvolutionOptions geometry;
};

struct DepthwiseConvolution2DOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair stride = 1, pad = 0, dilate = 1;
  bool nobias = false;
  Initializer initialW = {};  // default: HeNormal(1 / sqrt 2), i.e. deviation 1 / sqrt(in kh kw)
  Initializer initial_bias = 0.0;
};

// Applies `multiplier` filters to every channel: W (multiplier, in, kh, kw), b (in multiplier); see
// depthwise_convolution_2d(). Without a number of input channels, the first call creates both.
class CATENA_EXPORT DepthwiseConvolution2D : public Link {
 public:
  using Options = DepthwiseConvolution2DOptions;
  DepthwiseConvolution2D(std::optional<int> in, int multiplier, Pair kernel, const Options& options = {});
  // DepthwiseConvolution2D(32, 2, 3, 1, 1)
  DepthwiseConvolution2D(std::optional<int> in, int multiplier, Pair kernel, Pair stride, Pair pad = 0,
                         const Options& more = {})
      : DepthwiseConvolution2D(in, multiplier, kernel, internal::placed(more, stride, pad)) {}
  DepthwiseConvolution2D(std::optional<int> in, int multiplier, Pair kernel, Pair stride, const Options& more)
      : DepthwiseConvolution2D(in, multiplier, kernel, internal::placed(more, stride)) {}

  NN_MEMBERS(W, b)
  Variable operator()(const Variable& x);

  Parameter W;
  std::optional<Parameter> b;
  int channel_multiplier;
  Pair ksize;
  DepthwiseConvolutionOptions geometry;

 private:
  void initialize(std::int64_t in);
};

}  // namespace nn
