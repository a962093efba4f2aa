#include <catena/nn/distributions/parameters.h>

#include <limits>

#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/operators.h>
#include <catena/kernels/registry/families.h>

namespace nn::distributions::internal {

namespace {

using autograd::Dtype;

constexpr const char* kOp = "Distribution";

Dtype floating_dtype(Dtype dtype) { return catena::is_floating(dtype) ? dtype : Dtype::float32; }
Dtype common_dtype(const Parameter& a, const Parameter& b) {
  if (a.number()) return floating_dtype(b.value().dtype());
  if (b.number()) return floating_dtype(a.value().dtype());
  const Variable x = a.value(), y = b.value();
  if ((x.ndim() == 0) != (y.ndim() == 0)) {
    const Dtype dtype = x.ndim() == 0 ? y.dtype() : x.dtype();
    if (catena::is_floating(dtype)) return dtype;
  }
  return floating_dtype(catena::promote_types(x.dtype(), y.dtype()));
}
Variable placed(const Parameter& p, Dtype dtype, autograd::Device device) {
  if (p.number()) return autograd::as_variable(autograd::arrays::full({}, *p.number(), dtype, device));
  return in_dtype(p.value(), dtype);
}

}  // namespace

Variable in_dtype(const Variable& v, autograd::Dtype dtype) { return v.dtype() == dtype ? v : v.astype(dtype); }
Variable in_dtype(const Parameter& p, const Variable& like) { return placed(p, like.dtype(), like.device()); }
Variable first_of(const Parameter& a, const Parameter& b) { return placed(a, common_dtype(a, b), b.value().device()); }
Variable second_of(const Parameter& a, const Parameter& b) { return first_of(b, a); }
Variable floating(const Variable& v) { return in_dtype(v, floating_dtype(v.dtype())); }
Shape broadcast(const Variable& a, const Variable& b) {
  const Array both[] = {a.data(), b.data()};
  autograd::check_same_device(kOp, both);
  return catena::broadcast_shapes(kOp, a.shape(), b.shape());
}
Shape extended(const Shape& shape, const Shape& batch) {
  Shape all = shape;
  for (int k = 0; k < batch.size(); ++k) all.push_back(batch[k]);
  return all;
}
Shape without_last(const Shape& shape) { return catena::reduced_shape(shape, shape.size() - 1, false); }
Array uniform(const Shape& shape, const Variable& like) {
  const Array u = autograd::random_uniform(shape, 0, 1, like.dtype(), autograd::default_generator(), like.device());
  return autograd::apply(catena::kernels::maximum, {u, std::numeric_limits<float>::min()});
}
Variable without_graph(const Variable& v) { return Variable(v.data(), {.requires_grad = false}); }
Variable last_sum(const Variable& x) { return autograd::sum(x, x.ndim() - 1); }

}  // namespace nn::distributions::internal
