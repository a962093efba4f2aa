#include <catena/autograd/ndarray_backend/product_extension.h>

#include <catena/autograd/backend/backend.h>
#include <catena/ndarray/cpu/linear_int8.h>
#include <catena/ndarray/cuda/vendor/linear.h>

namespace autograd::internal {
namespace {

class CudaProducts final : public ProductExtension {
 public:
  Array linear(const Array& x, const Array& w, const Array& b) override {
    const Array y = x.backend().empty({x.shape(0), w.shape(0)}, x.dtype(), x.device());
    return nd::cuda::linear(*x.get(), *w.get(), *b.get(), *y.get()) ? y : Array();
  }
};

class CpuQuantizedProducts final : public QuantizedProductExtension {
 public:
  Array linear(const Array& x, const Array& w, const Array& scale, const Array& b) override {
    const Array y = x.backend().empty({x.shape(0), w.shape(0)}, x.dtype(), x.device());
    return nd::cpu::linear_int8(*x.get(), *w.get(), *scale.get(), b.get(), *y.get()) ? y : Array();
  }
};

}  // namespace

ProductExtension& cuda_product_extension() {
  static ProductExtension& extension = *new CudaProducts;
  return extension;
}

QuantizedProductExtension& cpu_quantized_product_extension() {
  static QuantizedProductExtension& extension = *new CpuQuantizedProducts;
  return extension;
}

}  // namespace autograd::internal
