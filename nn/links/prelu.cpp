#include <catena/nn/links/prelu.h>

#include <catena/nn/link_hook.h>

namespace nn {

PReLU::PReLU(const Shape& shape, const Initializer& init) : WeightAndBias(Parameter(init, shape)) {
  name_params();
  refer_handles();
}

Variable PReLU::operator()(const Variable& x) {
  update_handles();
  LinkCall called(*this, x);
  try {
    return called(prelu(x, W));
  } catch (...) {
    internal::rethrow_at(*this, "PReLU", x ? internal::dtype_detail(x, W) : std::string());
  }
}

}  // namespace nn
