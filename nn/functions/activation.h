// Room nn/functions: the differentiable functions of neural networks without parameters of their own: activations,
// connections, losses, normalization, pooling, noise, measures. Layers with parameters are in nn/links; arithmetic and
// general functions are in autograd/functions. This room may use autograd and kernels.
//
// This file: activation functions. All keep shape and dtype; floating dtypes only (InvalidType otherwise).
#pragma once

#include <catena/autograd/functions/math.h>
#include <catena/nn/functions/function_with_options.h>

namespace nn {

// A number whose type knows its default, so that Sequential can call a function that is passed without it.
template <int Percent> struct Coefficient {
  double value = Percent / 100.0;
  Coefficient() = default;
  Coefficient(double v) : value(v) {}
};

CATENA_EXPORT Variable relu(const Variable& x);  // max(x, 0); derivative 0 at 0
// min(max(0, x), z), z = 20; AssertionError unless z > 0.
CATENA_EXPORT Variable clipped_relu(const Variable& x, Coefficient<2000> z = {});
CATENA_EXPORT Variable leaky_relu(const Variable& x, Coefficient<20> slope = {});  // slope 0.2
CATENA_EXPORT Variable elu(const Variable& x, Coefficient<100> alpha = {});        // alpha 1
CATENA_EXPORT Variable hard_sigmoid(const Variable& x);                            // clip(0.2 x + 0.5, 0, 1)
using autograd::sigmoid;                                                           // tanh(x / 2) / 2 + 1 / 2
using autograd::tanh;

// exp(x) / sum exp(x) along an axis, shifted by the maximum. At least 2 dimensions (InvalidType).
struct SoftmaxOptions {
  int axis = 1;
};
//   softmax(x)  softmax(x, 2)  softmax(x, {.axis = 2})
namespace internal {
CATENA_EXPORT Variable softmax(const Variable& x, const SoftmaxOptions& options);
CATENA_EXPORT Variable log_softmax(const Variable& x, const SoftmaxOptions& options);
}  // namespace internal
inline constexpr FunctionWithOptions<internal::softmax, SoftmaxOptions, int> softmax;
inline constexpr FunctionWithOptions<internal::log_softmax, SoftmaxOptions, int> log_softmax;

}  // namespace nn
