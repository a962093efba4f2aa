#include <catena/ndarray/chainer_cuda/deprecated.h>

#include <string>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/warning.h>
#include <catena/ndarray/chainer_cuda/device.h>
#include <catena/ndarray/routines/creation.h>

namespace nd::cuda {
namespace {

// Warns, and makes a CUDA device current until the end of the call.
class OnGpu {
 public:
  explicit OnGpu(const char* name) : scope_(device(name)) {}

 private:
  static nd::Device device(const char* name) {
    catena::warn("DeprecationWarning", catena::concat("cuda.", name, " is deprecated. Use nd::", name, " instead."));
    check_available();
    const Device current;
    return current.is_dummy() ? Device(0) : current;
  }
  DeviceScope scope_;
};

}  // namespace

Array empty(const Shape& shape, Dtype dtype) {
  const OnGpu on("empty");
  return nd::empty(shape, dtype);
}
Array zeros(const Shape& shape, Dtype dtype) {
  const OnGpu on("zeros");
  return nd::zeros(shape, dtype);
}
Array ones(const Shape& shape, Dtype dtype) {
  const OnGpu on("ones");
  return nd::ones(shape, dtype);
}
Array full(const Shape& shape, const Scalar& fill_value, Dtype dtype) {
  const OnGpu on("full");
  return nd::full(shape, fill_value, dtype);
}
Array empty_like(const Array& array) {
  const OnGpu on("empty_like");
  return nd::empty(array.shape(), array.dtype());
}
Array zeros_like(const Array& array) {
  const OnGpu on("zeros_like");
  return nd::zeros(array.shape(), array.dtype());
}
Array ones_like(const Array& array) {
  const OnGpu on("ones_like");
  return nd::ones(array.shape(), array.dtype());
}
Array full_like(const Array& array, const Scalar& fill_value) {
  const OnGpu on("full_like");
  return nd::full(array.shape(), fill_value, array.dtype());
}

}  // namespace nd::cuda
