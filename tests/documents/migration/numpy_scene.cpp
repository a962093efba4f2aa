#include "scene.h"

numpy_scene::numpy_scene()
    : a((nd::arange(12.).reshape(3, 4) + 1) / 2),
      b(nd::array({{2., -1., 0.5, 3.}, {-2.5, 4., 1., 0.25}, {1.5, -0.75, 6., 2.}})),
      v(nd::array({3., 1., 2., 5., 4., 0.5})),
      w(nd::array({1., 2., 0.5, 4., 1.5, 3.})),
      i(nd::array({2, 0, 1})),
      n(nd::array({3, 1, 2, 1, 0, 3})),
      m(a > 2),
      p(v > 2),
      q(nd::arange(24.).reshape(2, 3, 4)),
      s(nd::array({{4., 1., 0.5}, {1., 3., 0.25}, {0.5, 0.25, 2.}})),
      f(nd::array({{1, 2}, {3, 4}}, nd::float32)),
      h(nd::array({1., std::nan(""), 3., nd::inf})),
      z(v(nd::Slice(0, 4)) + std::complex<double>(0, 1) * w(nd::Slice(0, 4))),
      row(a(0)),
      xs{1, 2, 3, 4},
      ks{2, 0},
      arrays{a, b},
      g(0),
      kernel("T x, T y", "T z", "z = x * y", "product"),
      norm("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm"),
      code("extern \"C\" __global__ void f(const double* x, double* y) { y[threadIdx.x] = x[threadIdx.x]; }"),
      raw(code, "f") {
  nd::save("x.npy", a);
  nd::savez("x.npz", {{"a", a}});
}
numpy_scene::~numpy_scene() = default;
