#include <catena/autograd/gradient_check.h>
#include <catena/tests/headers/uses/uses.h>

void use_gradient_check() {
  const autograd::Arrays x = {autograd::array<double>({1, 2}, {2})};
  const autograd::Arrays g = autograd::gradient_check::numerical_grad(
      [&] { return autograd::Arrays{x[0] * x[0]}; }, x, {autograd::arrays::ones({2}, autograd::Dtype::float64)});
  autograd::gradient_check::assert_allclose(g[0], autograd::array<double>({2, 4}, {2}));
}
