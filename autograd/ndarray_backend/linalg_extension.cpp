#include <catena/autograd/ndarray_backend/linalg_extension.h>

#include <catena/autograd/ndarray_backend/convert.h>
#include <catena/ndarray/routines/linalg.h>

namespace autograd::internal {
namespace {

class NdarrayLinalg final : public LinalgExtension {
 protected:
  Array do_inv(const Array& a, bool check) override { return nd::linalg::inv(a, {.check = check}); }
  Array do_det(const Array& a) override { return nd::linalg::det(a); }
};

}  // namespace

LinalgExtension* ndarray_linalg_extension([[maybe_unused]] Device device) {
#ifndef CATENA_HAS_OPENBLAS
  if (device.kind == Device::Kind::cpu) return nullptr;
#endif
  static LinalgExtension* const extension = new NdarrayLinalg;
  return extension;
}

}  // namespace autograd::internal
