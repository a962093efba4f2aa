// The optimizers of PyTorch whose rules are programs of array functions.
#include <cmath>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/families.h>
#include <catena/training/gradient_decay.h>
#include <catena/training/optimizers.h>
#include <catena/training/wide.h>

namespace training {

namespace kernels = catena::kernels;
using autograd::apply;
using internal::wide;

namespace {

Array sign(const Array& a) { return apply(kernels::sign, {a}); }
Array where_equal(const Array& a, double value, double then, const Array& otherwise) {
  return autograd::where(apply(kernels::equal, {a, value}), then, otherwise);
}

// The gradient with PyTorch's options, in float32 if it has 16 bits: its negative, and weight_decay times the parameter
// added.
Array gradient_of(const Optimizer& o, const Variable& param, bool maximize) {
  const Array g = maximize ? wide(param.grad()) * -1 : wide(param.grad());
  const double rate = o.get_hyper("weight_decay");
  return rate != 0 ? g + wide(param.data()) * rate : g;
}
void set(const Array& to, const Array& values) { autograd::assign(to, values); }

UpdateRule ada_grad(const Adagrad::Options& o) {
  UpdateRule rule = {.name = "Adagrad",
                     .kernel = &kernels::ada_grad_update,
                     .hyper = {{"lr", o.lr}, {"eps", o.eps}, {"lr_decay", o.lr_decay}},
                     .states = {{"h", o.initial_accumulator_value}},
                     .block = [](std::span<const double> h, std::int64_t t) -> catena::Hyper {
                       return {h[0] / (1 + double(t - 1) * h[2]), h[1]};
                     },
                     .maximize = o.maximize};
  internal::add_weight_decay(rule, o.weight_decay);
  return rule;
}

}  // namespace

void SGD::update_one(Variable& param, std::span<Array> states) {
  const double momentum_now = get_hyper("momentum"), part = t() == 1 ? 1 : 1 - get_hyper("dampening");
  const Array g = gradient_of(*this, param, rule().maximize);
  set(states[0], states[0] * momentum_now - g * part);
  set(param.data(), param.data() + states[0] * get_hyper("lr"));
}

Adagrad::Adagrad(Options o) : Optimizer(ada_grad(o)) {}

Adadelta::Adadelta(Options o)
    : Optimizer({.name = "Adadelta",
                 .hyper = {{"lr", o.lr}, {"rho", o.rho}, {"eps", o.eps}, {"weight_decay", o.weight_decay}},
                 .states = {{"msg"}, {"msdx"}},
                 .maximize = o.maximize}) {}

void Adadelta::init_state(const Variable& param, std::span<Array> states) { internal::init_wide_states(param, states); }

void Adadelta::update_one(Variable& param, std::span<Array> states) {
  const double rho = get_hyper("rho"), eps = get_hyper("eps");
  const Array g = gradient_of(*this, param, rule().maximize);
  set(states[0], states[0] * rho + g * g * (1 - rho));
  const Array dx = apply(kernels::sqrt, {states[1] + eps}) / apply(kernels::sqrt, {states[0] + eps}) * g;
  set(states[1], states[1] * rho + dx * dx * (1 - rho));
  set(param.data(), wide(param.data()) - dx * get_hyper("lr"));
}

Rprop::Rprop(Options o)
    : Optimizer({.name = "Rprop",
                 .hyper = {{"lr", o.lr},
                           {"eta_minus", o.etas.first},
                           {"eta_plus", o.etas.second},
                           {"step_min", o.step_sizes.first},
                           {"step_max", o.step_sizes.second}},
                 .states = {{"prev"}, {"step"}},
                 .maximize = o.maximize}) {
  catena::check<catena::ValueError>(0 < o.etas.first && o.etas.first < 1 && 1 < o.etas.second, "Rprop", "the etas are ",
                                    o.etas.first, " and ", o.etas.second, "; they lie in (0, 1) and above 1");
}

void Rprop::init_state(const Variable& param, std::span<Array> states) { internal::init_wide_states(param, states); }

void Rprop::update_one(Variable& param, std::span<Array> states) {
  if (t() == 1) autograd::fill(states[1], get_hyper("lr"));
  const Array g = rule().maximize ? wide(param.grad()) * -1 : wide(param.grad());
  const Array change = sign(g) * sign(states[0]);  // 1, -1, or 0 where one of the gradients is 0
  const Array ones = autograd::full_like(change, 1);
  const Array factor =
      where_equal(change, -1, get_hyper("eta_minus"), where_equal(change, 1, get_hyper("eta_plus"), ones));
  const Array wanted = apply(kernels::maximum, {states[1] * factor, get_hyper("step_min")});
  set(states[1], apply(kernels::minimum, {wanted, get_hyper("step_max")}));
  const Array kept = where_equal(change, -1, 0, g);
  set(param.data(), wide(param.data()) - sign(kept) * states[1]);
  set(states[0], kept);
}

ASGD::ASGD(Options o)
    : Optimizer(
          {.name = "ASGD",
           .hyper =
               {{"lr", o.lr}, {"lambd", o.lambd}, {"alpha", o.alpha}, {"t0", o.t0}, {"weight_decay", o.weight_decay}},
           .states = {{"ax"}},
           .maximize = o.maximize}) {}

void ASGD::init_state(const Variable& param, std::span<Array> states) { internal::init_wide_states(param, states); }

void ASGD::update_one(Variable& param, std::span<Array> states) {
  const double rate = get_hyper("lr"), lambd = get_hyper("lambd"), before = double(t() - 1);
  const double eta = rate / std::pow(1 + lambd * rate * before, get_hyper("alpha"));
  const double mu = 1 / std::fmax(1, before - get_hyper("t0"));
  const Array g = gradient_of(*this, param, rule().maximize);
  set(param.data(), wide(param.data()) * (1 - lambd * eta) - g * eta);
  set(states[0], states[0] + (wide(param.data()) - states[0]) * mu);
}

}  // namespace training
