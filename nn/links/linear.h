// Fully connected layer.
#pragma once

#include <optional>

#include <catena/nn/functions/connection.h>
#include <catena/nn/link.h>
#include <catena/nn/links/parameter_handle.h>

namespace nn {

struct LinearOptions {
  double wscale = 1.0;           // the initial weights are multiplied by its square root
  internal::BiasValue bias = 0;  // initial value of b without initial_bias
  bool nobias = false;
  Initializer initialW = {};             // default: HeNormal(1 / sqrt 2), i.e. deviation 1 / sqrt(in)
  Initializer initial_bias = {};         // default: bias
  std::optional<int> n_batch_axes = {};  // the axes of x that are kept; see linear()
};

// y = x W^T + b with W (out, in), b (out); see linear(). Without an input size, the first call creates W.
//
// For x of more than two axes there are two readings: Chainer flattens all axes but the first (n_batch_axes = 1),
// PyTorch maps the last one (n_batch_axes = -1). A W that exists decides whether the flattened x fits; otherwise there
// is an InvalidType that names the option. Where the first call would create W without the option, sequences (N, T, C)
// are a ValueError, and images of four and more axes are flattened with a UserWarning, because networks written for
// Chainer rely on it. n_batch_axes = 1 flattens quietly.
//   Linear(10, {.n_batch_axes = -1})(x)      for x (2, 3, 4): W (10, 4), y (2, 3, 10)
//   Linear(10)(x, 2)                         the same, for one call
class CATENA_EXPORT Linear : public internal::WeightAndBias {
 public:
  using Options = LinearOptions;
  explicit Linear(int out, const Options& options = {}) : Linear(std::nullopt, out, options) {}
  Linear(std::optional<int> in, int out, const Options& options = {});

  NN_MEMBERS(W, b)
  Variable operator()(const Variable& x) { return (*this)(x, n_batch_axes); }
  Variable operator()(const Variable& x, std::optional<int> n_batch_axes);

  int out_size;
  std::optional<int> n_batch_axes;
};

}  // namespace nn
