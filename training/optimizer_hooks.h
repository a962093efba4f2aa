// Optimizer hooks: they edit gradients before the update, each in one fused pass and without reading a device.
#pragma once

#include <string>

#include <catena/training/optimizer.h>

namespace training {

// g <- g + rate p, for every parameter, biases included.
struct CATENA_EXPORT WeightDecay {
  std::string name = "WeightDecay";
  double rate;
  explicit WeightDecay(double rate_) : rate(rate_) {}
  void operator()(Optimizer& optimizer) const;
};

// g <- g + rate sign(p), sign(0) = 0.
struct CATENA_EXPORT Lasso {
  std::string name = "Lasso";
  double rate;
  explicit Lasso(double rate_) : rate(rate_) {}
  void operator()(Optimizer& optimizer) const;
};

// Scales all gradients by threshold / n when n, the L2 norm over all of them (summed in float64), exceeds the
// threshold. A norm of 0 or NaN changes nothing.
struct CATENA_EXPORT GradientClipping {
  std::string name = "GradientClipping";
  double threshold;
  explicit GradientClipping(double threshold_) : threshold(threshold_) {}
  void operator()(Optimizer& optimizer) const;
};

// Clamps each element of the gradients to [lower_bound, upper_bound].
struct CATENA_EXPORT GradientHardClipping {
  std::string name = "GradientHardClipping";
  double lower_bound, upper_bound;
  GradientHardClipping(double lower, double upper) : lower_bound(lower), upper_bound(upper) {}
  void operator()(Optimizer& optimizer) const;
};

// sqrt of the sum of squares of all gradients of a link, those of frozen parameters aside, as a 0-d float64 array on
// the device of the first one.
CATENA_EXPORT Array grads_norm(const Link& target);

}  // namespace training
