#include <catena/training/optimizer_hooks.h>

#include <cmath>

#include <catena/autograd/capture.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/families.h>

namespace training {

using autograd::Dtype;

void WeightDecay::operator()(Optimizer& optimizer) const {
  optimizer.transform_grads(catena::kernels::weight_decay, {rate});
}

void Lasso::operator()(Optimizer& optimizer) const { optimizer.transform_grads(catena::kernels::lasso, {rate}); }

GradientHardClipping::GradientHardClipping(double lower, double upper) : lower_bound(lower), upper_bound(upper) {
  catena::check<catena::ValueError>(lower <= upper, name, "the lower bound ", lower, " is not at most the upper bound ",
                                    upper);
}

void GradientHardClipping::operator()(Optimizer& optimizer) const {
  optimizer.transform_grads(catena::kernels::gradient_hard_clip, {lower_bound, upper_bound});
}

GradientClipping::GradientClipping(double threshold_) : threshold(threshold_) {
  catena::check<catena::ValueError>(threshold >= 0, name, "the threshold is ", threshold, "; it must be at least 0");
}

void GradientClipping::operator()(Optimizer& optimizer) const {
  const Array rate = threshold / nn::grads_norm(optimizer.hook_params());
  // Comparisons with NaN are false, so NaN does not change the gradients; neither does an infinite rate (norm 0).
  const Array below_one = autograd::apply(catena::kernels::less, {rate, 1.0});
  const Array scale = autograd::where(below_one, rate, 1.0);
  optimizer.transform_grads(catena::kernels::scale_by, {}, {&scale, 1});
}

Array exponential_decay_noise(const autograd::Shape& shape, Dtype dtype, autograd::Device device,
                              const GradientNoise& hook, const Optimizer& optimizer) {
  const double deviation = std::sqrt(hook.eta / std::pow(1 + double(optimizer.t()), 0.55));
  return autograd::random_normal(shape, 0, deviation, dtype, autograd::default_generator(), device);
}

GradientNoise::GradientNoise(double eta_, NoiseFunction noise_func_) : eta(eta_), noise_func(std::move(noise_func_)) {
  catena::check<catena::ValueError>(eta >= 0, name, "eta is ", eta, "; it must be at least 0");
}

void GradientNoise::operator()(Optimizer& optimizer) const {
  catena::check<catena::RuntimeError>(!autograd::is_capturing(), name,
                                      "the noise cannot be captured: replays would add that of the capture again");
  for (Variable p : optimizer.hook_params()) {
    const Array g = p.grad();
    if (g && p.requires_grad())
      // the array of g may also be the gradient of another parameter
      p.set_grad(g + noise_func(g.shape(), g.dtype(), g.device(), *this, optimizer));
  }
}

GradientLARS::GradientLARS(double threshold_, double weight_decay_, double eps_)
    : threshold(threshold_), weight_decay(weight_decay_), eps(eps_) {
  catena::check<catena::ValueError>(threshold >= 0 && weight_decay >= 0 && eps >= 0, name, "threshold ", threshold,
                                    ", weight_decay ", weight_decay, " and eps ", eps, " must be at least 0");
}

// The norms and the rate stay on the device.
void GradientLARS::operator()(Optimizer& optimizer) const {
  for (Variable p : optimizer.hook_params()) {
    const Array g = p.grad();
    if (!g || !p.requires_grad()) continue;
    const Dtype wide = catena::compute_dtype(g.dtype());
    const Array w = autograd::astype(p.data(), wide), slope = autograd::astype(g, wide);
    const auto norm = [](const Array& a) {
      return autograd::apply(catena::kernels::sqrt, {autograd::reduce(catena::kernels::sum_squares, a)});
    };
    const Array size = norm(w), local = size / (norm(slope) + size * weight_decay + eps);
    const Array rate = autograd::where(autograd::apply(catena::kernels::greater, {size, threshold}), local, 1);
    p.set_grad(autograd::astype((slope + w * weight_decay) * rate, g.dtype()));
  }
}

// ---- older names --------------------------------------------------------------------------------
void Optimizer::zero_grads() { target().zerograds(); }
double Optimizer::compute_grads_norm() const { return autograd::item(grads_norm(target())).to_double(); }
void Optimizer::clip_grads(double maxnorm) { run_hook(GradientClipping(maxnorm)); }
void Optimizer::weight_decay(double decay) { run_hook(WeightDecay(decay)); }

void Optimizer::accumulate_grads(std::span<const Array> grads) {
  const std::vector<Variable> params = target().params();
  catena::check<catena::ValueError>(grads.size() == params.size(), "accumulate_grads", "there are ", grads.size(),
                                    " arrays for ", params.size(), " parameters");
  for (std::size_t i = 0; i < grads.size(); ++i)
    catena::check<catena::ValueError>(!grads[i] || (params[i].data() && grads[i].shape() == params[i].shape()),
                                      "accumulate_grads", "the array ", i, " does not have the shape of its parameter");
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i]) continue;
    Variable holder(grads[i]);
    holder.set_grad(grads[i]);
    Variable(params[i]).addgrad(holder);
  }
}

}  // namespace training
