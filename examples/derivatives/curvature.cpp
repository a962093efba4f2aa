// The largest eigenvalue of the Hessian of a network's loss, by the power method: the Hessian, of (number of
// parameters)^2 elements, is never made. It says how long a step of gradient descent may be: 2 / eigenvalue.
// no test on cuda: thousands of small steps
// prints: eigenvalue [0-9.]+ after [0-9]+ products; of the whole matrix [0-9.]+
// prints: step 1[.]9 / eigenvalue: the loss falls
// prints: step 2[.]5 / eigenvalue: the loss rises
#include <cmath>
#include <iostream>

#include <catena/catena.h>

using autograd::Variable;

int main() {
  autograd::seed(0);
  nn::Linear l1(3, 8), l2(8, 1);
  const Variable x(nd::random::normal(0, 1, {64, 3}, nd::float64));
  const Variable y(nd::sin(nd::Array(x.data()).sum(1, {.keepdims = true})));
  // The loss as a function of one vector of 41 parameters: W1, b1, W2, b2.
  const auto loss = [&](const Variable& p) {
    const Variable h =
        autograd::tanh(nn::linear(x, p(autograd::Slice(0, 24)).reshape(8, 3), p(autograd::Slice(24, 32))));
    return nn::mean_squared_error(nn::linear(h, p(autograd::Slice(32, 40)).reshape(1, 8), p(autograd::Slice(40, 41))),
                                  y);
  };
  Variable at(nd::random::normal(0, 0.7, {41}, nd::float64));
  for (int k = 0; k < 300; ++k) at = Variable((at - autograd::vjp(loss, at).derivative * 0.1).data());

  Variable v(nd::random::normal(0, 1, {41}, nd::float64));
  double eigenvalue = 0, before = 1;
  int products = 0;
  for (; std::abs(eigenvalue - before) > 1e-10 * std::abs(eigenvalue); ++products) {
    v = v / autograd::sqrt(sum(v * v));
    const Variable Hv = autograd::hvp(loss, at, v).derivative;
    before = eigenvalue;
    eigenvalue = double(sum(v * Hv));
    v = Hv;
  }
  const nd::Array all = nd::linalg::eigvalsh(nd::Array(autograd::hessian(loss, at).data()));
  const double largest = nd::abs(all).max().item<double>();
  std::cout << "eigenvalue " << eigenvalue << " after " << products << " products; of the whole matrix " << largest
            << "\n";
  catena::check<catena::RuntimeError>(std::abs(std::abs(eigenvalue) - largest) < 1e-6 * largest, "curvature",
                                      "they differ");

  // Along that direction the loss is a parabola near its minimum, and steps that are too long diverge.
  v = v / autograd::sqrt(sum(v * v));
  for (const double length : {1.9, 2.5}) {
    Variable p = Variable((at + v * 1e-4).data());
    const Variable g0 = autograd::vjp(loss, at).derivative;
    const auto distance = [&] { return std::abs(double(sum((p - at) * v))); };
    const double start = distance();
    for (int k = 0; k < 5; ++k)
      p = Variable((p - (autograd::vjp(loss, p).derivative - g0) * (length / eigenvalue)).data());
    std::cout << "step " << length << " / eigenvalue: the loss " << (distance() < start ? "falls" : "rises") << "\n";
  }
}
