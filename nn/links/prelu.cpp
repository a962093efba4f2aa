#include <catena/nn/links/prelu.h>

#include <catena/nn/link_hook.h>

namespace nn {

PReLU::PReLU(const Shape& shape, const Initializer& init) : W(init, shape) { name_params(); }

Variable PReLU::operator()(const Variable& x) {
  LinkCall called(*this, x);
  try {
    return called(prelu(x, W));
  } catch (...) {
    internal::rethrow_at(*this, "PReLU", x ? internal::dtype_detail(x, W) : std::string());
  }
}

}  // namespace nn
