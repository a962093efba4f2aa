// Activation layers with PyTorch's names, options and defaults. They are functions: members of a class, elements of a
// Sequential, or temporaries: nn::ReLU()(x).
//
//   nn::ReLU(), nn::ReLU({.inplace = true}), nn::LeakyReLU(0.2), nn::LeakyReLU({.negative_slope = 0.2}), nn::Softmax(1)
//
// Options are members of the layer. inplace has no effect: results are new arrays.
#pragma once

#include <concepts>
#include <string>
#include <utility>

#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/noise.h>

namespace nn {

namespace internal {
// The constructors of a layer that has options but no numbers: ReLU(), ReLU(true), ReLU({.inplace = true}).
struct InplaceLayer : InplaceOption {
  InplaceLayer() = default;
  template <std::same_as<bool> B> explicit InplaceLayer(B is_inplace) { inplace = is_inplace; }
  explicit InplaceLayer(const InplaceOption& o) : InplaceOption(o) {}
};
template <const auto& function> struct InplaceLayerOf : InplaceLayer {
  using InplaceLayer::InplaceLayer;
  Variable operator()(const Variable& x) const { return function(x); }
};
// Constructors of a layer with one or two numbers, which are members of its options: LeakyReLU(0.2), Hardtanh(-2, 2).
template <class Options, double Options::*first, double Options::*second = nullptr> struct NumbersLayer : Options {
  NumbersLayer() = default;
  explicit NumbersLayer(const Options& o) : Options(o) {}
  explicit NumbersLayer(double number) { this->*first = number; }
  NumbersLayer(double number, double other) requires(second != nullptr) {
    this->*first = number;
    this->*second = other;
  }
  // The bool is PyTorch's inplace.
  template <std::same_as<bool> B> NumbersLayer(double number, B) { this->*first = number; }
  template <std::same_as<bool> B>
  NumbersLayer(double number, double other, B) requires(second != nullptr) : NumbersLayer(number, other) {}
};
template <const auto& function, class Options, double Options::*number>
struct NumberLayerOf : NumbersLayer<Options, number> {
  using NumbersLayer<Options, number>::NumbersLayer;
  Variable operator()(const Variable& x) const { return function(x, this->*number); }
};
// Constructors of a layer along an axis: Softmax(1), Softmax({.dim = 1}).
struct AxisLayer {
  int dim;
  explicit AxisLayer(int axis) : dim(axis) {}
  explicit AxisLayer(const AxisOption& o) : dim(o.value_or(1)) {}
};
template <const auto& function> struct AxisLayerOf : AxisLayer {
  using AxisLayer::AxisLayer;
  Variable operator()(const Variable& x) const { return function(x, dim); }
};
template <Variable (*function)(const Variable& x)> struct PlainLayerOf {
  Variable operator()(const Variable& x) const { return function(x); }
};
}  // namespace internal

// ---- without numbers: layers of the functions of these names -------------------------------------
using ReLU = internal::InplaceLayerOf<relu>;
using SELU = internal::InplaceLayerOf<selu>;
using ReLU6 = internal::InplaceLayerOf<relu6>;
using SiLU = internal::InplaceLayerOf<silu>;  // x sigmoid(x)
using Mish = internal::InplaceLayerOf<mish>;
using Hardswish = internal::InplaceLayerOf<hard_swish>;
using Hardsigmoid = internal::InplaceLayerOf<hardsigmoid>;
using Sigmoid = internal::PlainLayerOf<autograd::sigmoid>;
using Tanh = internal::PlainLayerOf<autograd::tanh>;
using Softsign = internal::PlainLayerOf<softsign>;
using Tanhshrink = internal::PlainLayerOf<tanhshrink>;
using LogSigmoid = internal::PlainLayerOf<log_sigmoid>;

// ---- with numbers: layers of the functions of these names ----------------------------------------
struct LeakyReLU : internal::NumbersLayer<LeakyReLUOptions, &LeakyReLUOptions::negative_slope> {
  using NumbersLayer::NumbersLayer;
  Variable operator()(const Variable& x) const { return leaky_relu(x, used_slope()); }
};
using ELU = internal::NumberLayerOf<elu, ELUOptions, &ELUOptions::alpha>;
using CELU = internal::NumberLayerOf<celu, ELUOptions, &ELUOptions::alpha>;
using Hardshrink = internal::NumberLayerOf<hardshrink, ShrinkOptions, &ShrinkOptions::lambd>;
using Softshrink = internal::NumberLayerOf<softshrink, ShrinkOptions, &ShrinkOptions::lambd>;
struct Softplus : internal::NumbersLayer<SoftplusOptions, &SoftplusOptions::beta, &SoftplusOptions::threshold> {
  using NumbersLayer::NumbersLayer;
  Variable operator()(const Variable& x) const { return softplus(x, beta, threshold); }
};
struct Hardtanh : internal::NumbersLayer<HardtanhOptions, &HardtanhOptions::min_val, &HardtanhOptions::max_val> {
  using NumbersLayer::NumbersLayer;
  Variable operator()(const Variable& x) const { return hardtanh(x, min_val, max_val); }
};
// x where it is above the threshold, else the value: Threshold(0.1, 20).
struct Threshold : internal::NumbersLayer<ThresholdOptions, &ThresholdOptions::threshold, &ThresholdOptions::value> {
  using NumbersLayer::NumbersLayer;
  Variable operator()(const Variable& x) const { return nn::threshold(x, threshold, value); }
};
// Slopes are drawn in training; see rrelu().
struct RReLU : internal::NumbersLayer<RReLUOptions, &RReLUOptions::lower, &RReLUOptions::upper> {
  using NumbersLayer::NumbersLayer;
  Variable operator()(const Variable& x) const { return rrelu(x, static_cast<const RReLUOptions&>(*this)); }
};
// Exact, or its approximation by tanh.
struct GELU {
  std::string approximate = "none";  // or "tanh"
  explicit GELU(std::string approximation = "none") : approximate(std::move(approximation)) {}
  template <std::same_as<GELUOptions> O = GELUOptions> explicit GELU(const O& o) : approximate(o.approximate) {}
  Variable operator()(const Variable& x) const { return approximate == "none" ? gelu(x) : gelu(x, approximate); }
};

// ---- along an axis: layers of the functions of these names ---------------------------------------
using Softmax = internal::AxisLayerOf<softmax>;
using LogSoftmax = internal::AxisLayerOf<log_softmax>;
struct Softmin : internal::AxisLayer {
  using AxisLayer::AxisLayer;
  Variable operator()(const Variable& x) const { return softmin(x, dim); }
};
// Of the channels of (N, C, H, W) and (C, H, W); ValueError for other ranks.
struct Softmax2d {
  CATENA_EXPORT Variable operator()(const Variable& x) const;
};
// The first half of x along the axis times the sigmoid of the second half.
struct GLU : internal::AxisLayer {
  using AxisLayer::AxisLayer;
  explicit GLU() : AxisLayer(-1) {}
  Variable operator()(const Variable& x) const { return glu(x, dim); }
};

// ---- dropout -------------------------------------------------------------------------------------
struct DropoutLayerOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double p = 0.5;
  bool inplace = false;
};
namespace internal {
// Compilers show the lines about modes in their error messages.
template <const auto& function>
struct DropoutLayerOf : NumberLayerOf<function, DropoutLayerOptions, &DropoutLayerOptions::p> {
  using NumberLayerOf<function, DropoutLayerOptions, &DropoutLayerOptions::p>::NumberLayerOf;
  void eval() const = delete;              // model.eval() of a model with the layer, or autograd::train_mode(false)
  void train(bool = true) const = delete;  // model.train() of a model with the layer, or autograd::train_mode(true)
};
}  // namespace internal
using Dropout = internal::DropoutLayerOf<dropout>;  // in training, sets elements to 0 with the probability p
// The same of whole channels.
using Dropout1d = internal::DropoutLayerOf<dropout1d>;
using Dropout2d = internal::DropoutLayerOf<dropout2d>;
using Dropout3d = internal::DropoutLayerOf<dropout3d>;
// For networks of SELU; see alpha_dropout().
using AlphaDropout = internal::DropoutLayerOf<alpha_dropout>;
using FeatureAlphaDropout = internal::DropoutLayerOf<feature_alpha_dropout>;

}  // namespace nn
