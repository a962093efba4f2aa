// local_response_normalization and normalize.
#include <cmath>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/normalization.h>
#include <catena/nn/functions/pooling.h>

namespace nn {

using autograd::Shape;
using autograd::type_check::TypeInfoTuple;
using internal::narrowed;
using internal::wide;

Variable local_response_normalization(const Variable& given, const LocalResponseOptions& o) {
  catena::check<catena::ValueError>(o.n > 0, "local_response_normalization", "n is ", o.n, " and must be positive");
  internal::check_inputs("LocalResponseNormalization", "x", {given}, [](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim >= 2);
  });
  if (given.size() == 0) return identity(given);
  const Variable x = wide(given);
  // Computes the sums over neighbouring channels as pooling along the channels: (N, 1, C, all other axes).
  const int half = o.n / 2, window = 2 * half + 1;
  const Shape image{x.shape(0), 1, x.shape(1), x.size() / (x.shape(0) * x.shape(1))};
  const Variable mean_square =
      average_pooling_2d(reshape(square(x), image), {window, 1}, {.stride = 1, .pad = {half, 0}});
  const Variable scale = reshape(mean_square * (o.alpha * window) + o.k, x.shape());
  return narrowed(x * pow(scale, -o.beta), given.dtype());
}

Variable normalize(const Variable& given, double eps, const autograd::Axes& axis, double ord) {
  catena::check<catena::ValueError>(ord == 1 || ord == 2 || std::isinf(ord), "normalize", "ord is ", ord,
                                    "; it must be 1, 2 or infinity");
  internal::check_inputs("NormalizeL2", "x", {given}, internal::expect_alike);
  const Variable x = wide(given);
  const auto norm = [&] {
    if (ord == 1) return sum(absolute(x), axis, true);
    if (ord == 2) return internal::root(sum(square(x), axis, true));
    return max(absolute(x), axis, true);
  };
  if (given.size() == 0) return identity(given);
  return narrowed(x / (norm() + eps), given.dtype());
}

Variable normalize(const Variable& given, const NormalizeOptions& o) {
  internal::check_inputs("NormalizeL2", "x", {given}, internal::expect_alike);
  if (given.size() == 0) return identity(given);
  const Variable x = wide(given);
  const autograd::Axes& named = autograd::internal::given_axes(o.axis, o.dim);
  const autograd::Axes axis = named.given() ? named : autograd::Axes(1);
  return narrowed(x / clip(x.norm({.ord = o.p, .axis = axis, .keepdims = true}), o.eps, {}), given.dtype());
}

}  // namespace nn
