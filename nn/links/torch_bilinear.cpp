#include <catena/nn/links/torch_bilinear.h>

#include <cmath>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/nn/functions/connection.h>
#include <catena/nn/link_hook.h>

namespace nn::torch {

Bilinear::Bilinear(int in1, int in2, int out, const Options& o)
    : WeightAndBias(Parameter(initializers::Uniform(1 / std::sqrt(double(in1))), {out, in1, in2})) {
  if (o.bias) b.emplace(initializers::Uniform(1 / std::sqrt(double(in1))), Shape{out});
  name_params();
  refer_handles();
  nn::internal::place(*this, o.device, o.dtype);
}

Variable Bilinear::operator()(const Variable& x1, const Variable& x2) {
  update_handles();
  LinkCall called(*this, x1, x2);
  try {
    Shape shape = x1.shape(), other = x2.shape();
    const int last = shape.size() - 1;
    if (last < 0 || other.size() != shape.size()) throw catena::InvalidType("x1.ndim == x2.ndim >= 1", "other ranks");
    const std::int64_t in1 = shape[last], in2 = other[last];
    shape[last] = other[last] = W.shape(0);
    if (!(shape == other) || in1 != W.shape(1) || in2 != W.shape(2))
      throw catena::InvalidType(catena::concat("x1 (..., ", W.shape(1), ") and x2 (..., ", W.shape(2), ")"),
                                catena::concat(x1.shape(), " and ", x2.shape()));
    std::int64_t rows = 1;
    for (int k = 0; k < last; ++k) rows *= shape[k];
    const Variable y = bilinear(autograd::reshape(x1, {rows, in1}), autograd::reshape(x2, {rows, in2}),
                                autograd::transpose(W, {1, 2, 0}));
    return called(autograd::reshape(b ? y + autograd::broadcast_to(*b, y.shape()) : y, shape));
  } catch (...) {
    nn::internal::rethrow_at(*this, "Bilinear", x1 ? nn::internal::dtype_detail(x1, W) : std::string());
  }
}

}  // namespace nn::torch
