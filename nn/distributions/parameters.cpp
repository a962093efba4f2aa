#include <catena/nn/distributions/parameters.h>

#include <limits>

#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/operators.h>
#include <catena/kernels/registry/families.h>

namespace nn::distributions::internal {

Variable in_dtype(const Variable& v, autograd::Dtype dtype) { return v.dtype() == dtype ? v : v.astype(dtype); }
Variable in_dtype(const Parameter& p, const Variable& like) { return in_dtype(p.value(), like.dtype()); }
Variable first_of(const Parameter& a, const Parameter& b) {
  const Variable &x = a.value(), &y = b.value();
  const autograd::Dtype dtype = x.ndim() == 0 && y.ndim() > 0 ? y.dtype() : x.dtype();
  return in_dtype(x, catena::is_floating(dtype) ? dtype : autograd::Dtype::float32);
}
Variable second_of(const Parameter& a, const Parameter& b) { return in_dtype(b.value(), first_of(a, b).dtype()); }
Variable floating(const Variable& v) {
  return catena::is_floating(v.dtype()) ? v : in_dtype(v, autograd::Dtype::float32);
}
Shape broadcast(const Variable& a, const Variable& b) { return (a.data() + b.data()).shape(); }
Shape extended(const Shape& shape, const Shape& batch) {
  Shape all = shape;
  for (int k = 0; k < batch.size(); ++k) all.push_back(batch[k]);
  return all;
}
Array uniform(const Shape& shape, const Variable& like) {
  const Array u = autograd::random_uniform(shape, 0, 1, like.dtype(), autograd::default_generator(), like.device());
  return autograd::apply(catena::kernels::maximum, {u, std::numeric_limits<float>::min()});
}
Variable without_graph(const Variable& v) { return Variable(v.data(), {.requires_grad = false}); }
Variable last_sum(const Variable& x) { return autograd::sum(x, x.ndim() - 1); }

}  // namespace nn::distributions::internal
