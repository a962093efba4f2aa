#include <catena/autograd/ndarray_backend/tensor.h>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/config.h>
#include <catena/kernels/base/device_name.h>

namespace autograd {
Device DeviceOption::named(std::string_view name) {
  return catena::device_from_name("device", name, default_backend().default_device());
}
}  // namespace autograd

namespace autograd::internal {
namespace {

// Numbers that are written as double get the dtype of the configuration unless one is given.
std::optional<Dtype> dtype_for(const TensorOptions& options, bool is_written, Dtype dtype) {
  if (options.dtype || !is_written || dtype != Dtype::float64) return options.dtype;
  return get_dtype();
}
void check_dtype(Dtype dtype, const TensorOptions& options) {
  catena::check<catena::TypeError>(
      !options.requires_grad || catena::is_floating(dtype) || catena::is_complex_dtype(dtype), "tensor",
      "requires_grad needs a floating or complex dtype, but the dtype is ", catena::name_of(dtype));
}

}  // namespace

Variable tensor_root(const Array& a, const TensorOptions& options) {
  check_dtype(a.dtype(), options);
  const Array there = options.device ? to_device(a, *options.device) : a;
  return Variable(there, {.requires_grad = options.requires_grad});
}

Variable tensor_of(const nd::Values& values, const TensorOptions& options) {
  const std::optional<Dtype> dtype = dtype_for(options, values.in_braces(), values.dtype());
  check_dtype(dtype.value_or(values.dtype()), options);
  return tensor_root(nd::array(values, {.dtype = dtype}), options);
}

Variable tensor_of(const nd::Array& a, bool is_number, const TensorOptions& options) {
  const std::optional<Dtype> dtype = dtype_for(options, is_number, a.dtype());
  check_dtype(dtype.value_or(a.dtype()), options);
  return tensor_root(nd::array(a, {.dtype = dtype}), options);
}

}  // namespace autograd::internal
