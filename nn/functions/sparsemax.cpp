#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/type_check.h>
#include <catena/nn/functions/activation.h>

namespace nn {

using autograd::Array;
using autograd::Dtype;

// The set of positive elements comes from the values; given this set, the projection is linear.
Variable sparsemax(const Variable& x, int axis) {
  catena::check<catena::TypeError>(x && catena::is_floating(x.dtype()), "sparsemax", "x must be a floating Variable");
  const int along = catena::normalize_axis("sparsemax", axis, x.ndim());
  if (catena::itemsize(x.dtype()) < 4)
    return autograd::cast(sparsemax(autograd::cast(x, Dtype::float32), axis), x.dtype());
  const std::int64_t n = x.shape(along);
  if (x.size() == 0) return autograd::identity(x);
  Array positive;
  {
    const auto no_graph = autograd::no_backprop_mode();
    const Variable z = x.detach();
    const Array sorted = autograd::sort(z, along, true).values.data();
    const Array sums = autograd::cumsum(Variable(sorted), along).data();
    autograd::Shape line(autograd::Dims::filled(x.ndim(), 1));
    line[along] = n;
    const Array count = autograd::reshape(autograd::arrays::arange(n, x.dtype(), x.device()), line) + 1;
    const Array used = autograd::apply(catena::kernels::greater, {count * sorted + 1, sums});
    const Array k = autograd::sum(autograd::astype(used, x.dtype()), {along}, true);
    const Array total = autograd::sum(autograd::where(used, sorted, 0), {along}, true);
    positive = autograd::apply(catena::kernels::greater, {z.data(), (total - 1) / k});
  }
  const Variable number(autograd::sum(autograd::astype(positive, x.dtype()), {along}, true), {.requires_grad = false});
  const Variable zero(autograd::arrays::zeros({}, x.dtype(), x.device()), {.requires_grad = false});
  const Variable threshold = (autograd::sum(autograd::where(positive, x, zero), {along}, true) - 1) / number;
  return autograd::where(positive, x - autograd::broadcast_to(threshold, x.shape()), zero);
}

}  // namespace nn
