// Optimizer hooks. They change gradients before the update, each in one fused pass and without reading device values.
#pragma once

#include <concepts>
#include <string>
#include <utility>

#include <catena/kernels/base/function.h>
#include <catena/nn/clipping.h>
#include <catena/training/optimizer.h>

namespace training {

// The arguments of hooks by name: WeightDecay({.rate = 1e-4}).
struct RateOptions {
  double rate = 0;
};
struct ThresholdOptions {
  double threshold = 0;
};
struct BoundsOptions {
  double lower_bound = 0, upper_bound = 0;
};
struct NoiseOptions {
  double eta = 0;
};
struct LarsOptions {
  double threshold = 1e-2, weight_decay = 0, eps = 1e-9;
};

// g <- g + rate p, for every parameter, biases included.
struct CATENA_EXPORT WeightDecay {
  std::string name = "WeightDecay";
  double rate;
  explicit WeightDecay(double rate_) : rate(rate_) {}
  template <std::same_as<RateOptions> O = RateOptions> explicit WeightDecay(const O& o) : WeightDecay(o.rate) {}
  void operator()(Optimizer& optimizer) const;
};

// g <- g + rate sign(p), sign(0) = 0.
struct CATENA_EXPORT Lasso {
  std::string name = "Lasso";
  double rate;
  explicit Lasso(double rate_) : rate(rate_) {}
  template <std::same_as<RateOptions> O = RateOptions> explicit Lasso(const O& o) : Lasso(o.rate) {}
  void operator()(Optimizer& optimizer) const;
};

// Scales all gradients by threshold / n if n exceeds the threshold; n is the L2 norm over all gradients, summed in
// float64. A norm of 0 or NaN changes nothing. ValueError for a threshold that is negative or NaN.
struct CATENA_EXPORT GradientClipping {
  std::string name = "GradientClipping";
  double threshold;
  explicit GradientClipping(double threshold_);
  template <std::same_as<ThresholdOptions> O = ThresholdOptions>
  explicit GradientClipping(const O& o) : GradientClipping(o.threshold) {}
  void operator()(Optimizer& optimizer) const;
};

// Clamps each element of the gradients to [lower_bound, upper_bound]. ValueError for an empty interval.
struct CATENA_EXPORT GradientHardClipping {
  std::string name = "GradientHardClipping";
  double lower_bound, upper_bound;
  GradientHardClipping(double lower, double upper);
  template <std::same_as<BoundsOptions> O = BoundsOptions>
  explicit GradientHardClipping(const O& o) : GradientHardClipping(o.lower_bound, o.upper_bound) {}
  void operator()(Optimizer& optimizer) const;
};

struct GradientNoise;
// Returns an array of noise of that shape and dtype on that device, for one gradient. t() of the optimizer is the
// number of updates before this one.
using NoiseFunction =
    catena::Function<Array(const autograd::Shape& shape, autograd::Dtype dtype, autograd::Device device,
                           const GradientNoise& hook, const Optimizer& optimizer)>;
// N(0, eta / (1 + t)^0.55), from the thread's default generator. (Neelakantan et al., arXiv:1511.06807.)
CATENA_EXPORT Array exponential_decay_noise(const autograd::Shape& shape, autograd::Dtype dtype,
                                            autograd::Device device, const GradientNoise& hook,
                                            const Optimizer& optimizer);

// g <- g + noise_func(...), with separate noise for each parameter. It draws at every update, so it cannot be captured
// (RuntimeError): replays would add the noise of the capture again. ValueError for an eta that is negative or NaN.
struct CATENA_EXPORT GradientNoise {
  std::string name = "GradientNoise";
  double eta;
  NoiseFunction noise_func;
  explicit GradientNoise(double eta_, NoiseFunction noise_func_ = exponential_decay_noise);
  template <std::same_as<NoiseOptions> O = NoiseOptions> explicit GradientNoise(const O& o) : GradientNoise(o.eta) {}
  void operator()(Optimizer& optimizer) const;
};

// Layer-wise rates for large batches, for each parameter by itself: g <- rate (g + weight_decay p) with
// rate = |p| / (|g| + weight_decay |p| + eps), or 1 unless |p| exceeds the threshold. (You, Gitman, Ginsburg:
// arXiv:1708.03888.) ValueError for arguments below 0.
struct CATENA_EXPORT GradientLARS {
  std::string name = "GradientLARS";
  double threshold, weight_decay, eps;
  explicit GradientLARS(double threshold_ = 1e-2, double weight_decay_ = 0, double eps_ = 1e-9);
  template <std::same_as<LarsOptions> O = LarsOptions>
  explicit GradientLARS(const O& o) : GradientLARS(o.threshold, o.weight_decay, o.eps) {}
  void operator()(Optimizer& optimizer) const;
};

using nn::grads_norm;

// Chainer's module.
namespace optimizer_hooks {
using namespace training;
}  // namespace optimizer_hooks

}  // namespace training
