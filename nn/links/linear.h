// Fully connected layer.
#pragma once

#include <concepts>
#include <optional>

#include <catena/nn/functions/connection.h>
#include <catena/nn/layer_place.h>
#include <catena/nn/link.h>
#include <catena/nn/parameter_handle.h>

namespace nn {

namespace internal {
// Chainer's number with which a bias begins, or PyTorch's bool: whether there is a bias.
class BiasOption {
 public:
  constexpr BiasOption(double value) noexcept : value_(value) {}
  template <std::same_as<bool> B> constexpr BiasOption(B is_there) noexcept : is_there_(is_there) {}
  constexpr operator double() const noexcept { return value_; }
  constexpr bool is_there() const noexcept { return is_there_; }

 private:
  double value_ = 0;
  bool is_there_ = true;
};
}  // namespace internal

struct LinearOptions {
  std::optional<int> in_features = {}, out_features = {};  // in place of the arguments
  double wscale = 1.0;                                     // the initial weights are multiplied by its square root
  internal::BiasOption bias = 0;  // initial value of b without initial_bias; false: there is no b
  bool nobias = false;
  Initializer initialW = {};             // default: HeNormal(1 / sqrt 2), i.e. deviation 1 / sqrt(in)
  Initializer initial_bias = {};         // default: bias
  std::optional<int> n_batch_axes = {};  // the axes of x that are kept; see linear()
  LayerDevice device = {};
  LayerDtype dtype = {};
};

// y = x W^T + b with W (out, in), b (out); see linear(). Without an input size, the first call creates W.
//
// For x of more than two axes there are two readings: Chainer flattens all axes but the first (n_batch_axes = 1),
// PyTorch maps the last one (n_batch_axes = -1). A W that exists decides: the flattened x is mapped if it fits, or
// else the last axis; if that does not fit, an InvalidType names the option. Where the first call would create W
// without the option, sequences (N, T, C) are a ValueError, and images of four and more axes are flattened with a
// UserWarning, because networks written for Chainer rely on it. n_batch_axes = 1 flattens quietly.
//   Linear(10, {.n_batch_axes = -1})(x)      for x (2, 3, 4): W (10, 4), y (2, 3, 10)
//   Linear(10)(x, 2)                         the same, for one call
class CATENA_EXPORT Linear : public internal::WeightAndBias {
 public:
  using Options = LinearOptions;
  explicit Linear(int out, const Options& options = {}) : Linear(std::nullopt, out, options) {}
  Linear(std::optional<int> in, int out, const Options& options = {});
  // Linear({.in_features = 3, .out_features = 10})
  template <std::same_as<Options> O = Options>
  explicit Linear(const O& o)
      : Linear(o.in_features, internal::required("Linear", "out_features", o.out_features), o) {}
  // nobias by position, as in Chainer: Linear(3, 10, true).
  template <std::same_as<bool> Bool>
  Linear(std::optional<int> in, int out, Bool nobias) : Linear(in, out, Options{.nobias = nobias}) {}

  NN_MEMBERS(W, b)
  Variable operator()(const Variable& x) { return (*this)(x, n_batch_axes); }
  Variable operator()(const Variable& x, std::optional<int> n_batch_axes);

  int out_size;
  std::optional<int> n_batch_axes;
};

struct LazyLinearOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  bool bias = true;
  LayerDevice device = {};
  LayerDtype dtype = {};
};
// PyTorch's LazyLinear: a Linear of the last axis of x, of which the first call determines the length.
class CATENA_EXPORT LazyLinear : public Linear {
 public:
  explicit LazyLinear(int out, const LazyLinearOptions& o = {})
      : Linear(std::nullopt, out,
               LinearOptions{.nobias = !o.bias, .n_batch_axes = -1, .device = o.device, .dtype = o.dtype}) {}
};

}  // namespace nn
