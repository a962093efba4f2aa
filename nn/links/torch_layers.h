// Layers with PyTorch's names, options and defaults. Parameters have the keys of the classes
// from which they derive (W, b, gamma, beta), and their initial values; KeyStyle::pytorch reads PyTorch's files.
//
//   nn::Sequential net(nn::Conv2d(1, 8, 3, {.padding = 1}), nn::BatchNorm2d(8), nn::ReLU(), nn::MaxPool2d(2),
//                      nn::Flatten(), nn::Linear(1568, 10));
//
// Layers without parameters are functions: members of a class that NN_MEMBERS need not list.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/noise.h>
#include <catena/nn/functions/objects/activation.h>
#include <catena/nn/functions/pooling.h>
#include <catena/nn/links/batch_normalization.h>
#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/links/convolution_nd.h>
#include <catena/nn/links/embed_id.h>
#include <catena/nn/links/group_normalization.h>
#include <catena/nn/links/layer_normalization.h>

namespace nn {

struct Conv2dOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair stride = 1, padding = 0, dilation = 1;
  int groups = 1;
  bool bias = true;
};
// The same with the kernel by its name: Conv2d(3, 64, {.kernel_size = 3, .padding = 1}).
struct Conv2dArguments {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair kernel_size;
  Pair stride = 1, padding = 0, dilation = 1;
  int groups = 1;
  bool bias = true;
  Conv2dOptions options() const {
    return {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups, .bias = bias};
  }
};
// Convolution2D. Conv2d(3, 64, 3, {.padding = 1}), Conv2d(3, 64, 3, 1, 1)
struct CATENA_EXPORT Conv2d : Convolution2D {
  using Options = Conv2dOptions;
  Conv2d(int in, int out, Pair kernel, const Options& o = {})
      : Convolution2D(
            in, out, kernel,
            Convolution2DOptions{
                .stride = o.stride, .pad = o.padding, .dilate = o.dilation, .groups = o.groups, .nobias = !o.bias}) {}
  Conv2d(int in, int out, Pair kernel, Pair stride, Pair padding = 0)
      : Conv2d(in, out, kernel, Options{.stride = stride, .padding = padding}) {}
  Conv2d(int in, int out, const Conv2dArguments& a) : Conv2d(in, out, a.kernel_size, a.options()) {}
};

// Deconvolution2D.
struct CATENA_EXPORT ConvTranspose2d : Deconvolution2D {
  using Options = Conv2dOptions;
  ConvTranspose2d(int in, int out, Pair kernel, const Options& o = {})
      : Deconvolution2D(
            in, out, kernel,
            Deconvolution2DOptions{
                .stride = o.stride, .pad = o.padding, .dilate = o.dilation, .groups = o.groups, .nobias = !o.bias}) {}
  ConvTranspose2d(int in, int out, Pair kernel, Pair stride, Pair padding = 0)
      : ConvTranspose2d(in, out, kernel, Options{.stride = stride, .padding = padding}) {}
  ConvTranspose2d(int in, int out, const Conv2dArguments& a) : ConvTranspose2d(in, out, a.kernel_size, a.options()) {}
};

struct ConvOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Lengths stride = 1, padding = 0, dilation = 1;
  int groups = 1;
  bool bias = true;
};
namespace internal {
template <int axes> struct ConvOf : ConvolutionND {
  using Options = ConvOptions;
  ConvOf(int in, int out, const Lengths& kernel, const Options& o = {})
      : ConvolutionND(axes, in, out, kernel,
                      ConvolutionNDLinkOptions{.stride = o.stride,
                                               .pad = o.padding,
                                               .dilate = o.dilation,
                                               .groups = o.groups,
                                               .initial_bias = o.bias ? Initializer(0.0) : Initializer()}) {}
};
}  // namespace internal
// Over one axis.
using Conv1d = internal::ConvOf<1>;
// Over three axes.
using Conv3d = internal::ConvOf<3>;

struct BatchNormOptions {
  double eps = 1e-5, momentum = 0.1;  // momentum is 1 - decay of BatchNormalization
  bool affine = true;
};
// BatchNormalization over all axes but that of the channels.
struct CATENA_EXPORT BatchNorm2d : BatchNormalization {
  using Options = BatchNormOptions;
  explicit BatchNorm2d(int size, const Options& o = {})
      : BatchNormalization(size, BatchNormalizationLinkOptions{.decay = 1 - o.momentum,
                                                               .eps = o.eps,
                                                               .use_gamma = o.affine,
                                                               .use_beta = o.affine,
                                                               .initial_avg_var = 1.0}) {}
};
using BatchNorm1d = BatchNorm2d;
using BatchNorm3d = BatchNorm2d;

// These have PyTorch's defaults.
using LayerNorm = LayerNormalization;
using GroupNorm = GroupNormalization;
using InstanceNorm1d = InstanceNormalization;
using InstanceNorm2d = InstanceNormalization;
using Embedding = EmbedID;

// ---- without parameters --------------------------------------------------------------------------
using functions::ELU;
using functions::ReLU;
using functions::Sigmoid;
using functions::Tanh;

// leaky_relu() with PyTorch's slope.
struct LeakyReLU {
  double negative_slope;
  explicit LeakyReLU(double slope = 0.01) : negative_slope(slope) {}
  Variable operator()(const Variable& x) const { return leaky_relu(x, negative_slope); }
};
// Exact, or its approximation by tanh.
struct GELU {
  std::string approximate = "none";  // or "tanh"
  explicit GELU(std::string approximate_ = "none") : approximate(std::move(approximate_)) {}
  Variable operator()(const Variable& x) const { return approximate == "none" ? gelu(x) : gelu(x, approximate); }
};
// x sigmoid(x).
struct SiLU {
  Variable operator()(const Variable& x) const { return silu(x); }
};
// Along the axis `dim`.
struct Softmax {
  int dim;
  explicit Softmax(int dim_) : dim(dim_) {}
  Variable operator()(const Variable& x) const { return softmax(x, dim); }
};
struct LogSoftmax {
  int dim;
  explicit LogSoftmax(int dim_) : dim(dim_) {}
  Variable operator()(const Variable& x) const { return log_softmax(x, dim); }
};
// In training, sets elements to 0 with the probability p; see dropout().
struct Dropout {
  double p;
  explicit Dropout(double p_ = 0.5) : p(p_) {}
  Variable operator()(const Variable& x) const { return dropout(x, p); }
};
struct Identity {
  Variable operator()(const Variable& x) const { return x; }
};
// Joins the axes from start_dim to end_dim: (N, C, H, W) -> (N, C H W).
struct Flatten {
  int start_dim, end_dim;
  explicit Flatten(int start = 1, int end = -1) : start_dim(start), end_dim(end) {}
  Variable operator()(const Variable& x) const { return x.flatten(start_dim, end_dim); }
};

// The arguments of MaxPool2d and AvgPool2d by their names: MaxPool2d({.kernel_size = 3, .stride = 2}).
struct Pool2dArguments {
  [[no_unique_address]] catena::Named named = catena::Named();
  Pair kernel_size;
  std::optional<Pair> stride = {};
  Pair padding = 0;
  bool ceil_mode = false;  // of MaxPool2d
};
struct MaxPool2dOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<Pair> stride = {};  // default: the kernel
  Pair padding = 0;
  bool ceil_mode = false;  // also windows that begin in x or its padding and reach beyond the end
};
struct CATENA_EXPORT MaxPool2d {
  Pair kernel;
  MaxPool2dOptions options;
  explicit MaxPool2d(Pair kernel_, const MaxPool2dOptions& o = {}) : kernel(kernel_), options(o) {}
  explicit MaxPool2d(const Pool2dArguments& a)
      : MaxPool2d(a.kernel_size, MaxPool2dOptions{.stride = a.stride, .padding = a.padding, .ceil_mode = a.ceil_mode}) {
  }
  MaxPool2d(Pair kernel_, Pair stride, Pair padding = 0)
      : MaxPool2d(kernel_, MaxPool2dOptions{.stride = stride, .padding = padding}) {}
  Variable operator()(const Variable& x) const;
};
struct AvgPool2dOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<Pair> stride = {};  // default: the kernel
  Pair padding = 0;                 // the zeros count
};
// Means of windows, by average_pooling_2d().
struct CATENA_EXPORT AvgPool2d {
  Pair kernel;
  AvgPool2dOptions options;
  explicit AvgPool2d(Pair kernel_, const AvgPool2dOptions& o = {}) : kernel(kernel_), options(o) {}
  // ValueError for ceil_mode.
  explicit AvgPool2d(const Pool2dArguments& a);
  AvgPool2d(Pair kernel_, Pair stride, Pair padding = 0)
      : AvgPool2d(kernel_, AvgPool2dOptions{.stride = stride, .padding = padding}) {}
  Variable operator()(const Variable& x) const {
    return average_pooling_2d(x, kernel, options.stride.value_or(kernel), options.padding);
  }
};
// Means of windows that give a result of this size for x of any size.
struct AdaptiveAvgPool2d {
  Pair size;
  explicit AdaptiveAvgPool2d(Pair size_) : size(size_) {}
  Variable operator()(const Variable& x) const { return adaptive_average_pooling_2d(x, size); }
};

}  // namespace nn
