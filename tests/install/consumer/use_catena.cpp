// Everything: the umbrella header sets the backend, a gradient comes out, and a convolution, which oneDNN computes.
#include <cstdio>

#include <catena/catena.h>

int main() {
  autograd::Variable x(autograd::Array(nd::arange(4, {.dtype = nd::float32})));
  autograd::Variable y = autograd::sum(x * x);
  y.backward();
  const double sum = autograd::item(autograd::sum(x.grad())).to<double>();
  std::printf("sum of the gradient: %g\n", sum);
  const autograd::Variable image(autograd::Array(nd::ones({1, 1, 4, 4}, nd::float32)));
  const autograd::Variable filter(autograd::Array(nd::ones({1, 1, 3, 3}, nd::float32)));
  const autograd::Variable windows = nn::convolution_2d(image, filter);
  return sum == 12 && autograd::item(autograd::sum(windows.data())).to<double>() == 36 ? 0 : 1;
}
