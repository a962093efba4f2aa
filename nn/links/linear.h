// Fully connected layer.
#pragma once

#include <optional>

#include <catena/nn/functions/connection.h>
#include <catena/nn/link.h>

namespace nn {

struct LinearOptions {
  double wscale = 1.0;            // the initial weights are multiplied by its square root
  double bias = 0.0;              // initial value of b without initial_bias
  Initializer initialW = {};      // default: HeNormal(1 / sqrt 2), i.e. deviation 1 / sqrt(in)
  Initializer initial_bias = {};  // default: bias
  bool nobias = false;
};

// y = x W^T + b with W (out, in), b (out); see linear(). Without an input size, the first call creates W.
class CATENA_EXPORT Linear : public Link {
 public:
  using Options = LinearOptions;
  explicit Linear(int out, const Options& options = {}) : Linear(std::nullopt, out, options) {}
  Linear(std::optional<int> in, int out, const Options& options = {});

  NN_MEMBERS(W, b)
  Variable operator()(const Variable& x);

  Parameter W;
  std::optional<Parameter> b;
  int out_size;
};

}  // namespace nn
