#include "scene.h"

numpy_scene::numpy_scene()
    : row(a(0)),
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
