// Gaussian process regression: length, amplitude and noise are fitted to points of a curve by the gradient of the
// marginal likelihood, which passes through the Cholesky factor of the covariance matrix; then the curve is predicted.
// prints: noise: +0[.]0[89]
// prints: largest error of the prediction: 0[.]1
#include <catena/catena.h>

#include <cstdlib>
#include <iostream>

using autograd::Variable;

namespace {

// Exits with an error unless the condition holds.
void check(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "wrong: " << what << "\n";
  std::exit(1);
}

nd::Array curve(const nd::Array& x) { return nd::sin(3 * x) + 0.5 * x; }

// The covariances of the curve at points a (M, 1) and b (N, 1); theta has the logarithms of length, amplitude, noise.
Variable covariance(const nd::Array& a, const nd::Array& b, const Variable& theta) {
  const Variable squares = nd::square(a - b.T());
  return autograd::exp(2.0 * theta[1] - squares * 0.5 * autograd::exp(-2.0 * theta[0]));
}

// K + noise^2 I
Variable with_noise(const nd::Array& x, const Variable& theta) {
  const Variable one = nd::eye(x.shape(0));
  return covariance(x, x, theta) + autograd::exp(2.0 * theta[2]) * one;
}

// -log p(y | x, theta) = |L^-1 y|^2 / 2 + sum(log(diag(L))) + n log(2 pi) / 2 with K + noise^2 I = L L^T
Variable loss(const nd::Array& x, const nd::Array& y, const Variable& theta) {
  const Variable l = autograd::cholesky(with_noise(x, theta));
  const Variable white = autograd::solve_triangular(l, y, {.lower = true});
  return 0.5 * autograd::vdot(white, white) + autograd::sum(autograd::log(autograd::einsum("ii->i", l))) +
         0.5 * double(x.shape(0)) * 1.8378770664093453;
}

}  // namespace

int main() {
  nd::random::seed(3);
  const nd::Array x = nd::random::uniform(-3.0, 3.0, {60, 1});
  const nd::Array y = curve(x).reshape(-1) + 0.1 * nd::random::standard_normal({60});

  Variable theta(nd::array({0.0, 0.0, 0.0}));
  for (int step = 0; step <= 300; ++step) {
    theta.cleargrad();
    const Variable value = loss(x, y, theta);
    value.backward();
    // Steps of at most 0.1.
    theta.data() -= nd::clip(nd::Array(theta.grad()) * 0.005, -0.1, 0.1);
    if (step % 100 == 0) std::cout << "step " << step << ", -log likelihood " << double(value) << "\n";
  }
  const nd::Array fitted = nd::exp(theta.data());
  std::cout << "length: " << fitted(0) << ", amplitude: " << fitted(1) << "\nnoise:  " << fitted(2) << "\n";
  check(nd::abs(nd::Array(theta.grad())).max().item<double>() < 0.1, "the likelihood is at its maximum");

  const nd::Array at = nd::linspace(-2.5, 2.5, 50).reshape(50, 1);
  const Variable weights = autograd::solve(with_noise(x, theta), y);
  const nd::Array mean = autograd::linalg_matmul(covariance(at, x, theta), weights).data();
  const double error = nd::abs(mean - curve(at).reshape(-1)).max().item<double>();
  std::cout << "largest error of the prediction: " << error << "\n";
  check(error < 0.15, "the prediction is close to the curve");
}
