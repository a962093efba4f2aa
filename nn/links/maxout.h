// Fully connected maxout layer.
#pragma once

#include <optional>

#include <catena/nn/link.h>
#include <catena/nn/links/linear.h>

namespace nn {

struct MaxoutOptions {
  double wscale = 1.0;        // the initial weights are multiplied by its square root
  Initializer initialW = {};  // default: HeNormal(1 / sqrt 2); for (out pool, in), an array also for (out, pool, in)
  Initializer initial_bias = 0.0;  // for (out pool), an array also for (out, pool); {}: no bias
};

// y[o] = max_p(W[o, p] x + b[o, p]): x (N, in) -> (N, out). The child linear has W (out pool, in) and b (out pool); row
// o pool + p belongs to unit o. Without an input size, the first call creates W. (Goodfellow et al.: Maxout Networks,
// 2013.)
class CATENA_EXPORT Maxout : public Chain {
 public:
  using Options = MaxoutOptions;
  // Throws a ValueError unless pool_size > 0, and for an initial array of another size.
  Maxout(std::optional<int> in_size, int out_size, int pool_size, const Options& options = {});

  NN_MEMBERS(linear)
  Variable operator()(const Variable& x);

  Linear linear;
  int pool_size;
};

}  // namespace nn
