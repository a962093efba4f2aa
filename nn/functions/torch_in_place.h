// PyTorch's functions that write their result into their argument, and names of interpolate(), as names of
// nn::functional.
//
//   h = F::relu_(h), F::leaky_relu_(h, 0.1), F::elu_(h, {.alpha = 0.5})
//
// The result is a new array: the variable that is given becomes a handle of it, and other handles keep their values.
// The functions are differentiable. (x.relu_() writes the elements, which needs autograd::no_grad.)
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>

#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/modules.h>
#include <catena/nn/functions/noise.h>
#include <catena/nn/functions/torch_images.h>

namespace nn::internal {
// Makes the variable a handle of the result, unless it is a temporary or constant.
template <class V> Variable replaced(V& x, Variable result) {
  if constexpr (std::is_same_v<V, Variable>) x = result;
  return result;
}
}  // namespace nn::internal

namespace nn::functions {

// Functions of the elements alone with PyTorch's option: F::silu(x, {.inplace = true}), which has no effect.
template <Variable (*body)(const Variable& x)> struct InplaceFunction {
  Variable operator()(const Variable& x) const { return body(x); }
  template <std::same_as<bool> B> Variable operator()(const Variable& x, B) const { return body(x); }
  template <std::same_as<InplaceOption> O = InplaceOption> Variable operator()(const Variable& x, const O&) const {
    return body(x);
  }
  // Where a pointer to a function is wanted.
  using Pointer = Variable (*)(const Variable& x);
  constexpr operator Pointer() const noexcept { return body; }
};
inline constexpr InplaceFunction<nn::silu> silu;
inline constexpr InplaceFunction<nn::mish> mish;
inline constexpr InplaceFunction<nn::relu6> relu6;
inline constexpr InplaceFunction<nn::hardswish> hardswish;
inline constexpr InplaceFunction<nn::hardsigmoid> hardsigmoid;

// The functions of the names without the underscore, whose defaults are PyTorch's.
template <class V> Variable relu_(V&& x) { return nn::internal::replaced(x, nn::relu(x)); }
template <class V> Variable leaky_relu_(V&& x, const LeakyReLUOptions& o = {}) {
  return nn::internal::replaced(x, nn::leaky_relu(x, o));
}
template <class V> Variable leaky_relu_(V&& x, double negative_slope) {
  return nn::internal::replaced(x, nn::leaky_relu(x, negative_slope));
}
template <class V> Variable elu_(V&& x, const ELUOptions& o = {}) { return nn::internal::replaced(x, nn::elu(x, o)); }
template <class V> Variable elu_(V&& x, double alpha) { return nn::internal::replaced(x, nn::elu(x, alpha)); }
// celu().
template <class V> Variable celu_(V&& x, const ELUOptions& o = {}) { return nn::internal::replaced(x, nn::celu(x, o)); }
template <class V> Variable celu_(V&& x, double alpha) { return nn::internal::replaced(x, nn::celu(x, alpha)); }
// selu().
template <class V> Variable selu_(V&& x) { return nn::internal::replaced(x, nn::selu(x)); }
// hardtanh().
template <class V> Variable hardtanh_(V&& x, const HardtanhOptions& o = {}) {
  return nn::internal::replaced(x, nn::hardtanh(x, o));
}
template <class V> Variable hardtanh_(V&& x, double min_val, double max_val) {
  return nn::internal::replaced(x, nn::hardtanh(x, min_val, max_val));
}
// threshold().
template <class V> Variable threshold_(V&& x, double threshold, double value) {
  return nn::internal::replaced(x, nn::threshold(x, threshold, value));
}
template <class V> Variable threshold_(V&& x, const ThresholdOptions& o) {
  return nn::internal::replaced(x, nn::threshold(x, o));
}
// rrelu() with its slopes drawn between lower and upper.
template <class V> Variable rrelu_(V&& x, double lower = 1.0 / 8, double upper = 1.0 / 3) {
  return nn::internal::replaced(x, nn::rrelu(x, lower, upper));
}

struct UpsampleFuncOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  OptionalLengths size = {};
  std::optional<double> scale_factor = {};
};
// interpolate() with the mode "nearest", and of images with "bilinear" and align_corners; size or scale_factor.
inline Variable upsample_nearest(const Variable& x, const UpsampleFuncOptions& o) {
  return interpolate(x, InterpolateOptions{.size = o.size, .scale_factor = o.scale_factor});
}
inline Variable upsample_nearest(const Variable& x, const Lengths& size) {
  return upsample_nearest(x, UpsampleFuncOptions{.size = size});
}
inline Variable upsample_bilinear(const Variable& x, const UpsampleFuncOptions& o) {
  return interpolate(
      x, InterpolateOptions{.size = o.size, .scale_factor = o.scale_factor, .mode = "bilinear", .align_corners = true});
}
inline Variable upsample_bilinear(const Variable& x, const Lengths& size) {
  return upsample_bilinear(x, UpsampleFuncOptions{.size = size});
}

}  // namespace nn::functions
