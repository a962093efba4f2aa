// The rules of optimizers that came after Chainer 1.24, and that change every element by itself.
#include <algorithm>
#include <cmath>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/families.h>
#include <catena/training/gradient_decay.h>
#include <catena/training/optimizers.h>

namespace training {
namespace {

using Values = std::span<const double>;
using catena::Hyper;

double unbiased(double beta, std::int64_t t) { return 1 - std::pow(beta, double(t)); }

// For rules whose first three hyperparameters are Adam's alpha, beta1 and beta2.
double adam_lr(Values h, std::int64_t t) { return h[0] * std::sqrt(unbiased(h[2], t)) / unbiased(h[1], t); }
double momentum_lr(Values h, std::int64_t t) { return h[0] / unbiased(h[1], t); }

// h: alpha, beta1, beta2, eps, weight_decay_rate, eta. In PyTorch's form eps is added to the root of v / (1 - beta2^t),
// and so it is multiplied by the root of 1 - beta2^t here, where it is added to the root of v.
Hyper pytorch_adam(Values h, std::int64_t t) {
  return {h[5] * adam_lr(h, t), 1 - h[1], 1 - h[2], h[3] * std::sqrt(unbiased(h[2], t)), h[5] * h[0] * h[4]};
}
Hyper chainer_adam(Values h, std::int64_t t) { return {h[5] * adam_lr(h, t), 1 - h[1], 1 - h[2], h[3], h[5] * h[4]}; }

// AMSGrad has no such option.
template <class Options> bool ascends(const Options& o) {
  if constexpr (requires { o.maximize; }) {
    catena::check<catena::ValueError>(!o.maximize || o.convention == AdamConvention::pytorch, "AdamW",
                                      "maximize needs PyTorch's convention");
    return o.maximize;
  } else {
    return false;
  }
}
UpdateRule with_gradient_decay(UpdateRule rule, double rate) {
  internal::add_weight_decay(rule, rate);
  return rule;
}

template <class Options>
UpdateRule decayed_adam(const char* name, const catena::KernelDef& kernel, const Options& o,
                        catena::SmallVector<UpdateRule::State, 4> states) {
  return {.name = name,
          .kernel = &kernel,
          .hyper = {{"alpha", o.alpha},
                    {"beta1", o.beta1},
                    {"beta2", o.beta2},
                    {"eps", o.eps},
                    {"weight_decay_rate", o.weight_decay_rate},
                    {"eta", o.eta}},
          .states = std::move(states),
          .block = o.convention == AdamConvention::pytorch ? pytorch_adam : chainer_adam,
          .lr = adam_lr,
          .maximize = ascends(o)};
}

// h: alpha, beta1, beta2, final_lr, gamma, eps, weight_decay_rate, initial_alpha
Hyper bounded_adam(Values h, std::int64_t t) {
  const double last = h[3] * h[0] / h[7], steps = h[4] * double(t);
  return {adam_lr(h, t), 1 - h[1], 1 - h[2], h[5], h[6], last * (1 - 1 / (steps + 1)), last * (1 + 1 / steps)};
}

UpdateRule bounded(const char* name, const catena::KernelDef& kernel, const AdaBound::Options& o,
                   catena::SmallVector<UpdateRule::State, 4> states) {
  return {.name = name,
          .kernel = &kernel,
          .hyper = {{"alpha", o.alpha},
                    {"beta1", o.beta1},
                    {"beta2", o.beta2},
                    {"final_lr", o.final_lr},
                    {"gamma", o.gamma},
                    {"eps", o.eps},
                    {"weight_decay_rate", o.weight_decay_rate},
                    {.name = "initial_alpha",
                     .value = o.initial_alpha != 0 ? o.initial_alpha : o.alpha,
                     .follows = o.initial_alpha != 0 ? nullptr : "alpha"}},
          .states = std::move(states),
          .block = bounded_adam,
          .lr = adam_lr};
}

// The factor of RAdam's adaptive step, 0 in the first steps, in which the variance of the rate is not finite. (Liu et
// al., algorithm 2.)
double rectification(double beta2, std::int64_t t) {
  const double power = std::pow(beta2, double(t)), greatest = 2 / (1 - beta2) - 1;
  const double length = greatest - 2 * double(t) * power / (1 - power);
  if (length <= 5) return 0;
  return std::sqrt((length - 4) * (length - 2) * greatest / ((greatest - 4) * (greatest - 2) * length) * (1 - power));
}

// mu_t of NAdam.
double nesterov_factor(double beta1, double decay, std::int64_t t) {
  return beta1 * (1 - 0.5 * std::pow(0.96, double(t) * decay));
}
// The product mu_1 ... mu_t. The loop ends early if the product is so small that 1 - product is 1 in float64.
double nesterov_product(double beta1, double decay, std::int64_t t) {
  double product = 1;
  for (std::int64_t i = 1; i <= t && std::fabs(product) > 1e-17; ++i) product *= nesterov_factor(beta1, decay, i);
  return product;
}

// h: alpha, beta1, beta2, eps, weight_decay, momentum_decay, weight_decay_rate. As in pytorch_adam, the root of
// 1 - beta2^t is in the rates and in eps.
Hyper nesterov_adam(Values h, std::int64_t t) {
  const double root = std::sqrt(unbiased(h[2], t)), product = nesterov_product(h[1], h[5], t);
  const double now = nesterov_factor(h[1], h[5], t), next = nesterov_factor(h[1], h[5], t + 1);
  return {h[0] * root * (1 - now) / (1 - product),   1 - h[1], 1 - h[2], h[3] * root, h[0] * h[6],
          h[0] * root * next / (1 - product * next), h[4]};
}

}  // namespace

AdamW::AdamW(Options o)
    : Optimizer(o.amsgrad ? decayed_adam("AdamW", catena::kernels::ams_grad_update, o, {{"m"}, {"v"}, {"vhat"}})
                          : decayed_adam("AdamW", catena::kernels::adam_w_update, o, {{"m"}, {"v"}})) {}

AMSGrad::AMSGrad(Options o)
    : Optimizer(decayed_adam("AMSGrad", catena::kernels::ams_grad_update, o, {{"m"}, {"v"}, {"vhat"}})) {}

AdaBound::AdaBound(Options o) : Optimizer(bounded("AdaBound", catena::kernels::ada_bound_update, o, {{"m"}, {"v"}})) {}

AMSBound::AMSBound(Options o)
    : Optimizer(bounded("AMSBound", catena::kernels::ams_bound_update, o, {{"m"}, {"v"}, {"vhat"}})) {}

RAdam::RAdam(Options o)
    : Optimizer(with_gradient_decay({.name = "RAdam",
                                     .kernel = &catena::kernels::r_adam_update,
                                     .hyper = {{"alpha", o.alpha},
                                               {"beta1", o.beta1},
                                               {"beta2", o.beta2},
                                               {"eps", o.eps},
                                               {"weight_decay_rate", o.weight_decay_rate}},
                                     .states = {{"m"}, {"v"}},
                                     .block = [](Values h, std::int64_t t) -> Hyper {
                                       return {h[0] / unbiased(h[1], t), 1 - h[1], 1 - h[2], h[3], h[0] * h[4],
                                               rectification(h[2], t)};
                                     },
                                     .lr = momentum_lr,
                                     .maximize = o.maximize},
                                    o.weight_decay)) {}

NAdam::NAdam(Options o)
    : Optimizer({.name = "NAdam",
                 .kernel = &catena::kernels::n_adam_update,
                 .hyper = {{"alpha", o.alpha},
                           {"beta1", o.beta1},
                           {"beta2", o.beta2},
                           {"eps", o.eps},
                           {"weight_decay", o.weight_decay},
                           {"momentum_decay", o.momentum_decay},
                           {"weight_decay_rate", o.weight_decay_rate}},
                 .states = {{"m"}, {"v"}},
                 .block = nesterov_adam,
                 .lr = momentum_lr,
                 .maximize = o.maximize}) {}

Adamax::Adamax(Options o)
    : Optimizer(with_gradient_decay({.name = "Adamax",
                                     .kernel = &catena::kernels::adamax_update,
                                     .hyper = {{"alpha", o.alpha},
                                               {"beta1", o.beta1},
                                               {"beta2", o.beta2},
                                               {"eps", o.eps},
                                               {"weight_decay_rate", o.weight_decay_rate}},
                                     .states = {{"m"}, {"u"}},
                                     .block = [](Values h, std::int64_t t) -> Hyper {
                                       return {h[0] / unbiased(h[1], t), 1 - h[1], h[2], h[3], h[0] * h[4]};
                                     },
                                     .lr = momentum_lr,
                                     .maximize = o.maximize},
                                    o.weight_decay)) {}

MSVAG::MSVAG(Options o)
    : Optimizer({.name = "MSVAG",
                 .kernel = &catena::kernels::msvag_update,
                 .hyper = {{"lr", o.lr}, {"beta", o.beta}, {"eta", o.eta}, {"weight_decay_rate", o.weight_decay_rate}},
                 .states = {{"m"}, {"v"}},
                 .block = [](Values h, std::int64_t t) -> Hyper {
                   const double part = 1 - h[1], seen = unbiased(h[1], t);
                   const double rho = part * part * unbiased(h[1] * h[1], t) / (seen * seen * (1 - h[1] * h[1]));
                   return {h[2] * h[0], part, 1 / seen, std::min(rho, 0.9999), h[2] * h[3]};
                 }}) {}

Lion::Lion(Options o)
    : Optimizer(
          {.name = "Lion",
           .kernel = &catena::kernels::lion_update,
           .hyper = {{"lr", o.lr}, {"beta1", o.beta1}, {"beta2", o.beta2}, {"weight_decay_rate", o.weight_decay_rate}},
           .states = {{"m"}},
           .block = [](Values h, std::int64_t) -> Hyper {
             return {h[0], 1 - h[1], 1 - h[2], h[0] * h[3]};
           }}) {}

}  // namespace training
