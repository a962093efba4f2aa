#include <catena/nn/functions/activation.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/bias.h>

namespace nn {

Bias::Bias(int along, const Shape& shape) : axis(along) {
  b.emplace(0.0, shape);
  name_params();
}

Variable Bias::operator()(const Variable& x) {
  LinkCall called(*this, x);
  catena::check<catena::AssertionError>(b.has_value(), "Bias",
                                        "it has no parameter: give the bias as the second argument");
  return called(autograd::bias(x, *b, axis));
}

Variable Bias::operator()(const Variable& x, const Variable& y) {
  LinkCall called(*this, x, y);
  catena::check<catena::AssertionError>(!b.has_value(), "Bias",
                                        "it has a parameter of its own: it takes one argument, not two");
  return called(autograd::bias(x, y, axis));
}

}  // namespace nn
