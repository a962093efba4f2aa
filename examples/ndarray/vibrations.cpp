// Damped vibrations of a chain of masses: the complex eigenvalues of a matrix that is not symmetric say how fast each
// vibration swings and decays, and the exponential of the matrix moves the chain in time.
// writes: vibrations.png
// prints: 12 eigenvalues, all decay
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <iostream>
#include <vector>

#include <catena/ndarray/ndarray.h>

#include "picture.h"

namespace {

void check(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "wrong: " << what << "\n";
  std::exit(1);
}

}  // namespace

int main() {
  // x'' = -K x - C x' as a system of first order in (x, x'). Each spring is damped, too.
  constexpr std::int64_t n = 6;
  const nd::Array K = 2 * nd::eye(n) - nd::eye(n, n, 1) - nd::eye(n, n, -1), C = 0.1 * K;
  const nd::Array A = nd::block({{nd::zeros({n, n}), nd::eye(n)}, {-K, -C}});

  const auto [values, vectors] = nd::linalg::eig(A);
  std::cout << values.size() << " eigenvalues, " << (bool((values.real() < 0).all()) ? "all decay" : "some grow")
            << "\n";
  check(bool(nd::allclose(nd::matmul(A, vectors), vectors * values)), "A v = lambda v");

  // The formula: lambda^2 + c k lambda + k = 0, where k are the eigenvalues of K.
  const nd::Array k = 2 - 2 * nd::cos(nd::pi * nd::arange(1., n + 1.) / (n + 1));
  const nd::Array decay = -0.05 * k, frequency = nd::sqrt(k - nd::square(decay));
  const nd::Array swings = nd::sort(values.imag()(values.imag() > 0));
  std::cout << "frequencies " << nd::round(swings, 4) << "\n";
  check(bool(nd::allclose(swings, nd::sort(frequency))), "frequencies of the formula");

  // The coefficients of the characteristic polynomial of one mass, and their roots.
  const nd::Array roots = nd::roots({1., 0.1, 1.});
  check(bool(nd::allclose(nd::polyval({1., 0.1, 1.}, roots), 0)), "roots");

  // The first mass is pulled. Steps by the exponential of A, and the same by the eigenvectors.
  nd::Array state = nd::zeros(2 * n);
  state(0) = 1;
  const nd::Array start = state.copy(), step = nd::linalg::expm(0.1 * A);
  std::vector<nd::Array> states{start};
  for (int i = 0; i < 200; ++i) states.push_back(state = nd::dot(step, state));
  const nd::Array parts = nd::linalg::solve(vectors, start.astype(nd::complex128));
  const nd::Array grown = nd::exp(20. * values.real()) * parts;  // sizes; the phases follow
  const nd::Array phase = 20. * values.imag();
  const nd::Array turned = grown * (nd::cos(phase) + std::complex<double>(0, 1) * nd::sin(phase));
  const nd::Array later = nd::matmul(vectors, turned).real();
  check(bool(nd::allclose(later, state, {.atol = 1e-10})), "both ways to the state after 20 seconds");

  const auto energy = [&](const nd::Array& s) {
    const nd::Array x = s(nd::Slice(n)), v = s(nd::Slice(n, {}));
    return 0.5 * double(nd::dot(v, v) + nd::dot(x, nd::dot(K, x)));
  };
  std::cout << "energy " << energy(start) << " before, " << energy(state) << " after 20 seconds\n";
  check(energy(state) < energy(start), "energy is lost");

  // The place of each mass in 20 seconds; the first one is above.
  const nd::Array time = nd::arange(201.) / 10, history = nd::stack(states);  // (201, 2 n)
  Picture picture{640, 480, 0, 20, 0.2, n + 1.2};
  for (std::int64_t i = 0; i < n; ++i) {
    const double rest = double(n - i);
    picture.line({0., 20.}, {rest, rest}, nd::array({200., 200., 200.}), 1);
    picture.line(time, rest + history(nd::_, i), nd::array({30. + 35. * double(i), 90., 200. - 30. * double(i)}));
  }
  picture.write("vibrations.png");
}
