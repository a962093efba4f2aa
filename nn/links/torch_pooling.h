// Pooling layers with PyTorch's names, options and defaults. They are functions, like the layers of torch_activation.h.
//
//   nn::MaxPool2d(2), nn::MaxPool2d(3, 2, 1), nn::AvgPool2d(3, {.stride = 2}), nn::MaxPool2d({.kernel_size = 3})
//
// Lengths are one for all axes or one for each. x has a batch or not. Errors are those of nn/functions/torch_pooling.h.
#pragma once

#include <concepts>
#include <optional>

#include <catena/nn/functions/torch_pooling.h>

namespace nn {

namespace internal {
// Layer(kernel), Layer(kernel, options), Layer(options), Layer(kernel, stride, padding). A derived class has a template
// in place of its copy constructor, which would make Layer({3, 2}) ambiguous: the argument could be the kernel, or a
// layer.
template <class O> struct PoolLayer {
  std::optional<Lengths> kernel_size;
  O options;
  explicit PoolLayer(const Lengths& kernel, const O& o = {}) : kernel_size(kernel), options(o) {}
  explicit PoolLayer(const O& o) : kernel_size(o.kernel_size), options(o) {}
  PoolLayer(const Lengths& kernel, const Lengths& stride, const Lengths& padding = 0) requires requires(O o) {
    o.padding;
  } : kernel_size(kernel) {
    options.stride = stride;
    options.padding = padding;
  }
};
template <int axes> struct MaxPool : PoolLayer<MaxPoolOptions> {
  using PoolLayer::PoolLayer;
  MaxPool(MaxPool&) = default;
  template <std::same_as<MaxPool> T>
  MaxPool(const T& other) : PoolLayer(static_cast<const PoolLayer<MaxPoolOptions>&>(other)) {}
  Variable operator()(const Variable& x) const { return max_pool(axes, x, kernel_size, options); }
  // With the positions that MaxUnpool takes; PyTorch's return_indices.
  MaxPoolingResult with_indices(const Variable& x) const {
    return max_pool_with_indices(axes, x, kernel_size, options);
  }
};
template <int axes> struct AvgPool : PoolLayer<AvgPoolOptions> {
  using PoolLayer::PoolLayer;
  AvgPool(AvgPool&) = default;
  template <std::same_as<AvgPool> T>
  AvgPool(const T& other) : PoolLayer(static_cast<const PoolLayer<AvgPoolOptions>&>(other)) {}
  Variable operator()(const Variable& x) const { return avg_pool(axes, x, kernel_size, options); }
};
template <int axes> struct LPPool {
  std::optional<Lengths> kernel_size;
  LPPoolOptions options;
  LPPool(double norm_type, const Lengths& kernel, const LPPoolOptions& o = {}) : kernel_size(kernel), options(o) {
    options.norm_type = norm_type;
  }
  LPPool(double norm_type, const Lengths& kernel, const Lengths& stride) : LPPool(norm_type, kernel) {
    options.stride = stride;
  }
  explicit LPPool(const LPPoolOptions& o) : kernel_size(o.kernel_size), options(o) {}
  Variable operator()(const Variable& x) const { return lp_pool(axes, x, kernel_size, options); }
};
template <int axes> struct MaxUnpool : PoolLayer<MaxUnpoolOptions> {
  using PoolLayer::PoolLayer;
  MaxUnpool(MaxUnpool&) = default;
  template <std::same_as<MaxUnpool> T>
  MaxUnpool(const T& other) : PoolLayer(static_cast<const PoolLayer<MaxUnpoolOptions>&>(other)) {}
  Variable operator()(const Variable& x, const Array& indices, const OptionalLengths& output_size = {}) const {
    MaxUnpoolOptions o = options;
    if (output_size) o.output_size = output_size;
    return max_unpool(axes, x, indices, kernel_size, o);
  }
};
struct AdaptivePoolOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Lengths output_size;
};
template <int axes, auto body> struct AdaptivePool {
  Lengths output_size;
  template <std::same_as<AdaptivePoolOptions> O = AdaptivePoolOptions>
  explicit AdaptivePool(const O& o) : output_size(o.output_size) {}
  explicit AdaptivePool(const Lengths& size) : output_size(size) {}
  Variable operator()(const Variable& x) const { return body(axes, x, output_size); }
};
template <int axes> struct FractionalMaxPool : PoolLayer<FractionalMaxPoolOptions> {
  using PoolLayer::PoolLayer;
  FractionalMaxPool(FractionalMaxPool&) = default;
  template <std::same_as<FractionalMaxPool> T>
  FractionalMaxPool(const T& other) : PoolLayer(static_cast<const PoolLayer<FractionalMaxPoolOptions>&>(other)) {}
  Variable operator()(const Variable& x) const { return fractional_max_pool(axes, x, kernel_size, options); }
  MaxPoolingResult with_indices(const Variable& x) const {
    return fractional_max_pool_with_indices(axes, x, kernel_size, options);
  }
};
}  // namespace internal

// Layers of the functions max_pool1d to lp_pool3d.
using MaxPool1d = internal::MaxPool<1>;
using MaxPool2d = internal::MaxPool<2>;
using MaxPool3d = internal::MaxPool<3>;
using AvgPool1d = internal::AvgPool<1>;
using AvgPool2d = internal::AvgPool<2>;
using AvgPool3d = internal::AvgPool<3>;
using LPPool1d = internal::LPPool<1>;
using LPPool2d = internal::LPPool<2>;
using LPPool3d = internal::LPPool<3>;
// unpool(y, indices), unpool(y, indices, {5, 5})
using MaxUnpool1d = internal::MaxUnpool<1>;
using MaxUnpool2d = internal::MaxUnpool<2>;
using MaxUnpool3d = internal::MaxUnpool<3>;
// Windows that give a result of this size for x of any size.
using AdaptiveAvgPool1d = internal::AdaptivePool<1, internal::adaptive_avg_pool>;
using AdaptiveAvgPool2d = internal::AdaptivePool<2, internal::adaptive_avg_pool>;
using AdaptiveAvgPool3d = internal::AdaptivePool<3, internal::adaptive_avg_pool>;
using AdaptiveMaxPool1d = internal::AdaptivePool<1, internal::adaptive_max_pool>;
using AdaptiveMaxPool2d = internal::AdaptivePool<2, internal::adaptive_max_pool>;
using AdaptiveMaxPool3d = internal::AdaptivePool<3, internal::adaptive_max_pool>;
using FractionalMaxPool2d = internal::FractionalMaxPool<2>;
using FractionalMaxPool3d = internal::FractionalMaxPool<3>;
using MaxPool2dOptions = MaxPoolOptions;
using AvgPool2dOptions = AvgPoolOptions;

}  // namespace nn
