// Pooling with the names, the order of arguments and the options of torch.nn.functional, as names of nn::functional.
//
//   F::max_pool2d(x, 2)  F::max_pool2d(x, 3, 2, 1)  F::avg_pool2d(x, {3, 2}, {.stride = 2, .ceil_mode = true})
//   F::max_pool2d(x, {.kernel_size = 3, .stride = 2})
//   auto [y, indices] = F::max_pool2d_with_indices(x, 2);
//   F::max_unpool2d(y, indices, 2)
//
// Lengths are one for all axes or one for each. x has a batch or not: max_pool2d takes (N, C, H, W) and (C, H, W).
// ValueError for kernels, strides and dilations below 1 and paddings above half a kernel; InvalidType for other ranks
// and dtypes.
#pragma once

#include <concepts>
#include <optional>

#include <catena/nn/functions/modules.h>
#include <catena/nn/functions/pooling.h>

namespace nn {

// Options of max_pool1d to max_pool3d and of MaxPool1d to MaxPool3d.
struct MaxPoolOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  OptionalLengths kernel_size = {};  // in place of the argument
  OptionalLengths stride = {};       // default: the kernel
  Lengths padding = 0, dilation = 1;
  bool ceil_mode = false;       // also windows that begin in x or its padding and reach beyond the end
  bool return_indices = false;  // ValueError where it is set: the functions with _with_indices return them
};
// Options of avg_pool1d to avg_pool3d and of AvgPool1d to AvgPool3d.
struct AvgPoolOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  OptionalLengths kernel_size = {};
  OptionalLengths stride = {};
  Lengths padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;             // the zeros of the padding count
  std::optional<int> divisor_override = {};  // instead of the number of elements; not 0 (ValueError)
};
// Options of lp_pool1d to lp_pool3d and of LPPool1d to LPPool3d.
struct LPPoolOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double norm_type = 2;
  OptionalLengths kernel_size = {};
  OptionalLengths stride = {};
  bool ceil_mode = false;
};
// Options of max_unpool1d to max_unpool3d.
struct MaxUnpoolOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  OptionalLengths kernel_size = {};
  OptionalLengths stride = {};
  Lengths padding = 0;
  OptionalLengths output_size = {};  // of the spatial axes; default: stride (n - 1) + kernel - 2 padding
};
// Options of fractional_max_pool2d and fractional_max_pool3d; one of the two sizes is given (ValueError).
struct FractionalMaxPoolOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  OptionalLengths kernel_size = {};
  OptionalLengths output_size = {};
  std::optional<double> output_ratio = {};  // of the lengths of x, between 0 and 1
  // (N, C, axes) in [0, 1); those of images for the columns before those for the rows. ValueError for another shape.
  Array random_samples = {};  // default: drawn
};

namespace internal {
CATENA_EXPORT Variable max_pool(int axes, const Variable& x, const std::optional<Lengths>& kernel,
                                const MaxPoolOptions& o);
CATENA_EXPORT MaxPoolingResult max_pool_with_indices(int axes, const Variable& x, const std::optional<Lengths>& kernel,
                                                     const MaxPoolOptions& o);
CATENA_EXPORT Variable avg_pool(int axes, const Variable& x, const std::optional<Lengths>& kernel,
                                const AvgPoolOptions& o);
CATENA_EXPORT Variable lp_pool(int axes, const Variable& x, const std::optional<Lengths>& kernel,
                               const LPPoolOptions& o);
CATENA_EXPORT Variable max_unpool(int axes, const Variable& x, const Array& indices,
                                  const std::optional<Lengths>& kernel, const MaxUnpoolOptions& o);
CATENA_EXPORT Variable adaptive_avg_pool(int axes, const Variable& x, const Lengths& output_size);
CATENA_EXPORT Variable adaptive_max_pool(int axes, const Variable& x, const Lengths& output_size);
CATENA_EXPORT MaxPoolingResult adaptive_max_pool_with_indices(int axes, const Variable& x, const Lengths& output_size);
CATENA_EXPORT Variable fractional_max_pool(int axes, const Variable& x, const std::optional<Lengths>& kernel,
                                           const FractionalMaxPoolOptions& o);
CATENA_EXPORT MaxPoolingResult fractional_max_pool_with_indices(int axes, const Variable& x,
                                                                const std::optional<Lengths>& kernel,
                                                                const FractionalMaxPoolOptions& o);

// f(x, kernel), f(x, kernel, options), f(x, options)
template <int axes, class Options, auto body> struct Pool {
  auto operator()(const Variable& x, const Lengths& kernel_size, const Options& options = {}) const {
    return body(axes, x, kernel_size, options);
  }
  auto operator()(const Variable& x, const Options& options) const {
    return body(axes, x, options.kernel_size, options);
  }
};
template <int axes, auto body> struct MaxPoolFunction : Pool<axes, MaxPoolOptions, body> {
  using Pool<axes, MaxPoolOptions, body>::operator();
  auto operator()(const Variable& x, const Lengths& kernel_size, const Lengths& stride, const Lengths& padding = 0,
                  const Lengths& dilation = 1, bool ceil_mode = false) const {
    return body(axes, x, kernel_size,
                {.stride = stride, .padding = padding, .dilation = dilation, .ceil_mode = ceil_mode});
  }
};
template <int axes> struct AvgPoolFunction : Pool<axes, AvgPoolOptions, avg_pool> {
  using Pool<axes, AvgPoolOptions, avg_pool>::operator();
  Variable operator()(const Variable& x, const Lengths& kernel_size, const Lengths& stride, const Lengths& padding = 0,
                      bool ceil_mode = false, bool count_include_pad = true,
                      std::optional<int> divisor_override = {}) const {
    return avg_pool(axes, x, kernel_size,
                    {.stride = stride,
                     .padding = padding,
                     .ceil_mode = ceil_mode,
                     .count_include_pad = count_include_pad,
                     .divisor_override = divisor_override});
  }
};
template <int axes> struct LPPoolFunction {
  Variable operator()(const Variable& x, double norm_type, const Lengths& kernel_size, LPPoolOptions o = {}) const {
    return lp_pool(axes, x, kernel_size, (o.norm_type = norm_type, o));
  }
  Variable operator()(const Variable& x, double norm_type, const Lengths& kernel_size, const Lengths& stride,
                      bool ceil_mode = false) const {
    return lp_pool(axes, x, kernel_size, {.norm_type = norm_type, .stride = stride, .ceil_mode = ceil_mode});
  }
  Variable operator()(const Variable& x, const LPPoolOptions& o) const { return lp_pool(axes, x, o.kernel_size, o); }
  template <std::same_as<LPPoolOptions> O = LPPoolOptions>
  Variable operator()(const Variable& x, double norm_type, O o) const {
    return lp_pool(axes, x, o.kernel_size, (o.norm_type = norm_type, o));
  }
};
template <int axes> struct MaxUnpoolFunction {
  Variable operator()(const Variable& x, const Array& indices, const Lengths& kernel_size,
                      const MaxUnpoolOptions& o = {}) const {
    return max_unpool(axes, x, indices, kernel_size, o);
  }
  Variable operator()(const Variable& x, const Array& indices, const MaxUnpoolOptions& o) const {
    return max_unpool(axes, x, indices, o.kernel_size, o);
  }
  Variable operator()(const Variable& x, const Array& indices, const Lengths& kernel_size, const Lengths& stride,
                      const Lengths& padding = 0, const OptionalLengths& output_size = {}) const {
    return max_unpool(axes, x, indices, kernel_size,
                      {.stride = stride, .padding = padding, .output_size = output_size});
  }
};
template <int axes, auto body> struct AdaptivePoolFunction {
  auto operator()(const Variable& x, const Lengths& output_size) const { return body(axes, x, output_size); }
};
template <int axes, auto body> struct FractionalFunction : Pool<axes, FractionalMaxPoolOptions, body> {
  using Pool<axes, FractionalMaxPoolOptions, body>::operator();
  auto operator()(const Variable& x, const Lengths& kernel_size, const Lengths& output_size) const {
    return body(axes, x, kernel_size, {.output_size = output_size});
  }
};
}  // namespace internal

namespace functions {

// Maxima of windows; the padding is -infinity. The gradient goes to the first maximum of a window.
inline constexpr internal::MaxPoolFunction<1, internal::max_pool> max_pool1d;
inline constexpr internal::MaxPoolFunction<2, internal::max_pool> max_pool2d;
inline constexpr internal::MaxPoolFunction<3, internal::max_pool> max_pool3d;
// With the positions of the maxima in the flattened spatial axes of x, int64.
inline constexpr internal::MaxPoolFunction<1, internal::max_pool_with_indices> max_pool1d_with_indices;
inline constexpr internal::MaxPoolFunction<2, internal::max_pool_with_indices> max_pool2d_with_indices;
inline constexpr internal::MaxPoolFunction<3, internal::max_pool_with_indices> max_pool3d_with_indices;
// Means of windows; the padding is 0.
inline constexpr internal::AvgPoolFunction<1> avg_pool1d;
inline constexpr internal::AvgPoolFunction<2> avg_pool2d;
inline constexpr internal::AvgPoolFunction<3> avg_pool3d;
// (sum of x^p)^(1 / p) of windows: lp_pool2d(x, 2, 3).
inline constexpr internal::LPPoolFunction<1> lp_pool1d;
inline constexpr internal::LPPoolFunction<2> lp_pool2d;
inline constexpr internal::LPPoolFunction<3> lp_pool3d;
// Writes x to the positions that max_pool2d_with_indices returned, and 0 elsewhere.
inline constexpr internal::MaxUnpoolFunction<1> max_unpool1d;
inline constexpr internal::MaxUnpoolFunction<2> max_unpool2d;
inline constexpr internal::MaxUnpoolFunction<3> max_unpool3d;
// Means and maxima of windows that give a result of this size: adaptive_avg_pool2d(x, {3, 2}).
inline constexpr internal::AdaptivePoolFunction<1, internal::adaptive_avg_pool> adaptive_avg_pool1d;
inline constexpr internal::AdaptivePoolFunction<2, internal::adaptive_avg_pool> adaptive_avg_pool2d;
inline constexpr internal::AdaptivePoolFunction<3, internal::adaptive_avg_pool> adaptive_avg_pool3d;
inline constexpr internal::AdaptivePoolFunction<1, internal::adaptive_max_pool> adaptive_max_pool1d;
inline constexpr internal::AdaptivePoolFunction<2, internal::adaptive_max_pool> adaptive_max_pool2d;
inline constexpr internal::AdaptivePoolFunction<3, internal::adaptive_max_pool> adaptive_max_pool3d;
inline constexpr internal::AdaptivePoolFunction<1, internal::adaptive_max_pool_with_indices>
    adaptive_max_pool1d_with_indices;
inline constexpr internal::AdaptivePoolFunction<2, internal::adaptive_max_pool_with_indices>
    adaptive_max_pool2d_with_indices;
inline constexpr internal::AdaptivePoolFunction<3, internal::adaptive_max_pool_with_indices>
    adaptive_max_pool3d_with_indices;
// Maxima of windows at random distances, in the mean such that they give a result of output_size, or output_ratio times
// the lengths of x (Graham 2014): fractional_max_pool2d(x, 2, {.output_ratio = 0.5}).
inline constexpr internal::FractionalFunction<2, internal::fractional_max_pool> fractional_max_pool2d;
inline constexpr internal::FractionalFunction<3, internal::fractional_max_pool> fractional_max_pool3d;
inline constexpr internal::FractionalFunction<2, internal::fractional_max_pool_with_indices>
    fractional_max_pool2d_with_indices;
inline constexpr internal::FractionalFunction<3, internal::fractional_max_pool_with_indices>
    fractional_max_pool3d_with_indices;

}  // namespace functions
}  // namespace nn
