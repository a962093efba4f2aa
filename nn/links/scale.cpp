#include <catena/nn/functions/activation.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/scale.h>

namespace nn {

Scale::Scale(int along, const Options& o) : axis(along) {
  const std::optional<Shape>& bias_shape = o.W_shape ? o.W_shape : o.bias_shape;
  catena::check<catena::ValueError>(!o.bias_term || bias_shape.has_value(), "Scale",
                                    "bias_shape is needed, since there is a bias and W is no parameter");
  if (o.W_shape) W.emplace(1.0, *o.W_shape);
  if (o.bias_term) bias.emplace(axis, *bias_shape);
  name_params();
}

Variable Scale::with_bias(const Variable& y) { return bias ? (*bias)(y) : y; }

Variable Scale::operator()(const Variable& x) {
  LinkCall called(*this, x);
  catena::check<catena::AssertionError>(W.has_value(), "Scale",
                                        "it has no parameter W: give it as the second argument");
  return called(with_bias(autograd::scale(x, *W, axis)));
}

Variable Scale::operator()(const Variable& x, const Variable& y) {
  LinkCall called(*this, x, y);
  catena::check<catena::AssertionError>(!W.has_value(), "Scale",
                                        "it has a parameter W of its own: it takes one argument, not two");
  return called(with_bias(autograd::scale(x, y, axis)));
}

}  // namespace nn
