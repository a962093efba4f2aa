// Fully connected layer that drops connections at random.
#pragma once

#include <concepts>
#include <optional>

#include <catena/nn/functions/noise.h>
#include <catena/nn/link.h>

namespace nn {

struct SimplifiedDropconnectOptions {
  double ratio = 0.5;  // the probability of dropping a connection
  bool nobias = false;
  Initializer initialW = {};  // default: HeNormal(1 / sqrt 2)
  Initializer initial_bias = 0.0;
};
struct SimplifiedDropconnectCallOptions {
  std::optional<bool> train = {};  // default: the thread's train mode; if false, nothing is dropped
  Array mask = {};                 // (N, out, in): the kept connections; replaces the random choice
};

// A Linear that drops other weights for each sample: W (out, in), b (out); see simplified_dropconnect(). Without an
// input size, the first call creates W. (Wan et al.: Regularization of Neural Networks using DropConnect, 2013. Unlike
// the paper, averages before the activation.)
class CATENA_EXPORT SimplifiedDropconnect : public Link {
 public:
  using Options = SimplifiedDropconnectOptions;
  SimplifiedDropconnect(std::optional<int> in_size, int out_size, const Options& options = {});
  template <std::convertible_to<double> R>
  SimplifiedDropconnect(std::optional<int> in_size, int out_size_, R ratio_)
      : SimplifiedDropconnect(in_size, out_size_, Options{.ratio = double(ratio_)}) {}

  NN_MEMBERS(W, b)
  Variable operator()(const Variable& x, const SimplifiedDropconnectCallOptions& options = {});
  // link(x, false), link(x, true, mask)
  template <std::same_as<bool> B> Variable operator()(const Variable& x, B train, const Array& mask = {}) {
    return (*this)(x, SimplifiedDropconnectCallOptions{.train = train, .mask = mask});
  }

  Parameter W;
  OptionalParameter b;
  double ratio;
  int out_size;
};

}  // namespace nn
