#include <catena/nn/links/swish.h>

#include <catena/nn/functions/activation.h>
#include <catena/nn/link_hook.h>

namespace nn {

Swish::Swish(std::optional<Shape> beta_shape, const Initializer& beta_init) : beta(beta_init) {
  if (beta_shape) beta.initialize(*beta_shape);
  name_params();
}

Variable Swish::operator()(const Variable& x) {
  LinkCall called(*this, x);
  try {
    if (!beta.is_initialized()) {
      if (x.ndim() < 1) throw catena::InvalidType("x.ndim >= 1", "0 < 1");
      Shape shape;
      for (int k = 1; k < x.ndim(); ++k) shape.push_back(x.shape(k));
      beta.initialize(shape);
    }
    return called(swish(x, beta));
  } catch (...) {
    internal::rethrow_at(*this, "Swish", internal::dtype_detail(x, beta));
  }
}

}  // namespace nn
