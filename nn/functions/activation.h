// Folder nn/functions: the differentiable functions of neural networks that have no parameters: activations,
// connections, losses, normalization, pooling, noise, measures. Layers with parameters are in nn/links; arithmetic and
// general functions are in autograd/functions. This folder may use autograd and kernels.
//
// This file: activation functions. All keep shape and dtype; floating dtypes only (InvalidType otherwise).
#pragma once

#include <concepts>
#include <optional>
#include <string_view>
#include <tuple>

#include <catena/autograd/functions/math.h>
#include <catena/nn/functions/function_with_options.h>

namespace nn {

using autograd::AxisOption;

namespace internal {
CATENA_EXPORT Variable relu(const Variable& x, const CudnnOptions& options);
CATENA_EXPORT Variable clipped_relu(const Variable& x, double z);
CATENA_EXPORT Variable leaky_relu(const Variable& x, double slope);
CATENA_EXPORT Variable elu(const Variable& x, double alpha);
CATENA_EXPORT Variable softplus(const Variable& x, double beta);
CATENA_EXPORT Variable softplus_below(const Variable& x, double beta, double threshold);
CATENA_EXPORT Variable softshrink(const Variable& x, double lambd);
CATENA_EXPORT Variable hardshrink(const Variable& x, double lambd);
CATENA_EXPORT Variable celu(const Variable& x, double alpha);
}  // namespace internal
// Options of the functions and layers of these names, with PyTorch's defaults.
struct LeakyReLUOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<double> slope = {};  // Chainer's name of negative_slope; takes its place
  double negative_slope = 0.01;
  bool inplace = false;  // no effect, as in InplaceOption
  double used_slope() const noexcept { return slope.value_or(negative_slope); }
};
struct ClippedReLUOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double z = 20;
};
struct ELUOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double alpha = 1;
  bool inplace = false;
};
struct ShrinkOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double lambd = 0.5;
};
struct SoftplusOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double beta = 1, threshold = 20;  // x itself where beta x is above the threshold
};
struct ThresholdOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double threshold = 0, value = 0;
  bool inplace = false;
};
// max(x, 0); derivative 0 at 0. relu(x), relu(x, false), relu(x, {.use_cudnn = false}): see CudnnOptions.
inline constexpr FunctionWithCudnn<internal::relu> relu;
// clipped_relu(x, z): min(max(0, x), z); AssertionError unless z > 0.
inline constexpr FunctionWithNumber<internal::clipped_relu, ClippedReLUOptions, &ClippedReLUOptions::z> clipped_relu{
    .default_number = 20};
// leaky_relu(x, slope): x where x >= 0, else slope x. The slope is 0.2 by default, as in Chainer, and in options 0.01,
// as in PyTorch: leaky_relu(x, {.negative_slope = 0.1}) or {.slope = 0.1}.
inline constexpr FunctionWithNumber<internal::leaky_relu, LeakyReLUOptions, &LeakyReLUOptions::used_slope> leaky_relu{
    .default_number = 0.2};
// elu(x, alpha): x where x >= 0, else alpha (exp(x) - 1)
inline constexpr FunctionWithNumber<internal::elu, ELUOptions, &ELUOptions::alpha> elu{.default_number = 1};
CATENA_EXPORT Variable hard_sigmoid(const Variable& x);  // clip(0.2 x + 0.5, 0, 1)
CATENA_EXPORT Variable hardsigmoid(const Variable& x);   // PyTorch's: clip(x / 6 + 0.5, 0, 1)
// softplus(x, beta): log(1 + exp(beta x)) / beta, for any x. With a threshold, which options always have, x itself
// where beta x is above it, as in PyTorch; above 20 the difference is below the precision of float32.
//   softplus(x)  softplus(x, 2)  softplus(x, 2, 10)  softplus(x, {.beta = 2})
struct SoftplusFunction : FunctionWithNumber<internal::softplus> {
  using FunctionWithNumber<internal::softplus>::operator();
  Variable operator()(const Variable& x, double beta, double threshold) const {
    return internal::softplus_below(x, beta, threshold);
  }
  Variable operator()(const Variable& x, const SoftplusOptions& o) const {
    return internal::softplus_below(x, o.beta, o.threshold);
  }
};
inline constexpr SoftplusFunction softplus{1.0};
CATENA_EXPORT Variable log_sigmoid(const Variable& x);  // log(1 / (1 + exp(-x)))
inline Variable logsigmoid(const Variable& x) { return log_sigmoid(x); }

struct GELUOptions {
  std::string_view approximate = "none";  // or "tanh"; ValueError for others
};
struct SELUOptions {
  double alpha = 1.6732632423543772, scale = 1.0507009873554805;
  bool inplace = false;  // no effect
};
struct GLUOptions {
  int axis = -1;
  std::string_view gate = "sigmoid";  // or "silu" (SwiGLU) or "gelu" (GeGLU); ValueError for others
  std::optional<int> dim = {};        // PyTorch's name of axis
};
struct HardtanhOptions {
  double min_val = -1, max_val = 1;
  bool inplace = false;  // no effect
};
namespace internal {
CATENA_EXPORT Variable gelu(const Variable& x, const GELUOptions& options);
CATENA_EXPORT Variable selu(const Variable& x, const SELUOptions& options);
CATENA_EXPORT Variable glu(const Variable& x, const GLUOptions& options);
CATENA_EXPORT Variable hardtanh(const Variable& x, const HardtanhOptions& options);
}  // namespace internal
// x Phi(x), where Phi is the distribution function of the normal distribution (Hendrycks and Gimpel 2016). With "tanh"
// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, as in GPT-2.
//   gelu(x)  gelu(x, "tanh")  gelu(x, {.approximate = "tanh"})
inline constexpr FunctionWithOptions<internal::gelu, GELUOptions, std::string_view> gelu;
CATENA_EXPORT Variable silu(const Variable& x);  // x sigmoid(x)
// x sigmoid(beta x). A Variable beta has the shape of x without axis 0, or a leading part of that shape, as W of prelu,
// and has a gradient.
CATENA_EXPORT Variable swish(const Variable& x, const Variable& beta);
CATENA_EXPORT Variable swish(const Variable& x, double beta = 1);
CATENA_EXPORT Variable mish(const Variable& x);  // x tanh(log(1 + exp(x)))
// scale x where x >= 0, else scale alpha (exp(x) - 1) (Klambauer et al. 2017). selu(x), selu(x, alpha, scale)
inline constexpr FunctionWithOptions<internal::selu, SELUOptions, double, double> selu;
CATENA_EXPORT Variable relu6(const Variable& x);       // min(max(x, 0), 6)
CATENA_EXPORT Variable hard_swish(const Variable& x);  // x min(max(x + 3, 0), 6) / 6
inline Variable hardswish(const Variable& x) { return hard_swish(x); }
// The first half of x along an axis, multiplied by gate(the second half): sigmoid, silu (SwiGLU) or gelu (GeGLU). The
// axis of the result is half as long. InvalidType for an odd length.
//   glu(x)  glu(x, 1)  glu(x, {.gate = "silu"})
inline constexpr FunctionWithOptions<internal::glu, GLUOptions, int, std::string_view> glu;

// ---- other activations of PyTorch ----
// min(max(x, min_val), max_val); derivative 0 at and outside the bounds. AssertionError unless min_val < max_val.
inline constexpr FunctionWithOptions<internal::hardtanh, HardtanhOptions, double, double> hardtanh;
CATENA_EXPORT Variable softsign(const Variable& x);    // x / (1 + |x|)
CATENA_EXPORT Variable tanhshrink(const Variable& x);  // x - tanh(x)
// x - lambd above lambd, x + lambd below -lambd, else 0; ValueError for a negative lambd.
inline constexpr FunctionWithNumber<internal::softshrink, ShrinkOptions, &ShrinkOptions::lambd> softshrink{
    .default_number = 0.5};
// x where |x| > lambd, else 0; ValueError for a negative lambd.
inline constexpr FunctionWithNumber<internal::hardshrink, ShrinkOptions, &ShrinkOptions::lambd> hardshrink{
    .default_number = 0.5};
// x where x >= 0, else alpha (exp(x / alpha) - 1); ValueError for an alpha of 0.
inline constexpr FunctionWithNumber<internal::celu, ELUOptions, &ELUOptions::alpha> celu{.default_number = 1};
CATENA_EXPORT Variable threshold(const Variable& x, double threshold, double value);  // x > threshold ? x : value
inline Variable threshold(const Variable& x, const ThresholdOptions& o) { return threshold(x, o.threshold, o.value); }

// sigmoid(x) = 1 / (1 + exp(-x)) and tanh(x), which take use_cudnn in the same ways. Their names are those of several
// functions: Sequential and the options of links take sigmoid and tanh as such. Where a type is deduced, as in
// `auto f = nn::tanh` and in arguments of templates, they do not compile; functions::sigmoid and functions::tanh do.
using autograd::sigmoid;
using autograd::tanh;
namespace functions {
// The same functions as objects, for templates.
inline constexpr FunctionWithCudnn<autograd::sigmoid> sigmoid;
inline constexpr FunctionWithCudnn<autograd::tanh> tanh;
}  // namespace functions

// x where x >= 0, else W x. W has the shape of x without axis 0, or a leading part of that shape; 0-d: one slope for
// all.
CATENA_EXPORT Variable prelu(const Variable& x, const Variable& W);
// max(x, 0) and max(-x, 0), concatenated along an axis (InvalidType if there is no such axis).
CATENA_EXPORT Variable crelu(const Variable& x, int axis = 1);
template <std::same_as<autograd::AxisOption> O = autograd::AxisOption> Variable crelu(const Variable& x, const O& o) {
  return crelu(x, o.value_or(1));
}
// Returns the maximum of each group of pool_size consecutive elements of an axis. Every element that equals the maximum
// gets the whole gradient. ValueError unless pool_size > 0; InvalidType unless it divides the length of the axis.
CATENA_EXPORT Variable maxout(const Variable& x, int pool_size, int axis = 1);

// One step of an LSTM. For unit u, the channels 4 u to 4 u + 3 of x (b, 4 n, ...) are the arguments of the candidate a,
// the input gate i, the forget gate f and the output gate o. c = tanh(a) s(i) + s(f) c_prev, h = s(o) tanh(c). Returns
// c (B, n, ...) and h (b, n, ...). c_prev is (B, n, ...) with B >= b: the sequences b to B have ended, and their c is
// unchanged.
//   auto [c, h] = lstm(c_prev, x);
struct LSTMState {
  Variable c, h;
  operator std::tuple<Variable&, Variable&>() { return {c, h}; }  // std::tie(c, h) = lstm(c, x);
};
CATENA_EXPORT LSTMState lstm(const Variable& c_prev, const Variable& x);
// One node of a binary tree of LSTM cells. x1 and x2 are like x of lstm, with one batch size:
// c = tanh(a1) s(i1) + tanh(a2) s(i2) + s(f1) c_prev1 + s(f2) c_prev2, h = s(o1 + o2) tanh(c).
CATENA_EXPORT LSTMState slstm(const Variable& c_prev1, const Variable& c_prev2, const Variable& x1, const Variable& x2);

// exp(x) / sum exp(x) along an axis, shifted by the maximum. At least 2 dimensions (InvalidType). The axis is 1 for
// every rank unless it is given: right for the classes of (N, C) and (N, C, H, W), as in Chainer and as PyTorch's
// F.softmax without dim for those ranks. The scores of attention (B, H, L, L) and other features in the last axis need
// -1.
struct SoftmaxOptions {
  int axis = 1;
  std::optional<int> dim = {};                // PyTorch's name of axis
  std::optional<bool> use_cudnn = {};         // see CudnnOptions
  std::optional<autograd::Dtype> dtype = {};  // x is converted to it
};
struct SoftmaxDtype {
  std::optional<autograd::Dtype> dtype = {};
};
//   softmax(x)  softmax(x, 2)  softmax(x, {.axis = 2})  softmax(x, -1, {.dtype = Dtype::float32})
// A bool in the second place is use_cudnn, as in the reference: softmax(x, false), softmax(x, false, 2).
template <auto body> struct SoftmaxFunction : FunctionWithOptions<body, SoftmaxOptions, int> {
  using FunctionWithOptions<body, SoftmaxOptions, int>::operator();
  template <std::same_as<bool> B> Variable operator()(const Variable& x, B use_cudnn, int axis = 1) const {
    return body(x, SoftmaxOptions{.axis = axis, .use_cudnn = use_cudnn});
  }
  template <std::same_as<SoftmaxDtype> O = SoftmaxDtype>
  Variable operator()(const Variable& x, int axis, const O& o) const {
    return body(x, SoftmaxOptions{.axis = axis, .dtype = o.dtype});
  }
};
namespace internal {
CATENA_EXPORT Variable softmax(const Variable& x, const SoftmaxOptions& options);
CATENA_EXPORT Variable log_softmax(const Variable& x, const SoftmaxOptions& options);
}  // namespace internal
inline constexpr SoftmaxFunction<internal::softmax> softmax;
inline constexpr SoftmaxFunction<internal::log_softmax> log_softmax;
CATENA_EXPORT Variable softmin(const Variable& x, int axis = 1);  // softmax(-x)
inline Variable softmin(const Variable& x, const AxisOption& o) { return softmin(x, o.value_or(1)); }
// The point of the simplex (elements of at least 0 whose sum along the axis is 1) that is nearest to x: max(x - t, 0)
// with the t for which the sum is 1 (Martins and Astudillo 2016). Small elements become 0. TypeError for x that is not
// floating, IndexError for an axis that x does not have.
CATENA_EXPORT Variable sparsemax(const Variable& x, int axis = 1);
inline Variable sparsemax(const Variable& x, const AxisOption& o) { return sparsemax(x, o.value_or(1)); }

}  // namespace nn

namespace autograd {
namespace internal {
template <class F> Variable with_vectors(const F& f, const Variable& x, int axis) {
  if (x.ndim() != 1) return f(x, axis);
  catena::normalize_axis("softmax", axis, 1);
  return f(x.reshape(1, x.size()), 1).reshape(x.size());
}
}  // namespace internal
// Definitions of Variable::relu, Variable::softmax and Variable::log_softmax. As in PyTorch, the last two also take a
// vector, with the axis 0 or -1.
inline Variable relu_member(const Variable& x) { return nn::relu(x); }
inline Variable softmax_member(const Variable& x, int axis = 1) { return internal::with_vectors(nn::softmax, x, axis); }
inline Variable softmax_member(const Variable& x, const AxisOption& o) { return softmax_member(x, o.value_or(1)); }
inline Variable log_softmax_member(const Variable& x, int axis = 1) {
  return internal::with_vectors(nn::log_softmax, x, axis);
}
inline Variable log_softmax_member(const Variable& x, const AxisOption& o) {
  return log_softmax_member(x, o.value_or(1));
}
}  // namespace autograd
