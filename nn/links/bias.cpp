#include <catena/nn/functions/activation.h>
#include <catena/nn/links/bias.h>

namespace nn {

Bias::Bias(int along, const Shape& shape) : axis(along) {
  b.emplace(0.0, shape);
  name_params();
}

Variable Bias::operator()(const Variable& x) {
  catena::check<catena::AssertionError>(b.has_value(), "Bias",
                                        "it has no parameter: give the bias as the second argument");
  return autograd::bias(x, *b, axis);
}

Variable Bias::operator()(const Variable& x, const Variable& y) {
  catena::check<catena::AssertionError>(!b.has_value(), "Bias",
                                        "it has a parameter of its own: it takes one argument, not two");
  return autograd::bias(x, y, axis);
}

}  // namespace nn
