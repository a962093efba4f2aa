// The optimizers whose step for an element depends on the whole parameter.
#include <catena/training/optimizers.h>

#include <algorithm>
#include <cmath>

#include <catena/kernels/registry/families.h>
#include <catena/training/wide.h>

namespace training {

namespace kernels = catena::kernels;
using autograd::apply;
using autograd::Dtype;
using autograd::Shape;
using internal::wide;
using internal::wide_zeros;

namespace {

// The distance from 1 to the next number.
double epsilon(Dtype dtype) { return dtype == Dtype::float64 ? 0x1p-52 : 0x1p-23; }

Array root(const Array& a) { return apply(kernels::sqrt, {a}); }
Array squares(const Array& a, const autograd::Axes& axes = {}, bool keepdims = false) {
  return autograd::map_reduce(kernels::sum, kernels::square, {a}, axes, keepdims);
}
// The larger one of a number of the device and of the host.
Array at_least(const Array& a, double least) { return apply(kernels::maximum, {a, least}); }

// average <- average + part (now - average)
void follow(const Array& average, const Array& now, double part) { average += (now - average) * part; }

// The direction of Adam, with unbiased moments.
Array adam_direction(const Array& g, std::span<Array> states, double beta1, double beta2, double eps, std::int64_t t) {
  follow(states[0], g, 1 - beta1);
  follow(states[1], apply(kernels::square, {g}), 1 - beta2);
  const Array scale = root(states[1] / (1 - std::pow(beta2, double(t)))) + eps;
  return states[0] / (1 - std::pow(beta1, double(t))) / scale;
}

}  // namespace

LAMB::LAMB(Options o)
    : Optimizer({.name = "LAMB",
                 .hyper = {{"alpha", o.alpha},
                           {"beta1", o.beta1},
                           {"beta2", o.beta2},
                           {"eps", o.eps},
                           {"weight_decay_rate", o.weight_decay_rate}},
                 .states = {{"m"}, {"v"}},
                 .lr = [](std::span<const double> h, std::int64_t) { return h[0]; }}) {}

void LAMB::init_state(const Variable& param, std::span<Array> states) { internal::init_wide_states(param, states); }

void LAMB::update_one(Variable& param, std::span<Array> states) {
  const Array p = wide(param.data());
  const Array u =
      adam_direction(wide(param.grad()), states, get_hyper("beta1"), get_hyper("beta2"), get_hyper("eps"), t()) +
      p * get_hyper("weight_decay_rate");
  const Array norm_p = root(squares(p)), norm_u = root(squares(u));
  const Array both =
      apply(kernels::logical_and, {apply(kernels::greater, {norm_p, 0}), apply(kernels::greater, {norm_u, 0})});
  const Array ratio = autograd::where(both, norm_p / norm_u, 1);
  autograd::assign(param.data(), p - u * (ratio * get_hyper("alpha")));
}

Adafactor::Adafactor(Options o)
    : Optimizer({.name = "Adafactor",
                 .hyper = {{"lr", o.lr},
                           {"beta2_decay", o.beta2_decay},
                           {"eps1", o.eps1},
                           {"eps2", o.eps2},
                           {"d", o.d},
                           {"weight_decay_rate", o.weight_decay_rate}},
                 .states = {{"row"}, {"column"}}}) {}

void Adafactor::init_state(const Variable& param, std::span<Array> states) {
  Shape row = param.shape(), column = {0};
  if (param.ndim() > 1) {
    column = row;
    row[row.size() - 1] = 1;
    column[column.size() - 2] = 1;
  }
  states[0] = wide_zeros(param, row);
  states[1] = wide_zeros(param, column);
}

void Adafactor::update_one(Variable& param, std::span<Array> states) {
  const Array p = wide(param.data()), g = wide(param.grad());
  const double lr = get_hyper("lr"), now = std::pow(double(t()), get_hyper("beta2_decay"));
  const double eps1 = get_hyper("eps1") > 0 ? get_hyper("eps1") : epsilon(p.dtype());
  const double count = double(param.size());
  const Array rate = at_least(root(squares(p) / count), get_hyper("eps2")) * std::min(lr, 1 / std::sqrt(double(t())));
  Array square;
  if (param.ndim() > 1) {
    follow(states[0], squares(g, -1, true) / double(g.shape(-1)), now);
    follow(states[1], squares(g, -2, true) / double(g.shape(-2)), now);
    square = states[0] * states[1] / at_least(autograd::mean(states[0], -2, true), eps1);
  } else {
    follow(states[0], apply(kernels::square, {g}), now);
    square = states[0];
  }
  const Array update = g / root(at_least(square, eps1 * eps1));
  const Array excess = at_least(root(squares(update) / count) / get_hyper("d"), 1);
  autograd::assign(param.data(), p * (1 - lr * get_hyper("weight_decay_rate")) - update * (rate / excess));
}

Muon::Muon(Options o)
    : Optimizer({.name = "Muon",
                 .hyper = {{"lr", o.lr},
                           {"momentum", o.momentum},
                           {"weight_decay_rate", o.weight_decay_rate},
                           {"adam_alpha", o.adam_alpha}},
                 .states = {{"m"}, {"v"}}}),
      nesterov_(o.nesterov) {}

void Muon::init_state(const Variable& param, std::span<Array> states) {
  states[0] = wide_zeros(param, param.shape());
  states[1] = wide_zeros(param, param.ndim() > 1 ? Shape{0} : param.shape());
}

namespace {

// Returns a matrix with the singular vectors of u whose singular values are near 1. The coefficients are those of the
// paper: they are steepest at 0.
Array newton_schulz(const Array& u) {
  constexpr double a = 3.4445, b = -4.775, c = 2.0315, least_norm = 1e-7;
  constexpr int steps = 5;
  const bool tall = u.shape(0) > u.shape(1);
  Array x = tall ? autograd::transpose(u) : u;
  x = x / at_least(root(squares(x)), least_norm);
  for (int i = 0; i < steps; ++i) {
    const Array gram = autograd::matmul(x, x, false, true);
    const Array polynomial = gram * b + autograd::matmul(gram, gram) * c;
    x = x * a + autograd::matmul(polynomial, x);
  }
  return tall ? autograd::transpose(x) : x;
}

}  // namespace

void Muon::update_one(Variable& param, std::span<Array> states) {
  const Array p = wide(param.data()), g = wide(param.grad());
  const double lr = get_hyper("lr"), decay = get_hyper("weight_decay_rate"), momentum = get_hyper("momentum");
  if (param.ndim() < 2) {
    const double alpha = get_hyper("adam_alpha");
    const Array step = adam_direction(g, states, 0.9, 0.95, 1e-8, t());
    autograd::assign(param.data(), p * (1 - alpha * decay) - step * alpha);
    return;
  }
  follow(states[0], g, 1 - momentum);
  const Array u = nesterov_ ? g + (states[0] - g) * momentum : states[0];
  const std::int64_t rows = param.shape(0), columns = param.size() / rows;
  const Array step = autograd::reshape(newton_schulz(autograd::reshape(u, {rows, columns})), param.shape());
  const double scale = std::sqrt(std::max(1.0, double(rows) / double(columns)));
  autograd::assign(param.data(), p * (1 - lr * decay) - step * (lr * scale));
}

}  // namespace training
