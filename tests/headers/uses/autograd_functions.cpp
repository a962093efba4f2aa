#include <catena/autograd/functions/math.h>
#include <catena/tests/headers/uses/uses.h>

void use_autograd_functions() {
  const autograd::Variable x(autograd::array<float>({0, 0}, {2}));
  autograd::Variable y = autograd::exp(x) * 3 + x;
  y.set_grad(autograd::arrays::ones({2}));
  y.backward();
  REQUIRE(autograd::to_vector<float>(x.grad()) == std::vector<float>{4, 4});
}
