// Everything: the umbrella header sets the backend, and a gradient comes out.
#include <cstdio>

#include <catena/catena.h>

int main() {
  autograd::Variable x(autograd::Array(nd::arange(4, {.dtype = nd::float32})));
  autograd::Variable y = autograd::sum(x * x);
  y.backward();
  const double sum = autograd::item(autograd::sum(x.grad())).to<double>();
  std::printf("sum of the gradient: %g\n", sum);
  return sum == 12 ? 0 : 1;
}
