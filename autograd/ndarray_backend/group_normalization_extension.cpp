#include <catena/autograd/ndarray_backend/group_normalization_extension.h>

#include <catena/ndarray/cpu/group_norm.h>

namespace autograd::internal {
namespace {

class CpuGroupNormalization final : public GroupNormalizationExtension {
 public:
  bool takes(const Array& x) const override { return nd::cpu::takes_group_norm(*x.get()); }
  void forward(const Array& x, const Array& gamma, const Array& beta, double eps, const Array& y, const Array& center,
               const Array& scale) override {
    nd::cpu::group_norm(*x.get(), *gamma.get(), *beta.get(), eps, *y.get(), *center.get(), *scale.get());
  }
  void backward(const Array& x, const Array& gy, const Array& gamma, const Array& center, const Array& scale,
                const Array& gx, const Array& ggamma, const Array& gbeta) override {
    nd::cpu::group_norm_backward(*x.get(), *gy.get(), *gamma.get(), *center.get(), *scale.get(), *gx.get(),
                                 *ggamma.get(), *gbeta.get());
  }
};

}  // namespace

GroupNormalizationExtension& cpu_group_normalization_extension() {
  static GroupNormalizationExtension& extension = *new CpuGroupNormalization;
  return extension;
}

}  // namespace autograd::internal
