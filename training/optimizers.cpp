#include <catena/training/optimizers.h>

#include <cmath>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/families.h>
#include <catena/training/gradient_decay.h>

namespace training {
namespace {

using Values = std::span<const double>;
using States = catena::SmallVector<UpdateRule::State, 4>;

double adam_lr(Values h, std::int64_t t) {
  const double alpha = h[0], beta1 = h[1], beta2 = h[2];
  return alpha * std::sqrt(1 - std::pow(beta2, double(t))) / (1 - std::pow(beta1, double(t)));
}

// With the rate and eps of the convention.
catena::Hyper chainer_adam(Values h, std::int64_t t) { return {adam_lr(h, t), 1 - h[1], 1 - h[2], h[3], h[4]}; }
catena::Hyper pytorch_adam(Values h, std::int64_t t) {
  return {adam_lr(h, t), 1 - h[1], 1 - h[2], h[3] * std::sqrt(1 - std::pow(h[2], double(t))), h[4]};
}

// v <- momentum v - g;  p <- p + lr v, or p + lr (momentum v - g). Only SGD has a third hyperparameter, weight_decay.
catena::Hyper momentum_block(Values h, double a, double b) { return {h[0], h[1], a, b, h.size() > 2 ? h[2] : 0}; }
UpdateRule corrected_momentum(const char* name, double lr, double momentum, bool nesterov) {
  return {.name = name,
          .kernel = &catena::kernels::corrected_momentum_sgd_update,
          .hyper = {{"lr", lr}, {"momentum", momentum}},
          .states = {{"v"}},
          .block = nesterov ? [](Values h, std::int64_t) { return momentum_block(h, h[1], 1); }
                            : [](Values h, std::int64_t) { return momentum_block(h, 1, 0); }};
}

UpdateRule gradient_descent(const SGD::Options& o) {
  constexpr const char* kName = "SGD";
  catena::check<catena::ValueError>(o.momentum != 0 || !o.nesterov, kName, "nesterov needs a momentum, which is 0");
  catena::check<catena::ValueError>(o.dampening == 0 || !o.nesterov, kName, "nesterov excludes dampening, which is ",
                                    o.dampening);
  UpdateRule rule = o.momentum != 0 ? corrected_momentum(kName, o.lr, o.momentum, o.nesterov)
                                    : UpdateRule{.name = kName,
                                                 .kernel = &catena::kernels::sgd_update,
                                                 .hyper = {{"lr", o.lr}},
                                                 .states = {},
                                                 .block = [](Values h, std::int64_t) -> catena::Hyper {
                                                   return {h[0], h[1]};
                                                 }};
  rule.hyper.push_back({"weight_decay", o.weight_decay});
  rule.maximize = o.maximize;
  if (o.momentum == 0 || o.dampening == 0) return rule;
  rule.hyper.push_back({"dampening", o.dampening});
  rule.kernel = nullptr;  // the first update differs from the others
  return rule;
}

// The hyperparameter momentum and the state v exist only if the momentum of the constructor is not 0.
UpdateRule root_mean_square(const RMSprop::Options& o) {
  UpdateRule rule = {
      .name = "RMSprop",
      .kernel = o.centered ? &catena::kernels::rmsprop_centered_update : &catena::kernels::rmsprop_update,
      .hyper = {{"lr", o.lr}, {"alpha", o.alpha}, {"eps", o.eps}},
      .states = o.centered ? States{{"ms"}, {"mg"}} : States{{"ms"}},
      .block = [](Values h, std::int64_t) -> catena::Hyper {
        return {h[0], h[1], 1 - h[1], h[2], h.size() > 3 ? h[3] : 0};
      }};
  rule.maximize = o.maximize;
  if (o.momentum != 0) {
    rule.kernel =
        o.centered ? &catena::kernels::rmsprop_centered_momentum_update : &catena::kernels::rmsprop_momentum_update;
    rule.hyper.push_back({"momentum", o.momentum});
    rule.states.push_back({"v"});
  }
  internal::add_weight_decay(rule, o.weight_decay);
  return rule;
}

// The kernel of AMSGrad decays the parameter itself, not the gradient.
catena::Hyper without_decay(catena::Hyper block) {
  block[4] = 0;
  return block;
}
catena::Hyper chainer_ams_grad(Values h, std::int64_t t) { return without_decay(chainer_adam(h, t)); }
catena::Hyper pytorch_ams_grad(Values h, std::int64_t t) { return without_decay(pytorch_adam(h, t)); }

}  // namespace

SGD::SGD(Options o) : Optimizer(gradient_descent(o)) {}

CorrectedMomentumSGD::CorrectedMomentumSGD(Options o)
    : Optimizer(corrected_momentum("CorrectedMomentumSGD", o.lr, o.momentum, o.nesterov)) {}

MomentumSGD::MomentumSGD(Options o)
    : Optimizer({.name = "MomentumSGD",
                 .kernel = &catena::kernels::momentum_sgd_update,
                 .hyper = {{"lr", o.lr}, {"momentum", o.momentum}},
                 .states = {{"v"}},
                 .block = [](Values h, std::int64_t) -> catena::Hyper {
                   return {h[0], h[1]};
                 }}) {}

Adam::Adam(Options o)
    : Optimizer({.name = "Adam",
                 .kernel = o.amsgrad ? &catena::kernels::ams_grad_update : &catena::kernels::adam_update,
                 .hyper = {{"alpha", o.alpha},
                           {"beta1", o.beta1},
                           {"beta2", o.beta2},
                           {"eps", o.eps},
                           {"weight_decay", o.weight_decay}},
                 .states = o.amsgrad ? States{{"m"}, {"v"}, {"vhat"}} : States{{"m"}, {"v"}},
                 .block = o.convention == AdamConvention::pytorch ? (o.amsgrad ? pytorch_ams_grad : pytorch_adam)
                                                                  : (o.amsgrad ? chainer_ams_grad : chainer_adam),
                 .lr = adam_lr,
                 .maximize = o.maximize,
                 .decays_gradient = o.amsgrad}) {}

NesterovAG::NesterovAG(Options o)
    : Optimizer({.name = "NesterovAG",
                 .kernel = &catena::kernels::nesterov_ag_update,
                 .hyper = {{"lr", o.lr}, {"momentum", o.momentum}},
                 .states = {{"v"}},
                 .block = [](Values h, std::int64_t) -> catena::Hyper {
                   return {h[0], h[1], h[1] * h[1], (1 + h[1]) * h[0]};
                 }}) {}

AdaGrad::AdaGrad(Options o)
    : Optimizer({.name = "AdaGrad",
                 .kernel = &catena::kernels::ada_grad_update,
                 .hyper = {{"lr", o.lr}, {"eps", o.eps}},
                 .states = {{"h"}},
                 .block = [](Values h, std::int64_t) -> catena::Hyper {
                   return {h[0], h[1]};
                 }}) {}

AdaDelta::AdaDelta(Options o)
    : Optimizer({.name = "AdaDelta",
                 .kernel = &catena::kernels::ada_delta_update,
                 .hyper = {{"rho", o.rho}, {"eps", o.eps}},
                 .states = {{"msg"}, {"msdx"}},
                 .block = [](Values h, std::int64_t) -> catena::Hyper {
                   return {h[0], 1 - h[0], h[1]};
                 }}) {}

RMSprop::RMSprop(Options o) : Optimizer(root_mean_square(o)) {}

RMSpropGraves::RMSpropGraves(Options o)
    : Optimizer({.name = "RMSpropGraves",
                 .kernel = &catena::kernels::rmsprop_graves_update,
                 .hyper = {{"lr", o.lr}, {"alpha", o.alpha}, {"momentum", o.momentum}, {"eps", o.eps}},
                 .states = {{"n"}, {"g"}, {"delta"}},
                 .block = [](Values h, std::int64_t) -> catena::Hyper {
                   return {h[0], h[1], 1 - h[1], h[2], h[3]};
                 }}) {}

SMORMS3::SMORMS3(Options o)
    : Optimizer({.name = "SMORMS3",
                 .kernel = &catena::kernels::smorms3_update,
                 .hyper = {{"lr", o.lr}, {"eps", o.eps}},
                 .states = {{"mem", 1.0}, {"g"}, {"g2"}},
                 .block = [](Values h, std::int64_t) -> catena::Hyper {
                   return {h[0], h[1]};
                 }}) {}

}  // namespace training
