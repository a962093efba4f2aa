// Layers of images beside plain convolutions: LocalConvolution2D, DeformableConvolution2D,
// DepthwiseSeparableConvolution2D.
#pragma once

#include <optional>

#include <catena/nn/links/convolution_2d.h>

namespace nn {

struct LocalConvolution2DOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair stride = 1;
  bool nobias = false;
  Initializer initialW = {};  // default: N(0, 1 / (in kh kw))
  Initializer initial_bias = 0.0;
};

// A convolution whose filters differ from position to position: W (out, oh, ow, in, kh, kw), b (out, oh, ow); see
// local_convolution_2d(). Without the number of input channels or the size of the images, the first call creates both.
//   LocalConvolution2D(3, 8, {32, 32}, 3)   LocalConvolution2D(8, 3)
class CATENA_EXPORT LocalConvolution2D : public Link {
 public:
  using Options = LocalConvolution2DOptions;
  LocalConvolution2D(int out, Pair kernel, const Options& options = {})
      : LocalConvolution2D(std::nullopt, out, std::nullopt, kernel, options) {}
  // in_size: (height, width) of the images. ValueError for images smaller than the kernel and for strides below 1.
  LocalConvolution2D(std::optional<int> in, int out, std::optional<Pair> in_size, Pair kernel,
                     const Options& options = {});

  NN_MEMBERS(W, b)
  Variable operator()(const Variable& x);

  Parameter W;
  OptionalParameter b;
  int out_channels;
  Pair ksize, stride;

 private:
  void initialize(std::int64_t in, std::int64_t height, std::int64_t width);
};

struct DeformableConvolution2DOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair stride = 1, pad = 0;
  bool offset_nobias = false;
  // Of the convolution that computes the offsets. Zeros, so that the layer begins as a plain convolution.
  Initializer offset_initialW = 0.0, offset_initial_bias = 0.0;
  bool deform_nobias = false;
  Initializer deform_initialW = {};  // default: HeNormal(1 / sqrt 2)
  Initializer deform_initial_bias = 0.0;
};

// A convolution whose taps are moved by offsets that another convolution computes from x (Dai et al.: Deformable
// Convolutional Networks, 2017): children offset_conv, with 2 kh kw outputs, and deform_conv, with W (out, in, kh, kw)
// and b (out); see deformable_convolution_2d_sampler().
class CATENA_EXPORT DeformableConvolution2D : public Chain {
 public:
  using Options = DeformableConvolution2DOptions;
  DeformableConvolution2D(std::optional<int> in, int out, Pair kernel, const Options& options = {});
  // DeformableConvolution2D(3, 64, 3, 1, 1)
  DeformableConvolution2D(std::optional<int> in, int out, Pair kernel, Pair stride, Pair pad = 0,
                          const Options& more = {})
      : DeformableConvolution2D(in, out, kernel, internal::placed(more, stride, pad)) {}

  NN_MEMBERS(offset_conv, deform_conv)
  Variable operator()(const Variable& x);

  // The weights of the moved taps. It is called with the offsets: deform_conv(x, offset).
  class CATENA_EXPORT Sampler : public Link {
   public:
    Sampler(std::optional<int> in, int out, Pair kernel, const Options& options);
    NN_MEMBERS(W, b)
    Variable operator()(const Variable& x, const Variable& offset);

    Parameter W;
    OptionalParameter b;
    int out_channels;
    Pair ksize;
    DeformableConvolutionOptions geometry;
  };

  Convolution2D offset_conv;
  Sampler deform_conv;
};

struct DepthwiseSeparableConvolution2DOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair stride = 1, pad = 0, dilate = 1;
  int channel_multiplier = 1;
  bool nobias = false;        // of both convolutions
  Initializer initialW = {};  // of both convolutions; default: HeNormal(1 / sqrt 2)
  Initializer initial_bias = 0.0;
};

// A filter for each channel, then a 1 x 1 convolution of the results (Chollet: Xception, 2017): children depthwise and
// pointwise. A normalization and an activation between them, as in MobileNet, are written out in the network.
class CATENA_EXPORT DepthwiseSeparableConvolution2D : public Chain {
 public:
  using Options = DepthwiseSeparableConvolution2DOptions;
  DepthwiseSeparableConvolution2D(std::optional<int> in, int out, Pair kernel, const Options& options = {});
  // DepthwiseSeparableConvolution2D(32, 64, 3, 1, 1)
  DepthwiseSeparableConvolution2D(std::optional<int> in, int out, Pair kernel, Pair stride, Pair pad = 0,
                                  const Options& more = {})
      : DepthwiseSeparableConvolution2D(in, out, kernel, internal::placed(more, stride, pad)) {}

  NN_MEMBERS(depthwise, pointwise)
  Variable operator()(const Variable& x);

  DepthwiseConvolution2D depthwise;
  Convolution2D pointwise;
};

}  // namespace nn
